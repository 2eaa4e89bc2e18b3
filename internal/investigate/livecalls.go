package investigate

import (
	"math"

	"culprit/internal/compare/units"
	"culprit/internal/explain"
	"culprit/internal/stat"
	"culprit/internal/trial"
	"culprit/recording"
)

// ofCalls is the verdict on the CPU time of a request of two live sides by the windows without the
// recorder. What a recorded window adds to each switch and call hides part of what a monitor adds,
// and there are fewer of those. Windows without the recorder know no requests, but the read and
// write calls that the kernel counts, and recordings tell how many of them a request takes, which
// hardly varies. False where the services make too few calls, or where a request takes now more of
// them and now less.
func (inv *investigation) ofCalls(found *evidence) (MetricResult, bool) {
	none := MetricResult{}
	a, b := inv.callsOfRequest(found.a), inv.callsOfRequest(found.b)
	measured := inv.measured()
	logs, err := trial.LogRatios(measured, trial.MetricCPUPerCall, [2]string{sideA, sideB})
	if len(a) < 2 || len(b) < 2 || err != nil || inv.looked.plan == nil || len(logs) < inv.looked.pairs {
		return none, false
	}
	more, err := stat.MeanDifference(stat.Logarithms(a), stat.Logarithms(b), explain.Confidence)
	if err != nil || more.High-more.Low > 2*math.Log1p(inv.options.Smallest) {
		return none, false
	}
	var at [3]MetricResult
	for i, shift := range []float64{more.Low, more.Value, more.High} {
		shifted := make([]float64, inv.looked.pairs)
		for k := range shifted {
			shifted[k] = logs[k] + shift
		}
		if at[i], err = inv.look(inv.looked.plan, trial.MetricCPU, shifted, measured); err != nil {
			return none, false
		}
	}
	result := at[1]
	result.Effect.Low, result.Effect.High = at[0].Effect.Low, at[2].Effect.High
	if at[0].Outcome != at[2].Outcome {
		result.Outcome = Undecided
	}
	each := func(side string, calls []float64) float64 {
		return stat.Middle(trial.Values(measured, trial.MetricCPUPerCall, side)) * stat.Middle(calls)
	}
	result.MedianA, result.MedianB = each(sideA, a), each(sideB, b)
	return result, true
}

// callsOfRequest is how many read and write calls a request took in each recorded window; nil where
// one does not tell.
func (inv *investigation) callsOfRequest(group []*recording.Recording) (each []float64) {
	for _, rec := range group {
		calls, served := inv.calls[rec], units.Served(rec)
		if calls < trial.CallsSurely || served <= 0 {
			return nil
		}
		each = append(each, calls/served)
	}
	return each
}
