package compare_test

import (
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// Where each task of Go is known, it does not matter on which threads it ran.
func TestSharedLinesByTask(t *testing.T) {
	touched := func(offset, tid int32, task uint64, count int64) recording.Line {
		return recording.Line{Line: 1, Offset: offset, Size: 8, Pid: 7, Tid: tid, Task: task, Write: true, Count: count}
	}
	for _, each := range []struct {
		name         string
		rows         []recording.Line
		lines, false int
	}{
		{"two tasks with a word each, on both threads", []recording.Line{touched(0, 7, 1, 50), touched(0, 8, 1, 60),
			touched(16, 7, 2, 60), touched(16, 8, 2, 50)}, 1, 1},
		{"two tasks that both write both words", []recording.Line{touched(0, 7, 1, 50), touched(0, 8, 2, 60),
			touched(16, 8, 1, 60), touched(16, 7, 2, 50)}, 1, 0},
		{"one task that changes threads", []recording.Line{touched(0, 7, 1, 50), touched(16, 8, 1, 60)}, 0, 0},
		{"many tasks, of which each thread's write its own word", []recording.Line{touched(0, 7, 1, 30),
			touched(0, 7, 2, 30), touched(0, 7, 3, 30), touched(16, 8, 1, 30), touched(16, 8, 2, 30),
			touched(16, 8, 3, 30)}, 1, 1},
		{"tasks of which hardly any is known", []recording.Line{touched(0, 7, 1, 5), touched(0, 7, 0, 50),
			touched(16, 8, 1, 5), touched(16, 8, 0, 50)}, 1, 1},
	} {
		b := small(func(rec *recording.Recording) { rec.Lines = each.rows })
		lines, apart := comparedPair(t, compare.MetricCPU, small(func(*recording.Recording) {}), b).Lines, 0
		for _, line := range lines {
			if line.False {
				apart++
			}
		}
		if len(lines) != each.lines || apart != each.false {
			t.Errorf("%s: %+v, want %d lines, %d of false sharing", each.name, lines, each.lines, each.false)
		}
	}
}
