package investigate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"culprit/internal/cause"
	"culprit/internal/compare/comparability"
	"culprit/internal/compare/units"
	"culprit/internal/explain"
	"culprit/internal/record"
	"culprit/internal/stat"
	"culprit/internal/trial"
	"culprit/recording"
)

// Earlier is a side that was recorded before the investigation.
type Earlier struct {
	Side       string // "A" or "B"
	Name       string // what it is called in the answer
	Files      []string
	Recordings []*recording.Recording // of these files
}

// check names a metric that these recordings do not have, before anything is recorded.
func (e *Earlier) check(metric MetricChoice) error {
	for i, rec := range e.Recordings {
		_, served := units.OfRequests(rec, units.Latency)
		switch {
		case explain.IsOfRequests(metric.Name) && !served:
			return fmt.Errorf("metric %s: %s holds no requests; record it with `culprit record --requests`", metric.Name,
				e.Files[i])
		case metric.Name == trial.MetricWall && !explain.RunsOn(rec):
			return fmt.Errorf("metric wall: %s is not of something that runs on, which is what wall time of a service is "+
				"told of; take --metric cpu", e.Files[i])
		}
	}
	return nil
}

// recordedAs has the other side be recorded as these recordings were: what recording costs is then
// no difference.
func (e *Earlier) recordedAs(o *record.Options) {
	if e == nil {
		return
	}
	rate, slice := e.Recordings[0].Manifest.Hz, e.Recordings[0].Manifest.SliceNs
	for _, rec := range e.Recordings {
		if rec.Imported() != "" || rec.Manifest.Hz != rate || rec.Manifest.SliceNs != slice {
			return
		}
	}
	if rate > 0 && rate <= record.MaxHz {
		o.Hz = rate
	}
	if slice != evidenceSlice.Nanoseconds() { // `culprit record` made them
		o.Wait, o.Unwind, o.Slice, o.Poll = 0, 0, 0, 0
	}
}

// watchAgainst compares what runs already with recordings that were made earlier: the verdict is
// that of `culprit compare` of both, with its warnings.
func (inv *investigation) watchAgainst(ctx context.Context) error {
	found, live := &evidence{}, sideB
	if inv.options.Earlier.Side == sideB {
		live = sideA
	}
	if err := inv.keepEarlier(found); err != nil {
		return err
	}
	window, err := inv.recordService(ctx, live, found)
	if err != nil {
		return err
	}
	inv.options.Progress("comparing")
	inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf("%s was recorded over %d windows of %v", live, serviceWindows,
		window.Round(time.Millisecond)))
	inv.dropSilent(found)
	shown, err := explain.Read(found.a, found.b, units.PerAuto)
	if err != nil {
		return err
	}
	known, err := inv.testAgainst(shown)
	if err != nil {
		return err
	}
	inv.c.A.Trials, inv.c.B.Trials = len(found.a), len(found.b)
	if known.Judged() {
		if known.Costs, err = explain.MeasureFor(ctx, slices.Concat(found.a, found.b)); err != nil {
			return err
		}
	}
	if _, err := inv.judgeBy(shown, known, found); err != nil {
		return err
	}
	inv.tellFound()
	return nil
}

// keepEarlier puts the recordings of the earlier side into the case, which can then be judged again
// without them.
func (inv *investigation) keepEarlier(found *evidence) error {
	earlier, folder := inv.options.Earlier, filepath.Join(inv.dir, explain.Recordings)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make folder for recordings: %w", err)
	}
	for i, rec := range earlier.Recordings {
		path := filepath.Join(folder, fmt.Sprintf("%s-%d.culprit", earlier.Side, i+1))
		if err := recording.Write(path, rec); err != nil {
			return fmt.Errorf("keep %s in the case: %w", earlier.Files[i], err)
		}
		found.add(earlier.Side, path, rec)
	}
	return nil
}

// testAgainst tests the metrics as `culprit compare` does; where requests are seen on both sides
// and nothing else is asked for these are the latency and the CPU time of one. The context is that
// of the metric that leads.
func (inv *investigation) testAgainst(shown *explain.Evidence) (explain.Context, error) {
	asked := []string{inv.options.Metric.Name}
	switch {
	case inv.options.Metric.Auto && shown.Work.Name == units.PerRequest && shown.HoldRequests():
		asked = []string{units.Latency, trial.MetricCPU}
	case inv.options.Metric.Auto:
		asked = []string{explain.MetricAuto}
	case explain.IsOfRequests(asked[0]) && !shown.HoldRequests():
		return explain.Context{}, fmt.Errorf("metric %s: no request of %s was seen in any of %d windows", asked[0],
			inv.options.Target, serviceWindows)
	}
	var contexts []explain.Context
	warnings := comparability.Warnings(shown.A, shown.B, shown.Work)
	for _, name := range asked {
		v, err := shown.TestAny(name, inv.options.Smallest)
		if err != nil {
			return v.Context, err
		}
		if v.OfRequests != nil {
			warnings = slices.Concat(v.OfRequests.Warnings, comparability.Apart(shown.A, shown.B, shown.Work))
		}
		contexts = append(contexts, v.Context)
		if err := inv.tellVerdict(shown, v); err != nil {
			return v.Context, err
		}
	}
	inv.c.Per = shown.Work.Name
	inv.c.Warnings = append(inv.c.Warnings, warnings...)
	known := contexts[0]
	if len(contexts) > 1 {
		at := inv.leading()
		known, known.Measured = contexts[at], nil
		for i, one := range contexts {
			known.Measured = append(known.Measured, explain.Measured{Metric: one.Metric,
				Outcome: stat.Outcome(inv.c.Metrics[i].Outcome)})
		}
		inv.c.lead(at)
	}
	return known, nil
}

// leading is the metric of those tested that is explained.
func (inv *investigation) leading() int {
	tested := make([]explain.Tested, len(inv.c.Metrics))
	for i, result := range inv.c.Metrics {
		tested[i] = explain.Tested{Metric: result.Metric.Name, Outcome: stat.Outcome(result.Outcome),
			Change: result.MedianB - result.MedianA}
	}
	return explain.Lead(tested, 1)
}

// tellVerdict adds what was tested to the case; the metric that leads first.
func (inv *investigation) tellVerdict(shown *explain.Evidence, v explain.Verdict) error {
	add := func(name string, outcome stat.Outcome, effect cause.Effect, a, b float64) {
		if outcome == "" { // one recording of a side has no spread
			outcome = stat.Undecided
		}
		inv.c.Metrics = append(inv.c.Metrics, MetricResult{Metric: inv.options.Metric.Of(name), Outcome: Outcome(outcome),
			Effect: effect, MedianA: a, MedianB: b})
	}
	if of := v.OfRequests; of != nil {
		add(of.Name, of.Outcome, of.Effect, stat.Middle(of.A), stat.Middle(of.B))
		inv.c.lead(0)
		return nil
	}
	unit, lead := shown.Unit(), 0
	for i, one := range v.Context.Measured {
		result, err := shown.Of(one.Metric)
		if err != nil {
			return err
		}
		if one.Metric == v.Context.Metric {
			lead = i
		}
		add(one.Metric, one.Outcome, v.Effects[one.Metric], unit.Amount(stat.Middle(result.A)),
			unit.Amount(stat.Middle(result.B)))
	}
	inv.c.lead(lead)
	return nil
}
