package record

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The block of a shared line is told by its size, the word's place in it and the function that
// allocated it, in each of the ways that there are, also where its address is given away again
// before the end.
func TestAllocations(t *testing.T) {
	needs(t)
	t.Parallel()
	recorder, err := Start(t.Context(), Options{Hz: 499, Allocations: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(recorder.Close)
	program := programs.compile(t, "heap.c")
	for _, way := range []string{"malloc", "calloc", "realloc", "posix_memalign", "many"} {
		t.Run(way, func(t *testing.T) {
			eventually(t, func() []string {
				rec := watchCommand(t, recorder, program, "0.7", way)
				rec.lossless(t, "allocations")
				return checkBlocks(rec)
			})
		})
	}
}

func checkBlocks(rec seen) (problems []string) {
	offsets := map[int64]bool{}
	for i := range rec.Lines {
		row := &rec.Lines[i]
		if row.Count < 10 {
			continue
		}
		offsets[row.BlockOffset] = true
		var way []string
		for _, frame := range rec.StackFrames(row.BlockStack) {
			way = append(way, frame.Name)
		}
		made := slices.Index(way, "make_pair")
		if row.BlockSize != 72 || made < 1 || way[made-1] != "main" {
			problems = append(problems, fmt.Sprintf("a word at +%d of a block of %d bytes by %s", row.BlockOffset,
				row.BlockSize, strings.Join(way, ";")))
		}
	}
	if !offsets[8] || !offsets[16] {
		problems = append(problems, fmt.Sprintf("words at %v of the block", offsets))
	}
	return problems
}

// A thread that only follows a pointer overwrites the register that tells where it read: it is
// caught right before, and shares the line that the other one writes. Not beside other tests: each
// of its threads is to have a CPU.
func TestFollowedPointerIsCaught(t *testing.T) {
	needs(t)
	recorder, err := Start(t.Context(), Options{Hz: 499, Confirm: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(recorder.Close)
	program := programs.compile(t, "heap.c")
	eventually(t, func() (problems []string) {
		rec := watchCommand(t, recorder, program, "1.2", "follow")
		reads, writes := int64(0), int64(0)
		for _, row := range rec.Lines {
			if row.Write {
				writes += row.Count
			} else if row.Size == 8 {
				reads += row.Count
			}
		}
		if writes < 10 || reads < 10 {
			problems = append(problems, fmt.Sprintf("%d samples that read, %d that write", reads, writes))
		}
		return problems
	})
}
