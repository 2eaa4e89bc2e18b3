package compare_test

import (
	"testing"

	"culprit/internal/compare/lines"
	"culprit/recording"
)

// lineOf is a recording of two threads that touch one word of a line; at says where each sample was
// taken.
func lineOf(counts [2]int64, at func(i int) (tid, cpu int32, slice int64)) *recording.Recording {
	return small(func(rec *recording.Recording) {
		for n, tid := range []int32{7, 8} {
			rec.Lines = append(rec.Lines, recording.Line{Line: 64, Pid: 7, Tid: tid, Write: true, Count: counts[n], Stack: 0})
		}
		for i := range 200 {
			tid, cpu, slice := at(i)
			rec.Samples = append(rec.Samples, recording.Sample{Signal: recording.SignalCPU, Pid: 7, Tid: tid, CPU: cpu,
				TimeNs: slice * 1e6, Count: 1, ValueNs: 1e6, Target: true})
		}
	})
}

// A line costs something only where two threads have it at the same time.
func TestOnlyThreadsThatRunTogetherShareALine(t *testing.T) {
	side := func(i int) (tid, cpu int32, slice int64) { return 7 + int32(i%2), int32(i % 2), int64(i / 2) }
	for _, test := range []struct {
		name   string
		counts [2]int64
		at     func(i int) (tid, cpu int32, slice int64)
		lines  int
	}{
		{"side by side", [2]int64{90, 80}, side, 1},
		{"by turns on one CPU", [2]int64{90, 80},
			func(i int) (int32, int32, int64) { return 7 + int32(i%2), 0, int64(i / 2) }, 0},
		{"one task that moves from thread to thread", [2]int64{90, 80},
			func(i int) (int32, int32, int64) { return 7 + int32(i/100), int32(i / 100), int64(i) }, 0},
		{"a second thread that hardly touches it", [2]int64{90, 2}, side, 0},
		{"no CPU is known", [2]int64{90, 80},
			func(i int) (int32, int32, int64) { return 7 + int32(i%2), -1, int64(i) }, 1},
	} {
		rec := lineOf(test.counts, test.at)
		group := []*recording.Recording{rec}
		if found := lines.Find(group, group, []float64{1, 1}); len(found) != test.lines {
			t.Errorf("%s: %d shared lines, want %d", test.name, len(found), test.lines)
		}
	}
}
