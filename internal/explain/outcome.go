package explain

import (
	"fmt"
	"math"
	"slices"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/comparability"
	"culprit/internal/compare/units"
	"culprit/internal/stat"
)

// Test says of the recordings alone whether B is worse than A, and by how much: by the metric that
// was asked for, or by that of both which leads. The context has what was tested, and the rest is
// to be filled in.
func (e *Evidence) Test(asked string, smallest float64) (Context, map[string]cause.Effect, error) {
	if err := checkMetric(asked); err != nil {
		return Context{}, nil, err
	}
	names := []string{asked}
	if asked == MetricAuto {
		names = []string{compare.MetricCPU}
		if (e.whole() || e.service()) && !e.Work.ByParts() && e.Wall != nil && e.CPU != nil {
			names = []string{compare.MetricWall, compare.MetricCPU}
		}
	}
	if asked == compare.MetricWall && !e.whole() && !e.service() {
		return Context{}, nil, fmt.Errorf("wall time is that of commands recorded from start to end; " +
			"these are parts of something that runs on: take --metric cpu")
	}
	effects, tested := map[string]cause.Effect{}, make([]Tested, len(names))
	for i, name := range names {
		result, err := e.Of(name)
		if err != nil {
			return Context{}, nil, err
		}
		tested[i] = Tested{Metric: name, Change: mean(result.B) - mean(result.A)}
		tested[i].Outcome, effects[name] = e.outcome(result, smallest)
	}
	stretch := 1.0
	if len(tested) > 1 {
		stretch = Stretch(e.spent())
	}
	at := Lead(tested, stretch)
	c := Context{Metric: tested[at].Metric, Outcome: tested[at].Outcome}
	for _, one := range tested {
		c.Measured = append(c.Measured, Measured{Metric: one.Metric, Outcome: one.Outcome})
	}
	return c, effects, nil
}

// Outcome is the verdict on one metric by the recordings alone.
func (e *Evidence) Outcome(metric string, smallest float64) (stat.Outcome, cause.Effect, *compare.Result, error) {
	result, err := e.Of(metric)
	if err != nil {
		return "", cause.Effect{}, nil, err
	}
	told := result
	if metric == compare.MetricWall && e.service() {
		told = e.withoutStrangers()
	}
	outcome, effect := e.outcome(told, smallest)
	return outcome, effect, told, nil
}

// OfRequests is the verdict on a metric of the requests that the recordings hold; false where one
// of them does not tell it. Of a throughput more is better.
func (e *Evidence) OfRequests(metric string, smallest float64) (stat.Outcome, cause.Effect, *compare.Result, bool) {
	told := &compare.Result{Metric: metric}
	for i, rec := range e.both() {
		value, known := units.OfRequests(rec, metric)
		if !known {
			return "", cause.Effect{}, nil, false
		}
		if i < len(e.A) {
			told.A = append(told.A, value)
		} else {
			told.B = append(told.B, value)
		}
	}
	outcome, effect := e.outcome(told, smallest)
	if metric == units.Throughput {
		outcome = turned(outcome)
	}
	return outcome, effect, told, true
}

// withoutStrangers is the wall time of services without the time that others on the host had the
// CPU: what two services suffer from a third one tells nothing of them, and varies most.
func (e *Evidence) withoutStrangers() *compare.Result {
	own := *e.Wall
	own.A, own.B = slices.Clone(own.A), slices.Clone(own.B)
	for i := range own.Paths {
		path := &own.Paths[i]
		if !toStrangers(path) {
			continue
		}
		for at := range own.A {
			own.A[at] = max(0, own.A[at]-path.A[at])
		}
		for at := range own.B {
			own.B[at] = max(0, own.B[at]-path.B[at])
		}
	}
	return &own
}

// outcome is the verdict on a metric per unit of work: of its logarithms, so that half and double
// weigh the same. Where the sides were recorded one after the other the interval is the wider one
// of those with and without a steady drift of the host. It is "" with one recording on a side,
// whose spread is not known.
func (e *Evidence) outcome(result *compare.Result, smallest float64) (stat.Outcome, cause.Effect) {
	none := math.NaN()
	effect := cause.Effect{Ratio: none, Low: none, High: none, Confidence: Confidence}
	unknown := stat.Undecided
	if len(e.A) < 2 || len(e.B) < 2 {
		unknown = ""
	}
	a, b := stat.Logarithms(result.A), stat.Logarithms(result.B)
	if a == nil || b == nil {
		return unknown, effect
	}
	effect.Ratio = math.Exp(mean(b) - mean(a))
	timesA, timesB := comparability.OneAfterOther(e.A, e.B)
	outcome, judged := verdictOf(a, b, timesA, timesB, smallest)
	if outcome == "" {
		return unknown, effect
	}
	return outcome, judged
}

// verdictOf is the verdict on logarithms of a metric, "" where nothing can be said. Where the sides
// were measured one after the other, by the times, the interval is the wider one of those with and
// without a steady drift of the host, unless far more time lies between them than they took.
func verdictOf(a, b, timesA, timesB []float64, smallest float64) (stat.Outcome, cause.Effect) {
	none := cause.Effect{Ratio: math.Exp(mean(b) - mean(a)), Low: notKnown, High: notKnown, Confidence: Confidence}
	estimate, err := stat.MeanDifference(a, b, Confidence)
	if err != nil {
		return "", none
	}
	if oneAfterOther(timesA, timesB) && !comparability.FarApart(timesA, timesB) {
		drift, err := stat.DriftDifference(a, b, timesA, timesB, Confidence)
		if err != nil {
			return "", none
		}
		estimate.Low, estimate.High = min(estimate.Low, drift.Low), max(estimate.High, drift.High)
	}
	ratio := estimate.Exp()
	effect := cause.Effect{Ratio: ratio.Value, Low: ratio.Low, High: ratio.High, Confidence: Confidence}
	switch {
	case effect.Low >= 1/(1+smallest) && effect.High <= 1+smallest:
		return stat.Same, effect
	case effect.Low > 1:
		return stat.Worse, effect
	case effect.High < 1:
		return stat.Better, effect
	}
	return stat.Undecided, effect
}

var notKnown = math.NaN()
