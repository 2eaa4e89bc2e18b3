package allocations

import (
	"cmp"
	"slices"

	"culprit/internal/probe/bpf"
)

// livedPart is the part of the time that a word's samples stand for which its block must have lived
// at least: a block that came to the same address later is not the one that was sampled.
const livedPart = 0.9

// block is memory that was asked for.
type block struct {
	address, size uint64
	lived         int64 // nanoseconds, until it was released or the window ended
	words         []uint64
}

// blocksOf takes all blocks of the processes that share lines, by address.
func (s *Session) blocksOf(window *bpf.Window) (map[int32][]block, error) {
	blocks := map[int32][]block{}
	for i := range window.Recording.Lines {
		blocks[window.Recording.Lines[i].Pid] = nil
	}
	take := func(at allocationsAddress, one *allocationsBlock) {
		pid := int32(at.Tgid)
		if _, wanted := blocks[pid]; !wanted || one.Size == 0 {
			return
		}
		ended := int64(one.Ended)
		if ended == 0 {
			ended = window.EndNs
		}
		blocks[pid] = append(blocks[pid], block{address: at.Address, size: one.Size, lived: ended - int64(one.Begun),
			words: slices.Clone(one.Words[:])})
	}
	for _, name := range []string{"blocks", "befores"} {
		if err := bpf.Drain(s.collection.Maps[name], take); err != nil {
			return nil, err
		}
	}
	for _, list := range blocks {
		slices.SortFunc(list, func(a, b block) int { return cmp.Compare(a.address, b.address) })
	}
	return blocks, nil
}

// tell gives each word of a line its block, and the stack that asked for it.
func tell(window *bpf.Window, blocks map[int32][]block, heaps *heaps, periodNs int64) {
	stacks := map[*block]int32{}
	for i := range window.Recording.Lines {
		row := &window.Recording.Lines[i]
		found := holding(blocks[row.Pid], row.Line+uint64(row.Offset), int64(livedPart*float64(row.Count*periodNs)))
		if found == nil {
			continue
		}
		stack, known := stacks[found]
		if !known {
			stack = window.Stack(heaps.stackOf(row.Pid, found.words), nil)
			stacks[found] = stack
		}
		row.BlockSize, row.BlockOffset = int64(found.size), int64(row.Line+uint64(row.Offset)-found.address)
		row.BlockStack = stack
	}
}

// holding is the block with an address in it, and of several the one that lived longest; nil where
// none lived for so long.
func holding(blocks []block, address uint64, least int64) (found *block) {
	behind, _ := slices.BinarySearchFunc(blocks, address, func(one block, address uint64) int {
		if one.address <= address {
			return -1
		}
		return 1
	})
	for i := range blocks[:behind] {
		one := &blocks[i]
		if address-one.address < one.size && one.lived >= least && (found == nil || one.lived > found.lived) {
			found = one
		}
	}
	return found
}
