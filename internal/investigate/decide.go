package investigate

import (
	"math"

	"culprit/internal/cause"
	"culprit/internal/stat"
	"culprit/internal/trial"
)

// decide takes one look at every metric. A decision once made is kept.
func (inv *investigation) decide(plan *stat.Plan, look int) error {
	measured := inv.measured()
	results := make([]MetricResult, 0, 2)
	for _, name := range inv.options.Metric.names() {
		if known, ok := inv.result(name); ok && known.Outcome != Undecided {
			results = append(results, known)
			continue
		}
		logs, err := trial.LogRatios(measured, name, [2]string{sideA, sideB})
		if err != nil {
			return err
		}
		result, err := inv.look(plan, name, logs[:look], measured)
		if err != nil {
			return err
		}
		results = append(results, result)
	}
	inv.c.Metrics = results
	inv.choose()
	return nil
}

func (inv *investigation) look(plan *stat.Plan, name string, logs []float64,
	measured []trial.Run) (MetricResult, error) {
	metric := inv.options.Metric.metric(name)
	signed := make([]float64, len(logs))
	for i, log := range logs {
		signed[i] = log
		if metric.Better == "higher" {
			signed[i] = -log
		}
	}
	decision, err := plan.Decide(signed, inv.options.Smallest)
	if err != nil {
		return MetricResult{}, err
	}
	ratio, confidence := decision.Verdict()
	if metric.Better == "higher" {
		ratio = stat.Interval{Value: 1 / ratio.Value, Low: 1 / ratio.High, High: 1 / ratio.Low}
	}
	result := MetricResult{Metric: metric, Outcome: Outcome(decision.Outcome), need: decision.More,
		Effect: cause.Effect{Ratio: ratio.Value, Low: ratio.Low, High: ratio.High, Confidence: confidence}}
	result.MedianA = stat.Middle(trial.Values(measured, name, sideA))
	result.MedianB = stat.Middle(trial.Values(measured, name, sideB))
	return result, nil
}

func (inv *investigation) result(name string) (MetricResult, bool) {
	for _, result := range inv.c.Metrics {
		if result.Metric.Name == name {
			return result, true
		}
	}
	return MetricResult{}, false
}

// decided reports whether further pairs are not needed: all metrics are the same,
// or one differs and none that is still open may turn out to have changed more.
func (inv *investigation) decided() bool {
	open, differs := 0.0, -1.0
	for _, result := range inv.c.Metrics {
		switch result.Outcome {
		case Worse, Better:
			differs = max(differs, inv.seconds(result))
		case Undecided:
			open = max(open, inv.seconds(result))
		}
	}
	if differs < 0 {
		return inv.allSame()
	}
	return differs >= open
}

func (inv *investigation) allSame() bool {
	for _, result := range inv.c.Metrics {
		if result.Outcome != Same {
			return false
		}
	}
	return true
}

// choose puts the metric to explain first: of those that differ, the one whose
// change is larger in seconds, so that a CPU time of two milliseconds that
// doubled does not hide half a second of waiting. Where both changed alike the
// CPU is the closer explanation.
func (inv *investigation) choose() {
	best := 0
	for i, result := range inv.c.Metrics {
		if inv.rank(result) > inv.rank(inv.c.Metrics[best]) {
			best = i
		}
	}
	inv.lead(best)
	if inv.c.Outcome == Same && !inv.allSame() {
		inv.c.Outcome = Undecided
	}
	if inv.c.Outcome == Undecided {
		inv.c.NeedTrials = inv.needed()
	}
}

// lead puts one of the metrics first: the case is about it.
func (inv *investigation) lead(at int) {
	inv.c.Metrics[0], inv.c.Metrics[at] = inv.c.Metrics[at], inv.c.Metrics[0]
	first := inv.c.Metrics[0]
	inv.c.Metric, inv.c.Outcome, inv.c.NeedTrials = first.Metric, first.Outcome, 0
	effect := first.Effect
	inv.c.Effect = &effect
}

// needed is how many more pairs would decide: one metric that differs is enough, to call both the same takes both.
func (inv *investigation) needed() int {
	all, differs := 0, 0
	for _, result := range inv.c.Metrics {
		if result.Outcome != Undecided {
			continue
		}
		all = max(all, result.need)
		if ratio := result.Effect.Ratio; max(ratio, 1/ratio) >= 1+inv.options.Smallest &&
			(differs == 0 || result.need < differs) {
			differs = result.need
		}
	}
	if differs > 0 {
		return differs
	}
	return all
}

// likeWall is how much of the wall time's change the CPU time's must be to count as the same change.
const likeWall = 0.8

// seconds is how much a metric changed, for ranking. On a host that others keep busy on both sides each second of
// CPU time takes longer by the clock: what the wall time grew by that is still the CPU time's change.
func (inv *investigation) seconds(result MetricResult) float64 {
	change := math.Abs(result.MedianB - result.MedianA)
	if result.Metric.Name == trial.MetricCPU {
		change *= inv.stretch() / likeWall
	}
	return change
}

// stretch is how much wall time a second of CPU time took on the side that waited less for a CPU, 1 on an idle host.
// Threads that wait for each other's CPU do not stretch: there are then more of them than there is wall time.
func (inv *investigation) stretch() float64 {
	least := math.Inf(1)
	for _, side := range []string{sideA, sideB} {
		var stretches []float64
		for _, run := range inv.measured() {
			cpu, wall := run.Metrics[trial.MetricCPU], run.Metrics[trial.MetricWall]
			if run.Side == side && run.Valid && cpu > 0 && wall > 0 {
				runnable := cpu + run.Disturb.RunqueueS
				stretches = append(stretches, runnable/cpu/max(1, runnable/wall))
			}
		}
		if len(stretches) > 0 {
			least = min(least, stat.Middle(stretches))
		}
	}
	if math.IsInf(least, 1) {
		return 1
	}
	return max(1, least)
}

func (inv *investigation) rank(result MetricResult) float64 {
	switch result.Outcome {
	case Worse, Better:
		return 1e9 + inv.seconds(result)
	case Undecided:
		return inv.seconds(result)
	}
	return -1
}
