package oncpu

import "testing"

// A line is shared where several touch it and one writes. Memory of a thread's own is its owner's,
// whichever thread that is by then; a look of another at what one left behind is no sharing.
func TestShared(t *testing.T) {
	const block, next = 0x7f0000001000, 0x7f0000002000
	samples := func(count int, tid int32, block uint64, write bool) (list []word) {
		for range count {
			list = append(list, word{tid: tid, block: block, write: write})
		}
		return list
	}
	for _, test := range []struct {
		name  string
		words [][]word
		want  bool
	}{
		{"two threads", [][]word{samples(1, 1, 0, true), samples(1, 2, 0, false)}, true},
		{"nobody writes", [][]word{samples(9, 1, 0, false), samples(9, 2, 0, false)}, false},
		{"one thread", [][]word{samples(9, 1, 0, true)}, false},
		{"its own, and another by a pointer", [][]word{samples(9, 1, block, true), samples(9, 2, 0, true)}, true},
		{"the own of two neighbours", [][]word{samples(9, 1, block, true), samples(9, 2, next, true)}, true},
		{"the own of one after the other", [][]word{samples(9, 1, block, true), samples(9, 2, block, true)}, false},
		{"and a look at it", [][]word{samples(50, 1, block, true), samples(50, 2, block, true), samples(1, 3, 0, false)},
			false},
		{"many threads", [][]word{samples(20, 1, 0, true), samples(1, 2, 0, true), samples(1, 3, 0, true),
			samples(1, 4, 0, true), samples(1, 5, 0, true), samples(1, 6, 0, true), samples(1, 7, 0, true),
			samples(1, 8, 0, true), samples(1, 9, 0, true), samples(1, 10, 0, true)}, true},
	} {
		var line *sharers
		for _, words := range test.words {
			for i := range words {
				line = line.with(&words[i])
			}
		}
		if line.shared() != test.want {
			t.Errorf("%s: shared %v, want %v", test.name, line.shared(), test.want)
		}
	}
}
