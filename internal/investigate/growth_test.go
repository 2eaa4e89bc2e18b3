package investigate

import (
	"testing"
	"time"

	"culprit/internal/trial"
)

// growing is an investigation with the usual budget, after a warm-up that took that long for each
// side.
func growing(run time.Duration) *investigation {
	inv := afterWarmUp(UsualBudget, run)
	inv.options.MayGrow = true
	inv.grow()
	return inv
}

// Whatever runs take, from moments to a quarter of a minute, the usual budget can decide and leaves
// time for evidence of two runs a side; where they are short it stays what it is.
func TestTheUsualBudgetGrowsWithTheRuns(t *testing.T) {
	for run := 50 * time.Millisecond; run < 15*time.Second; run = run * 5 / 4 {
		inv := growing(run)
		if err := inv.appraise(); err != nil || inv.scarce != ample {
			t.Fatalf("runs of %v in %v: scarcity %d, %v", run, inv.budget(), inv.scarce, err)
		}
		plan, spare, err := inv.planPairs()
		if err != nil {
			t.Fatal(err)
		}
		if !plan.Decidable || spare < inv.recordedTime(wantedEvidence) {
			t.Errorf("runs of %v in %v: decidable %v with %v for evidence", run, inv.budget(), plan.Decidable, spare)
		}
		if run <= 2*time.Second && inv.budget() != UsualBudget {
			t.Errorf("short runs of %v: the budget grows to %v", run, inv.budget())
		}
	}
	if budget := growing(time.Hour).budget(); budget != MostBudget {
		t.Errorf("runs of an hour: budget %v, want at most %v", budget, MostBudget)
	}
	asked := afterWarmUp(UsualBudget, 8*time.Second)
	asked.grow()
	if asked.budget() != UsualBudget {
		t.Errorf("a budget that was asked for grows to %v", asked.budget())
	}
}

// A warm-up that compiles or reads what later runs find says little about them.
func TestASlowWarmUpIsTakenBack(t *testing.T) {
	inv := growing(12 * time.Second)
	after := inv.budget()
	for pair := range 3 {
		for _, side := range inv.plan.Sides {
			inv.took[side] = 100 * time.Millisecond
			inv.runs = append(inv.runs, trial.Run{Side: side, Kind: trial.KindMeasure, Pair: pair, Valid: true})
		}
		inv.grow()
	}
	if inv.budget() != UsualBudget {
		t.Errorf("budget %v after a slow warm-up, %v after runs of 100 ms; want the usual one", after, inv.budget())
	}
	for inv.pairsMade() < grownPairs {
		inv.runs = append(inv.runs, inv.runs...)
	}
	inv.started = time.Now().Add(-UsualBudget)
	if inv.grow(); inv.budget() != UsualBudget {
		t.Errorf("with all pairs made the budget goes on growing, to %v", inv.budget())
	}
}
