package investigate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"culprit/internal/trial"
)

// afterWarmUp is an investigation whose warm-up is over and took that long for each side.
func afterWarmUp(budget, run time.Duration) *investigation {
	inv := &investigation{options: Options{B: "b", Budget: budget, Metric: MetricChoice{Auto: true}}, c: &Case{},
		plan: trial.Plan{Sides: []string{sideA, sideB}}, took: map[string]time.Duration{sideA: run, sideB: run}}
	inv.started = time.Now().Add(-inv.pairTime())
	return inv
}

// A plan that can decide always leaves the time of a recorded pair, so that a verdict never comes
// without suspects.
func TestDecidingLeavesTimeForEvidence(t *testing.T) {
	decidable := 0
	for run := 50 * time.Millisecond; run < 5*time.Second; run = run * 5 / 4 {
		inv := afterWarmUp(15*time.Second, run)
		plan, spare, err := inv.planPairs()
		if err != nil {
			t.Fatal(err)
		}
		if spare < inv.pairTime()+quickStart {
			t.Errorf("runs of %v: trials may run until %v is left, a recorded pair takes more", run, spare)
		}
		inv.started = time.Now().Add(inv.leastReserve() + inv.pairTime() - inv.options.Budget)
		if inv.affordsPair(plan, spare) {
			t.Errorf("runs of %v: pairs that are made up for take the evidence's time", run)
		}
		if plan.Decidable {
			decidable++
		}
	}
	if decidable == 0 {
		t.Error("no length of a run fits into 15 s so that it is decided")
	}
}

// What would decide is more than what did not, however much of that was left out.
func TestMorePairsTakeALongerBudget(t *testing.T) {
	inv := afterWarmUp(time.Minute, time.Second)
	inv.c.A.Trials, inv.c.B = 6, &SideSummary{Trials: 6}
	inv.started = time.Now().Add(-time.Minute)
	if got := inv.suggestMore(4); got < time.Minute+4*time.Second {
		t.Errorf("%v after a minute, for 4 pairs of %v", got, inv.pairTime())
	}
	inv.started = time.Now().Add(-5 * time.Second)
	if got, want := inv.suggestMore(4), inv.suggest(10); got != want {
		t.Errorf("%v, want %v: the pairs need the time for evidence too", got, want)
	}
}

func TestScarceBudgetsCountEachRun(t *testing.T) {
	unrecorded := errors.New("not permitted")
	for _, test := range []struct {
		run    time.Duration
		cannot error
		want   scarcity
	}{
		{time.Second, nil, ample}, {1800 * time.Millisecond, nil, onePair}, {3 * time.Second, nil, noPair},
		{3 * time.Second, unrecorded, onePair}, {3600 * time.Millisecond, nil, onePair},
	} {
		inv := afterWarmUp(15*time.Second, test.run)
		inv.cannot = test.cannot
		if err := inv.appraise(); err != nil || inv.scarce != test.want {
			t.Errorf("runs of %v in 15 s: scarcity %d, %v; want %d", test.run, inv.scarce, err, test.want)
		}
	}
	if err := afterWarmUp(15*time.Second, 6*time.Second).appraise(); err == nil {
		t.Error("runs of 6 s in 15 s: no error, and not even one more pair fits")
	}
}

// Where the budget holds only the warm-up and a recorded pair, both are told, and what was recorded
// is kept.
func TestRecordedRunsCountWhereNothingElseFits(t *testing.T) {
	if testing.Short() {
		t.Skip("recording needs root: -short leaves it out")
	}
	inv := &investigation{options: plain(t, "sleep 0.05", "sleep 0.15"), started: time.Now(),
		took: map[string]time.Duration{}, lengths: map[int]time.Duration{},
		plan: trial.Plan{Seed: 7, Sides: []string{sideA, sideB}}}
	inv.options.Budget, inv.options.Progress = time.Minute, func(string) {}
	ctx := context.Background()
	if err := inv.open(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := inv.close(); err != nil {
			t.Error(err)
		}
	}()
	if inv.cannot != nil {
		t.Skipf("nothing can be recorded here: %v", inv.cannot)
	}
	if err := inv.warmUp(ctx); err != nil {
		t.Fatal(err)
	}
	inv.scarce = noPair
	explain, err := inv.measure(ctx)
	if err != nil || !explain {
		t.Fatalf("nothing to explain, %v", err)
	}
	if err := inv.explain(ctx); err != nil {
		t.Fatal(err)
	}
	if c := inv.c; c.Outcome != Undecided || len(c.Suspects) > 0 || len(c.Items) == 0 || len(c.Warnings) == 0 {
		t.Errorf("outcome %s with %d suspects, %d differences, %d warnings: want undecided, none, and some of both",
			c.Outcome, len(c.Suspects), len(c.Items), len(c.Warnings))
	}
	if inv.c.A.Trials < leastPairs || !(inv.c.B.Median > inv.c.A.Median) {
		t.Errorf("A %+v, B %+v: want the warm-up and the recorded runs counted", inv.c.A, *inv.c.B)
	}
	if _, err := os.Stat(filepath.Join(inv.dir, "recordings/B-1.culprit")); err != nil {
		t.Error(err)
	}
}
