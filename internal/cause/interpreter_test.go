package cause

import (
	"slices"
	"testing"

	"culprit/recording"
)

// TestWaitsForAnInterpreter has a thread of Python that waits while another one runs: they
// belong to code that the run itself takes longer in; for code beside the run they are the cause.
func TestWaitsForAnInterpreter(t *testing.T) {
	const gil = "n:PyEval_RestoreThread;take_gil"
	side := func(parseMs, waits, ownMs float64, beside string) plan {
		return plan{cpu: map[string]float64{pyRun + "serve": 100, pyRun + "serve;parse": ownMs,
			"worker|" + pyRun + beside: parseMs},
			waits: []wait{{count: int(waits), ms: 5, call: "futex", stack: pyRun + "serve;" + gil,
				waker: recording.WakerTimer}}}
	}
	for _, test := range []struct {
		name  string
		a, b  plan
		cause ID
		place string
	}{
		{"the run parses longer, on both threads", side(20, 4, 20, "parse"), side(150, 40, 120, "parse"), CodeGrew,
			"<module>;serve;parse"},
		{"another thread refreshes meanwhile", side(20, 4, 20, "refresh"), side(180, 40, 20, "refresh"), LockContended,
			"<module>;serve"},
		{"it refreshes, and the run parses longer", side(20, 4, 20, "refresh"), side(180, 40, 100, "refresh"),
			LockContended, "<module>;serve"},
	} {
		suspects := judged(t, "wall", test.a, test.b, Costs{})
		if len(suspects) < 1 || suspects[0].Cause != test.cause || suspects[0].Where[0] != test.place {
			t.Errorf("%s: %s, want %s at %s", test.name, described(suspects), test.cause, test.place)
			continue
		}
		if share := suspects[0].Share.Value; test.cause == CodeGrew && share < 0.9 {
			t.Errorf("%s: a share of %.2f, want that of the waits as well", test.name, share)
		}
		if test.cause == LockContended && !slices.Contains(suspects[0].Where, "held in <module>;refresh") {
			t.Errorf("%s: where is %q, want what ran meanwhile", test.name, suspects[0].Where)
		}
	}
}
