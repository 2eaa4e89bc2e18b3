package investigate

import (
	"context"
	"math"
	"slices"

	"culprit/internal/compare"
	"culprit/internal/compare/settings"
	"culprit/internal/compare/units"
	"culprit/internal/explain"
	"culprit/internal/load"
	"culprit/internal/stat"
	"culprit/internal/trial"
	"culprit/recording"
)

// reason compares the recordings, lets the catalogue judge, and keeps in the case what its
// recordings do not hold.
func (inv *investigation) reason(ctx context.Context, found *evidence) error {
	inv.options.Progress("comparing")
	shown, known, err := inv.read(ctx, found)
	if err != nil {
		return err
	}
	judged, err := inv.judgeBy(shown, known, found)
	if err != nil {
		return err
	}
	switch {
	case inv.options.Target.Kind != "" && inv.c.B == nil: // no trials measured it
		inv.c.Metric = inv.options.Metric.Of(judged.Metric)
		inv.c.A.Median = judged.Unit.Amount(stat.Middle(judged.Result.A))
		inv.c.Metrics = listed(shown)
		inv.runs = windowRuns(found.a, judged.Result, judged.Unit)
	case inv.c.B == nil && inv.options.Metric.Printed == nil: // the runs alone told less
		inv.c.Metric = inv.options.Metric.Of(judged.Metric)
		inv.summarise()
	}
	inv.remember(found)
	inv.tellFound()
	return nil
}

// judgeBy asks the catalogue, and keeps in the case what the judgement rests on.
func (inv *investigation) judgeBy(shown *explain.Evidence, known explain.Context,
	found *evidence) (*explain.Judgement, error) {
	known.A, known.B, known.Warnings = found.namesOf(found.a), found.namesOf(found.b), inv.c.Warnings
	if err := known.Save(inv.dir); err != nil {
		return nil, err
	}
	judged, err := shown.Judge(known)
	if err != nil {
		return nil, err
	}
	inv.c.Tell(judged)
	if inv.options.Counters == "" && !inv.options.CPI {
		inv.c.see(recording.BlindSpot{Kind: recording.BlindCounters})
	}
	return judged, nil
}

// read takes the recordings made so far, and what a judgement of them rests on.
func (inv *investigation) read(ctx context.Context,
	found *evidence) (*explain.Evidence, explain.Context, error) {
	shown, err := inv.compared(found)
	if err != nil {
		return nil, explain.Context{}, err
	}
	known := explain.Context{Outcome: stat.Outcome(inv.c.Outcome), OneSided: inv.oneSided}
	if found.unshown {
		known.Outcome = stat.Undecided
	}
	if inv.costs == nil {
		if inv.costs, err = explain.Measure(ctx); err != nil {
			return nil, known, err
		}
	}
	known.Costs = inv.costs
	if inv.c.B == nil {
		known.Outcome = ""
		asked := inv.options.Metric.Name
		if inv.options.Metric.Auto || inv.options.Metric.Printed != nil {
			asked = explain.MetricAuto
		}
		known.Metric, err = shown.Alone(asked)
		return shown, known, err
	}
	known.Metric = inv.explained()
	if units.Percent(inv.c.Metric.Name) > 0 && shown.HoldRequests() {
		known.Percentile = inv.c.Metric.Name
	}
	known.OfRequests = isOfRequests(inv.c.Metric.Name) && known.Percentile == "" && shown.HoldRequests()
	known.Delivery = known.OfRequests && shown.OfDelivery(inv.c.Metric.Name, inv.options.Load != nil)
	if inv.options.Metric.Printed == nil {
		for _, metric := range inv.c.Metrics {
			name, change := inv.ofRecording(metric, &shown.Work)
			known.Measured = append(known.Measured, explain.Measured{Metric: name,
				Outcome: stat.Outcome(metric.Outcome), Change: change})
		}
	}
	return shown, known, nil
}

// reading is what some recordings show together.
type reading struct {
	a, b  []*recording.Recording
	shown *explain.Evidence
}

// compared reads recordings: once, where the same ones are asked for again.
func (inv *investigation) compared(found *evidence) (*explain.Evidence, error) {
	last := &inv.latest
	if last.shown != nil && slices.Equal(last.a, found.a) && slices.Equal(last.b, found.b) {
		return last.shown, nil
	}
	shown, err := explain.Read(found.a, found.b, units.PerAuto)
	if err == nil {
		*last = reading{found.a, found.b, shown}
	}
	return shown, err
}

// isOfRequests tells the metrics of requests, as loads and recordings tell them.
func isOfRequests(name string) bool { return load.IsMetric(name) || name == units.Delivery }

// explained is the metric whose seconds explain the case's metric: itself, or
// for a number that the command prints whichever of wall and CPU time moved more.
func (inv *investigation) explained() string {
	switch {
	case inv.options.Metric.Printed == nil && !isOfRequests(inv.c.Metric.Name):
		return inv.c.Metric.Name
	case inv.live != nil, inv.options.Load != nil && inv.options.Metric.Auto:
		return trial.MetricWall
	case inv.c.B == nil:
		return inv.oneSidedMetric()
	}
	var tested []explain.Tested
	for _, metric := range []string{trial.MetricWall, trial.MetricCPU} {
		median := func(side string) float64 { return stat.Middle(trial.Values(inv.runs, metric, side)) }
		tested = append(tested, explain.Tested{Metric: metric, Change: median(sideB) - median(sideA)})
	}
	return tested[explain.Lead(tested, inv.stretch())].Metric
}

// changeOf is B − A per run in seconds, as the trials without the recorder saw it. Where slow runs
// decide, those are what is explained: what a slow run takes more.
func changeOf(result MetricResult) compare.Interval {
	a, effect := result.MedianA, result.Effect
	if kinds := result.Kinds; kinds != nil && kinds.Decides {
		a = math.Abs((kinds.Slow - kinds.Usual) / (effect.Ratio - 1))
	}
	return compare.Interval{Value: a * (effect.Ratio - 1), Low: a * (effect.Low - 1), High: a * (effect.High - 1)}
}

// remember keeps what a proof needs to know of the recordings.
func (inv *investigation) remember(found *evidence) {
	inv.facts = map[string]map[string]string{}
	for side, recordings := range map[string][]*recording.Recording{sideA: found.a, sideB: found.b} {
		values := map[string]string{}
		for _, fact := range settings.Of(recordings) {
			if _, known := values[fact.Name]; !known {
				values[fact.Name] = fact.Value
			}
		}
		inv.facts[side] = values
		if side != inv.suffering() || len(recordings) == 0 {
			continue
		}
		for _, process := range recordings[len(recordings)-1].Processes {
			inv.comms = append(inv.comms, process.Comm)
		}
	}
}
