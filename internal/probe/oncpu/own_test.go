package oncpu

import (
	"maps"
	"slices"
	"testing"
)

// Lines that threads have each for itself are kept where the same function is at those of several
// threads; what one thread alone works on, and what has hardly a sample, is not. The most sampled
// ones are kept.
func TestOwnLines(t *testing.T) {
	leaves := map[int32]string{1: "note", 2: "main", 3: ""}
	words, lines := map[word]touched{}, map[lineOf]*sharers{}
	add := func(tid int32, line uint64, stack int32, write bool, count int) {
		at := word{in: lineOf{pid: 9, line: line}, pid: 9, tid: tid, address: line, write: write, stack: stack}
		words[at] = touched{samples: int64(count)}
		for range count {
			lines[at.in] = lines[at.in].with(&at)
		}
	}
	add(1, 0x1000, 1, true, 50)
	add(2, 0x2000, 1, true, 40)
	add(1, 0x3000, 2, true, 90)  // one thread's code
	add(1, 0x4000, 1, false, 45) // seen at the reading alone
	add(1, 0x5000, 1, true, sparseAtMost)
	add(1, 0x6000, 3, true, 50) // no stack
	add(1, 0x7000, 1, true, 50) // shared
	add(2, 0x7000, 1, true, 50)
	for tid := int32(1); tid <= 2; tid++ { // a stack that threads have one after the other
		at := word{in: lineOf{pid: 9, line: 0x8000}, pid: 9, tid: tid, block: 7, address: 0x8000, write: true, stack: 1}
		words[at] = touched{samples: 25}
		for range 25 {
			lines[at.in] = lines[at.in].with(&at)
		}
	}
	got := slices.Sorted(maps.Keys(addresses(ownLines(words, lines, leaves))))
	if !slices.Equal(got, []uint64{0x1000, 0x2000, 0x4000}) {
		t.Errorf("kept %x", got)
	}
	for i := range 3 * mostOwnLines {
		add(int32(i%4), 0x10000+uint64(i)*lineBytes, 1, true, 20+i)
	}
	kept := addresses(ownLines(words, lines, leaves))
	if len(kept) != mostOwnLines || kept[0x10000] || !kept[0x10000+(3*mostOwnLines-1)*lineBytes] {
		t.Errorf("kept %d lines: %x", len(kept), slices.Sorted(maps.Keys(kept)))
	}
}

func addresses(of map[lineOf]bool) map[uint64]bool {
	found := map[uint64]bool{}
	for at := range of {
		found[at.line] = true
	}
	return found
}
