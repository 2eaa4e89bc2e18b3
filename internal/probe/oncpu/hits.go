package oncpu

import (
	"cmp"
	"maps"
	"slices"

	"culprit/internal/probe/watchpoint"
	"culprit/recording"
)

// hitsOf gives what debug registers saw to the rows of the same word and thread, and returns rows
// for those that no sample saw.
func (l *looker) hitsOf(rows []recording.Line, golang map[int32]bool) (more []recording.Line) {
	told := map[lineOf][]*recording.Line{}
	for i := range rows {
		at := l.common.lineOf(rows[i].Pid, rows[i].Line)
		told[at] = append(told[at], &rows[i])
	}
	for at, of := range told {
		line := l.lines[at]
		if line == nil {
			continue
		}
		for i := range line.hits {
			pid := line.of[line.hits[i].Tid]
			first := slices.IndexFunc(of, func(row *recording.Line) bool { return row.Pid == pid })
			if first >= 0 {
				more = append(more, giveHits(of, of[first], &line.hits[i], golang[pid])...)
			}
		}
	}
	slices.SortFunc(more, func(a, b recording.Line) int {
		return cmp.Or(cmp.Compare(a.Pid, b.Pid), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Offset, b.Offset),
			cmp.Compare(a.Tid, b.Tid), cmp.Compare(a.Task, b.Task))
	})
	return more
}

// giveHits gives what was seen of one word in one thread to rows of its line; like is one of its
// process.
func giveHits(rows []*recording.Line, like *recording.Line, seen *watchpoint.Seen,
	golang bool) (more []recording.Line) {
	offset := int32(seen.Word.Address % lineBytes)
	var own []*recording.Line
	for _, row := range rows {
		if row.Tid == seen.Tid && row.Offset == offset && row.Size == int32(seen.Word.Size) {
			row.WatchedNs += int64(seen.Watched)
			own = append(own, row)
		}
	}
	// Who writes may have been sampled reading, and where nobody looked for writes samples tell.
	directions := []bool{seen.Writes > 0 || seen.ForWrites == 0, false}
	give := func(task uint64, hits int64) {
		for _, write := range directions {
			for _, row := range own {
				if row.Write == write && row.Task == task {
					row.Hits += hits
					return
				}
			}
		}
		more = append(more, recording.Line{Line: like.Line, Offset: offset, Size: int32(seen.Word.Size),
			Pid: like.Pid, Tid: seen.Tid, Task: task, Comm: like.Comm, Write: seen.Writes > 0, Hits: hits,
			WatchedNs: int64(seen.Watched), Stack: recording.NoStack})
	}
	switch {
	case seen.Touches == 0:
	case golang && len(seen.Tasks) > 0:
		for _, task := range slices.Sorted(maps.Keys(seen.Tasks)) {
			give(task, seen.Tasks[task])
		}
	default:
		give(0, seen.Touches)
	}
	return more
}
