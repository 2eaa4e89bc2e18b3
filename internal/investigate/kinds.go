package investigate

import (
	"math"

	"culprit/internal/stat"
	"culprit/internal/trial"
)

// ofKinds has the slow runs of one side decide where most runs of both sides take as long: a heap
// that puts two words into one cache line in one run of four, a connection that is lost in one of
// ten. Of a load, whose requests are compared, and of what is better when it is higher, it is not
// asked.
func (inv *investigation) ofKinds(plan *stat.Plan, decision stat.Decision, metric Metric,
	measured []trial.Run) (stat.Decision, *RunKinds) {
	if inv.scarce != ample || inv.options.Load != nil || inv.live != nil || metric.Better == "higher" {
		return decision, nil
	}
	a, b := trial.Paired(measured, metric.Name, [2]string{sideA, sideB})
	a, b = a[:decision.Pairs], b[:decision.Pairs]
	decision, kinds := plan.Kinds(decision, a, b, inv.options.Smallest)
	if kinds == nil {
		return decision, nil
	}
	return decision, &RunKinds{SlowA: kinds.SlowA, SlowB: kinds.SlowB, Pairs: kinds.Pairs, Usual: kinds.Usual,
		Slow: kinds.Slow, MeanA: stat.Average(a), MeanB: stat.Average(b), Decides: decision.OfMeans}
}

// among says how many recorded runs of the suffering side are slow ones, and from which value on:
// beyond the middle between both kinds, as ratios have it, where usual runs are what most of the
// other side's are under the recorder.
func (k *RunKinds) among(suffering, other []float64) (limit float64, showing int, ok bool) {
	limit = stat.Middle(other) * math.Sqrt(k.Slow/k.Usual)
	for _, value := range suffering {
		if value >= limit {
			showing++
		}
	}
	return limit, showing, showing > 0 && limit > 0
}

// slowRuns are the kinds of runs that decided the metric that is explained; nil where most runs
// did.
func (inv *investigation) slowRuns() *RunKinds {
	if inv.explained() != inv.c.Metric.Name {
		return nil
	}
	return inv.c.DecidedByKinds()
}
