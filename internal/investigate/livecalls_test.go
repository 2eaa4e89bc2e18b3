package investigate

import (
	"math"
	"testing"

	"culprit/internal/stat"
	"culprit/internal/trial"
	"culprit/recording"
)

// watched are windows of two live sides without the recorder, and three recorded ones of each: B
// takes so many times the CPU time for a call, and so many times the calls for a request, of which
// one window of B has stray more.
func watched(t *testing.T, perCall, perRequest, stray, calls float64) (*investigation, *evidence) {
	t.Helper()
	plan, err := stat.NewPlan(8, 1, alpha)
	if err != nil {
		t.Fatal(err)
	}
	inv := &investigation{calls: map[*recording.Recording]float64{}, c: &Case{B: &SideSummary{}}}
	inv.options.Smallest, inv.options.Metric.Auto = 0.02, true
	for pair := range 8 {
		traffic := 1 + 0.2*math.Sin(float64(pair)) // alike on both sides
		for _, side := range []string{sideA, sideB} {
			each := 1e-6 * (1 + 0.01*math.Cos(float64(pair)))
			if side == sideB {
				each = 1e-6 * perCall * (1 + 0.01*math.Cos(2*float64(pair)))
			}
			run := trial.Run{Side: side, Pair: pair, Kind: trial.KindMeasure, Valid: true,
				Metrics: map[string]float64{trial.MetricCPU: each * calls * traffic}}
			if calls >= trial.CallsSurely {
				run.Metrics[trial.MetricCPUPerCall] = each
			}
			inv.runs = append(inv.runs, run)
		}
	}
	inv.looked = lastLook{plan, plan.Looks[len(plan.Looks)-1]}
	found := &evidence{}
	for window := range 3 {
		served := int64(100 + window)
		for _, group := range []*[]*recording.Recording{&found.a, &found.b} {
			rec := &recording.Recording{}
			rec.Requests = []recording.Request{{Side: recording.SideServer, Count: served, TotalNs: 1}}
			inv.calls[rec] = calls / 100 * float64(served)
			if group == &found.b {
				inv.calls[rec] *= perRequest * (1 + stray*float64(window%2))
			}
			*group = append(*group, rec)
		}
	}
	return inv, found
}

func TestCPUOfARequestByCalls(t *testing.T) {
	for _, test := range []struct {
		what                       string
		perCall, perRequest, stray float64
		calls                      float64
		told                       bool
		outcome                    Outcome
		ratio                      float64
	}{
		{"each call dearer", 1.2, 1, 0, 16000, true, Worse, 1.2},
		{"nothing", 1, 1, 0, 16000, true, Same, 1},
		{"twice the calls for a request, as dear", 1, 2, 0, 16000, true, Worse, 2},
		{"twice the calls, each half as dear", 0.5, 2, 0, 16000, true, Same, 1},
		{"each call cheaper", 0.8, 1, 0, 16000, true, Better, 0.8},
		{"the calls of a request vary", 1.2, 1, 0.3, 16000, false, "", 0},
		{"few calls", 1.2, 1, 0, 400, false, "", 0},
	} {
		inv, found := watched(t, test.perCall, test.perRequest, test.stray, test.calls)
		result, told := inv.ofCalls(found)
		effect := result.Effect
		if told != test.told || told && (result.Outcome != test.outcome ||
			math.Abs(effect.Ratio/test.ratio-1) > 0.02 || effect.Low > test.ratio || effect.High < test.ratio) {
			t.Errorf("%s: %v, %+v", test.what, told, result)
		}
		if told && math.Abs(result.MedianB/result.MedianA/test.ratio-1) > 0.02 {
			t.Errorf("%s: %g and %g s for a request", test.what, result.MedianA, result.MedianB)
		}
	}
}
