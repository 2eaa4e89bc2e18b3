package investigate

import (
	"testing"

	"culprit/internal/cause"
	"culprit/internal/trial"
)

// Recorded runs that changed the other way contradict a decision, in both directions; those that
// changed as it says, or decide nothing, do not.
func TestContradicted(t *testing.T) {
	for _, one := range []struct {
		name    string
		outcome Outcome
		a, b    []float64
		want    bool
	}{
		{"worse, and slower in the recordings", Worse, []float64{1, 1.1}, []float64{1.2, 1.3}, false},
		{"worse, and faster", Worse, []float64{1.2, 1.1}, []float64{1, 1.1}, true},
		{"better, and faster", Better, []float64{1.2, 1.1}, []float64{1, 1.1}, false},
		{"better, and slower", Better, []float64{0.804, 0.768, 0.905}, []float64{1.09, 0.887, 0.906}, true},
		{"undecided", Undecided, []float64{1.2}, []float64{1}, false},
		{"the same", Same, []float64{1.2}, []float64{1}, false},
		{"nothing was recorded of a side", Worse, []float64{1.2}, nil, false},
		{"as long", Worse, []float64{1}, []float64{1}, true},
		{"a third of the change", Worse, []float64{1}, []float64{1.033}, false},
		{"a tenth of it", Better, []float64{0.31}, []float64{0.307}, true},
	} {
		inv := &investigation{c: &Case{B: &SideSummary{}, Outcome: one.outcome, Metric: Metric{Name: trial.MetricWall},
			Effect: &cause.Effect{Ratio: map[Outcome]float64{Worse: 1.1, Better: 1 / 1.1}[one.outcome]}}}
		found := recordedAs(one.a, one.b)
		if got := inv.contradicted(found); got != one.want {
			t.Errorf("%s: %v", one.name, got)
		}
	}
	alone := &investigation{c: &Case{Outcome: Listed}}
	if alone.contradicted(&evidence{}) {
		t.Error("of one command there is nothing to contradict")
	}
}
