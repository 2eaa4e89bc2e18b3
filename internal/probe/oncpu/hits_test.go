package oncpu

import (
	"slices"
	"testing"

	"culprit/internal/probe/watchpoint"
	"culprit/recording"
)

// Hits go to the row of their word and thread, where it can be the one that writes; a word that no
// sample saw in a thread gets a row; one that was watched in vain keeps how long.
func TestHitsOf(t *testing.T) {
	row := func(tid, offset int32, write bool, count int64) recording.Line {
		return recording.Line{Pid: 7, Line: 0x40, Tid: tid, Offset: offset, Size: 8, Write: write, Count: count}
	}
	rows := []recording.Line{row(1, 0, false, 9), row(1, 0, true, 3), row(2, 8, true, 5), row(3, 16, true, 5)}
	seen := func(tid int32, address uint64, writes, touches int64) watchpoint.Seen {
		return watchpoint.Seen{Tid: tid, Word: watchpoint.Word{Address: address, Size: 8}, Writes: writes,
			Touches: touches, Watched: 5, ForWrites: 2, Tasks: map[uint64]int64{0xc0: touches}}
	}
	looker := newLooker(nil, newCommon(nil, nil), true)
	looker.lines[lineOf{pid: 7, line: 0x40}] = &hotLine{of: map[int32]int32{1: 7, 2: 7, 3: 7}, hits: []watchpoint.Seen{
		seen(1, 0x40, 2, 4), seen(2, 0x40, 0, 3), seen(2, 0x48, 1, 1), seen(3, 0x50, 0, 0)}}
	all := append(slices.Clone(rows), looker.hitsOf(rows, nil)...)
	all = append(all[len(rows):], rows...)
	want := []recording.Line{
		{Pid: 7, Line: 0x40, Tid: 2, Size: 8, Hits: 3, WatchedNs: 5, Stack: recording.NoStack},
		row(1, 0, false, 9), row(1, 0, true, 3), row(2, 8, true, 5), row(3, 16, true, 5)}
	for i, hits := range []int64{3, 0, 4, 1, 0} {
		want[i].Hits, want[i].WatchedNs = hits, 5
	}
	if !slices.Equal(all, want) {
		t.Errorf("%+v\nwant %+v", all, want)
	}
	tasks := looker.hitsOf(rows, map[int32]bool{7: true})
	if !slices.ContainsFunc(tasks, func(row recording.Line) bool { return row.Task == 0xc0 && row.Tid == 1 }) {
		t.Errorf("a Go program's hits have no task: %+v", tasks)
	}
}

// Each thread has its own words watched, and those of the others as far as registers go.
func TestPlan(t *testing.T) {
	line := newHotLine()
	line.at[7], line.at[8] = 0x1000, 0x2000
	word := func(number uint64) watchpoint.Word { return watchpoint.Word{Address: 0x1000 + 8*number, Size: 8} }
	for number := range uint64(8) { // thread and word have one number
		line.words[watchpoint.Word{Address: 8 * number, Size: 8}] = map[int32]int{int32(number): 100 - int(number)}
		line.of[int32(number)] = 7
	}
	first := line.words[watchpoint.Word{Size: 8}]
	first[9], line.of[9], first[20], line.of[20] = 1000, 7, 50, 8
	other := line.plan(8)
	if len(other) != 1 || other[0].Tid != 20 || other[0].Words[0] != (watchpoint.Word{Address: 0x2000, Size: 8}) {
		t.Errorf("the other process: %+v", other)
	}
	if got := line.processes(); !slices.Equal(got, []int32{7, 8}) {
		t.Errorf("processes %v", got)
	}
	plan := line.plan(7)
	if len(plan) != watchpoint.MaxThreads || plan[0].Tid != 9 || plan[1].Tid != 0 {
		t.Fatalf("%+v", plan)
	}
	for _, thread := range plan {
		own := word(uint64(thread.Tid))
		if thread.Tid == 9 {
			own = word(0)
		}
		if len(thread.Words) != watchpoint.Slots || thread.Words[0] != own || !slices.Contains(thread.Words, word(0)) {
			t.Errorf("%+v", thread)
		}
	}
}
