package investigate

import (
	"culprit/internal/cause"
	"culprit/internal/explain"
	"culprit/internal/stat"
	"culprit/internal/trial"
)

// lastLook is when the trials were last looked at: another metric of them may be decided there as
// well.
type lastLook struct {
	plan  *stat.Plan
	pairs int
}

// decide takes one look at every metric. A decision once made is kept.
func (inv *investigation) decide(plan *stat.Plan, look int) error {
	measured := inv.measured()
	inv.looked = lastLook{plan, look}
	results := make([]MetricResult, 0, 2)
	for _, name := range inv.tested() {
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
	inv.tellFound()
	return nil
}

func (inv *investigation) look(plan *stat.Plan, name string, logs []float64,
	measured []trial.Run) (MetricResult, error) {
	metric := inv.options.Metric.Of(name)
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
	a, b := trial.Values(measured, name, sideA), trial.Values(measured, name, sideB)
	switch {
	case inv.scarce != ample: // some of them were cold, or slowed by recording
	case metric.Better == "higher":
		decision = plan.Apart(decision, b, a, inv.options.Smallest)
	default:
		decision = plan.Apart(decision, a, b, inv.options.Smallest)
	}
	decision, kinds := inv.ofKinds(plan, decision, metric, measured)
	ratio, confidence := decision.Verdict()
	if metric.Better == "higher" {
		ratio = stat.Interval{Value: 1 / ratio.Value, Low: 1 / ratio.High, High: 1 / ratio.Low}
	}
	result := MetricResult{Metric: metric, Outcome: Outcome(decision.Outcome), need: decision.More, Kinds: kinds,
		Effect: cause.Effect{Ratio: ratio.Value, Low: ratio.Low, High: ratio.High, Confidence: confidence}}
	result.MedianA, result.MedianB = stat.Middle(a), stat.Middle(b)
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
// or one differs and none that is still open may turn out to lead (explain.Lead).
func (inv *investigation) decided() bool {
	open, differs, worse, slower := 0.0, -1.0, false, false
	for _, result := range inv.c.Metrics {
		switch result.Outcome {
		case Worse, Better:
			differs = max(differs, inv.seconds(result))
			worse = worse || result.Outcome == Worse
		case Undecided:
			open = max(open, inv.seconds(result))
			slower = slower || result.Metric.Name == trial.MetricWall && result.Effect.Ratio >= 1+inv.options.Smallest
		}
	}
	if differs < 0 {
		return inv.allSame()
	}
	return differs >= open && (worse || !slower)
}

func (inv *investigation) allSame() bool {
	for _, result := range inv.c.Metrics {
		if result.Outcome != Same {
			return false
		}
	}
	return true
}

// choose puts the metric to explain first.
func (inv *investigation) choose() {
	tested := make([]explain.Tested, len(inv.c.Metrics))
	for i, result := range inv.c.Metrics {
		tested[i] = explain.Tested{Metric: result.Metric.Name, Outcome: stat.Outcome(result.Outcome),
			Change: inv.secondsOf(result)}
	}
	inv.c.lead(explain.Lead(tested, inv.stretch()))
	if inv.c.Outcome == Same && !inv.allSame() {
		inv.c.Outcome = Undecided
	}
	if inv.c.Outcome == Undecided {
		inv.c.NeedTrials = inv.needed()
	}
}

// needed is how many more pairs would decide: one metric that differs is enough, to call both the
// same takes both.
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

// seconds is how much a metric changed, for ranking.
func (inv *investigation) seconds(result MetricResult) float64 {
	return explain.Weight(result.Metric.Name, inv.secondsOf(result), inv.stretch())
}

// secondsOf is a metric's change, B − A.
func (inv *investigation) secondsOf(result MetricResult) float64 {
	if inv.options.Load != nil || inv.live != nil {
		return inv.secondsOfLoad(result)
	}
	a, b := result.Centre()
	return b - a
}

// stretch is how much longer each second of CPU time took by the clock, because others kept the
// host busy.
func (inv *investigation) stretch() float64 {
	return explain.Stretch(inv.spent(sideA), inv.spent(sideB))
}

// cpuSeconds is the CPU time of a whole run, whatever its metric is per.
func (inv *investigation) cpuSeconds(run trial.Run) float64 {
	if inv.options.Load != nil || inv.live != nil {
		return run.Metrics[trial.MetricServerCPU]
	}
	return run.Metrics[trial.MetricCPU]
}

// spent is what the runs of a side took.
func (inv *investigation) spent(side string) []explain.Spent {
	var spent []explain.Spent
	for _, run := range inv.measured() {
		if run.Side == side && run.Valid {
			spent = append(spent, explain.Spent{Wall: run.Metrics[trial.MetricWall],
				CPU: inv.cpuSeconds(run), Runqueue: run.Disturb.RunqueueS})
		}
	}
	return spent
}
