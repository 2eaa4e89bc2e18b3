package investigate

import (
	"testing"
	"time"
)

// recordedAt is an investigation whose trials are over and have used up all but that much of the
// usual budget.
func recordedAt(left, run time.Duration, mayGrow bool) *investigation {
	inv := afterWarmUp(UsualBudget, run)
	inv.options.MayGrow = mayGrow
	inv.c.B, inv.c.Outcome = &SideSummary{}, Worse
	inv.started = time.Now().Add(left - UsualBudget)
	return inv
}

// pairsOf counts the pairs that are recorded while no time passes, and how often a first judgement
// was asked for.
func pairsOf(inv *investigation, settled bool) (pairs, asked int) {
	return pairsShowing(inv, settled, true)
}

// pairsShowing does so where the recordings show the change, or do not.
func pairsShowing(inv *investigation, settled, shows bool) (pairs, asked int) {
	for inv.wantsPair(pairs, func() bool { asked++; return settled }, func() bool { return shows }) {
		pairs++
		// The pair took its time: the clock is put forward instead of waiting.
		inv.started = inv.started.Add(-inv.recordedTime(1))
	}
	return pairs, asked
}

// A verdict after long runs has at least two recorded runs a side, and a third where two tell
// nothing for sure; short runs have theirs anyway, and a budget that was asked for stays a limit.
func TestEvidenceIsRecordedUntilItTells(t *testing.T) {
	const long = 3 * time.Second
	for _, test := range []struct {
		name        string
		inv         *investigation
		settled     bool
		pairs, asks int
	}{
		{"long runs, the first suspect is sure", recordedAt(long, long, true), true, 2, 1},
		{"long runs, the first suspect is not sure", recordedAt(long, long, true), false, 3, 1},
		{"a budget that was asked for", recordedAt(long, long, false), false, 1, 0},
		{"short runs", recordedAt(20*time.Second, 300*time.Millisecond, true), true, mostEvidence, 1},
		{"short runs, nothing is sure", recordedAt(20*time.Second, 300*time.Millisecond, true), false, mostIntermittent, 6},
		{"short runs, and little time", recordedAt(12*time.Second, 300*time.Millisecond, true), false, 9, 3},
		{"no time is left within the most", recordedAt(UsualBudget-MostBudget, long, true), false, 1, 0},
	} {
		pairs, asked := pairsOf(test.inv, test.settled)
		if pairs != test.pairs || asked != test.asks {
			t.Errorf("%s: %d pairs and %d first judgements, want %d and %d", test.name, pairs, asked, test.pairs, test.asks)
		}
		if test.inv.budget() > MostBudget || !test.inv.options.MayGrow && test.inv.budget() != UsualBudget {
			t.Errorf("%s: the budget grew to %v", test.name, test.inv.budget())
		}
	}
	for left, want := range map[time.Duration]int{20 * time.Second: mostIntermittent, 8 * time.Second: 7} {
		if pairs, _ := pairsShowing(recordedAt(left, 300*time.Millisecond, true), true, false); pairs != want {
			t.Errorf("the change is in no recording, %v are left: %d pairs, want %d", left, pairs, want)
		}
	}
	undecided := recordedAt(long, long, true)
	undecided.c.Outcome = Undecided
	if pairs, _ := pairsOf(undecided, false); pairs != 1 {
		t.Errorf("nothing has changed, and %d pairs are recorded", pairs)
	}
}
