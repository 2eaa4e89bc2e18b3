package compare_test

import (
	"testing"

	"culprit/internal/compare/lines"
	"culprit/recording"
)

// A line that the program shares with the collector's workers alone is not the program's to mend.
func TestLinesSharedWithTheCollector(t *testing.T) {
	for name, c := range map[string]struct {
		stack, comm string // of the second thread
		lines       int
	}{
		"the program itself":   {"g:runtime.goexit;main.build", "prog", 1},
		"Go's worker":          {"g:runtime.goexit;runtime.gcBgMarkWorker;runtime.gcDrain;runtime.scanobject", "prog", 0},
		"Java's without stack": {"GangWorker", "GC Thread#1", 0},
	} {
		m := newMade(1, 1).threadFrom(10, 11, 0)
		m.rec.Threads[1].Comm = c.comm
		for i, stack := range []string{"g:runtime.goexit;main.build", c.stack} {
			m.rec.Lines = append(m.rec.Lines, recording.Line{Line: 0x1000, Offset: int32(8 * i), Size: 8, Pid: 10,
				Tid: 10 + int32(i), Write: true, Count: 50, Stack: m.stack(stack)})
		}
		if found := lines.Find(nil, []*recording.Recording{m.rec}, []float64{1}); len(found) != c.lines {
			t.Errorf("%s: lines %+v, want %d", name, found, c.lines)
		}
	}
}
