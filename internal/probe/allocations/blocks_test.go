package allocations

import "testing"

// The block of a word is the one that lived longest of those which had the address, if it was there
// for as long as the word's samples stand for.
func TestHolding(t *testing.T) {
	blocks := []block{{address: 0x1000, size: 64, lived: 50}, {address: 0x1000, size: 64, lived: 500},
		{address: 0x1020, size: 0x100, lived: 100}, {address: 0x2000, size: 8, lived: 900}}
	for _, test := range []struct {
		address, want uint64
		least, lived  int64
	}{
		{0x1000, 0x1000, 0, 500}, {0x103f, 0x1000, 400, 500}, {0x1040, 0x1020, 90, 100}, {0x1040, 0, 101, 0},
		{0x103f, 0x1000, 101, 500}, {0x2007, 0x2000, 1, 900}, {0x2008, 0, 0, 0}, {0xfff, 0, 0, 0}, {1 << 60, 0, 0, 0},
	} {
		found := holding(blocks, test.address, test.least)
		if (found == nil) != (test.want == 0) || found != nil && (found.address != test.want || found.lived != test.lived) {
			t.Errorf("%#x for %d: %+v", test.address, test.least, found)
		}
	}
	if holding(nil, 0x1000, 0) != nil {
		t.Error("a block among none")
	}
}
