package explain

import (
	"math"
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/units"
	"culprit/internal/stat"
	"culprit/recording"
)

// Threads that are busy for 0.3 ms more explain little of 4 ms that requests take longer.
func TestBusyTells(t *testing.T) {
	quick, slow := onHost(1000, 2e6, 2e6, 1, 2), onHost(1000, 6e6, 6e6, 1, 2)
	for _, each := range []struct {
		name        string
		a, b        *recording.Recording
		busyA, busy float64 // of 1,000 requests, in s
		outcome     stat.Outcome
		want        float64
	}{
		{"little of it", quick, slow, 1, 1.3, stat.Worse, 0.075},
		{"little of what was gained", slow, quick, 1.3, 1, stat.Better, 0.075},
		{"all of it", quick, slow, 1, 5, stat.Worse, 1},
		{"less busy", quick, slow, 1, 0.5, stat.Worse, -0.125},
		{"no longer", slow, slow, 1, 1.3, stat.Worse, 1},
	} {
		e := &Evidence{A: []*recording.Recording{each.a}, B: []*recording.Recording{each.b},
			Work:    units.Work{Name: units.PerRequest, A: []float64{1000}, B: []float64{1000}},
			Results: compare.Results{Wall: &compare.Result{A: []float64{each.busyA}, B: []float64{each.busy}}}}
		if got := (&Evidence{A: e.A, B: e.B, Results: e.Results}).busyTells(Context{Metric: compare.MetricWall}); got != 1 {
			t.Errorf("%s, not per request: %g", each.name, got)
		}
		c := Context{Metric: compare.MetricWall, Outcome: each.outcome, OfRequests: true}
		if got := e.busyTells(c); math.Abs(got-each.want) > 0.01 {
			t.Errorf("%s: %g, want %g", each.name, got, each.want)
		}
		if got := e.busyOtherwise(c); got != (each.want < 0) {
			t.Errorf("%s: suspects would be of the cheaper side: %t", each.name, got)
		}
	}
}
