package investigate

import (
	"context"
	"math"
	"strings"
	"testing"

	"culprit/internal/stat"
	"culprit/internal/trial"
	"culprit/recording"
)

// someSlow is an investigation of 24 pairs, of which those given have a run of B that takes 2 s in
// place of 0.2.
func someSlow(t *testing.T, slow ...int) *investigation {
	t.Helper()
	inv := &investigation{options: Options{A: "a", B: "b", Smallest: 0.02, Metric: MetricChoice{Name: trial.MetricWall}},
		c: &Case{B: &SideSummary{}}, plan: trial.Plan{Sides: []string{sideA, sideB}}}
	for pair := range 24 {
		a, b := 0.2+0.0001*float64(pair%5), 0.2+0.0001*float64(pair%3)
		for _, one := range slow {
			if one == pair {
				b = 2
			}
		}
		for side, wall := range map[string]float64{sideA: a, sideB: b} {
			inv.runs = append(inv.runs, trial.Run{Side: side, Pair: pair, Kind: trial.KindMeasure, Valid: true,
				Metrics: map[string]float64{trial.MetricWall: wall}})
		}
	}
	plan, err := stat.NewPlan(24, 1, alpha)
	if err != nil {
		t.Fatal(err)
	}
	if err := inv.decide(plan, 24); err != nil {
		t.Fatal(err)
	}
	return inv
}

func TestSlowRunsDecide(t *testing.T) {
	inv := someSlow(t, 0, 2, 3, 5, 7, 8, 11, 12, 13, 17, 18, 22)
	kinds := inv.slowRuns()
	if inv.c.Outcome != Worse || kinds == nil || kinds.SlowB != 12 || kinds.SlowA != 0 || kinds.Pairs != 24 {
		t.Fatalf("%s %+v, want worse by twelve slow runs", inv.c.Outcome, kinds)
	}
	if e := inv.c.Effect; math.Abs(e.Ratio-5.5) > 0.1 || e.Low < 2 {
		t.Errorf("%+v, want the ratio of the means", e)
	}
	if a, b := inv.c.Metrics[0].Centre(); math.Abs(a-0.2) > 0.01 || math.Abs(b-1.1) > 0.01 {
		t.Errorf("means %v and %v", a, b)
	}
	if change := changeOf(inv.c.Metrics[0]); math.Abs(change.Value-1.8) > 0.01 || change.Low <= 0 {
		t.Errorf("%+v, want what a slow run takes more", change)
	}
	found := recordedAs([]float64{0.21, 0.22}, []float64{0.22, 0.21, 2.1})
	if inv.contradicted(found) {
		t.Error("most recorded runs are alike, as most runs were")
	}
	if inv.shows(found) {
		t.Error("one slow run has no spread")
	}
	part := inv.judgedBy(context.Background(), found)
	if len(part.a) != 2 || len(part.b) != 1 || part.unshown {
		t.Errorf("%d and %d recordings are judged, want those of usual runs and the slow one", len(part.a), len(part.b))
	}
	both := inv.judgedBy(context.Background(), recordedAs([]float64{0.21, 0.22}, []float64{2.2, 2.1}))
	if len(both.b) != 2 || both.unshown {
		t.Errorf("both recorded runs of B are slow ones: %+v", both)
	}
	quick := inv.judgedBy(context.Background(), recordedAs([]float64{0.21, 0.22}, []float64{0.22, 0.21, 0.22}))
	last := inv.c.Warnings[len(inv.c.Warnings)-1]
	if !quick.unshown || len(quick.b) != 3 || !strings.Contains(last, "of 3 recorded runs") {
		t.Errorf("no slow run was recorded: %+v, %q", quick, inv.c.Warnings)
	}
}

func TestFewSlowRunsAreUndecided(t *testing.T) {
	inv := someSlow(t, 3, 9)
	if kinds := inv.c.Metrics[0].Kinds; inv.c.Outcome != Undecided || kinds == nil || kinds.Decides || kinds.SlowB != 2 {
		t.Errorf("%s %+v, want undecided with two slow runs", inv.c.Outcome, kinds)
	}
	if inv.slowRuns() != nil || inv.c.NeedTrials < 24 {
		t.Errorf("%d more pairs would decide, want as many again at least", inv.c.NeedTrials)
	}
	if inv := someSlow(t, 9); inv.c.Outcome != Same || inv.c.Metrics[0].Kinds != nil {
		t.Errorf("%s: one slow run is any host's", inv.c.Outcome)
	}
}

// recordedAs are recordings of runs that took this long.
func recordedAs(a, b []float64) *evidence {
	found := &evidence{}
	for side, values := range map[string][]float64{sideA: a, sideB: b} {
		for _, value := range values {
			rec := &recording.Recording{}
			rec.Manifest.Metrics = map[string]float64{trial.MetricWall: value}
			found.add(side, side, rec)
		}
	}
	return found
}
