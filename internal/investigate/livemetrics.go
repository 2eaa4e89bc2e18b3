package investigate

import (
	"errors"
	"fmt"
	"slices"

	"culprit/internal/compare/comparability"
	"culprit/internal/compare/units"
	"culprit/internal/explain"
	"culprit/internal/load"
	"culprit/internal/stat"
	"culprit/internal/trial"
	"culprit/recording"
)

// testWaiting adds the test of the time that threads were busy, which only recordings tell, and
// says in which ways the sides cannot be compared.
func (inv *investigation) testWaiting(found *evidence) error {
	inv.dropSilent(found)
	inv.windows = map[string]int{sideA: len(found.a), sideB: len(found.b)}
	shown, err := explain.Read(found.a, found.b, units.PerAuto)
	if err != nil {
		return err
	}
	for _, warning := range comparability.Warnings(found.a, found.b, shown.Work) {
		if !slices.Contains(inv.c.Warnings, warning) {
			inv.c.Warnings = append(inv.c.Warnings, warning)
		}
	}
	if inv.testRequests(found, shown) {
		return nil
	}
	outcome, effect, result, err := shown.Outcome(trial.MetricWall, inv.options.Smallest)
	if err != nil || inv.options.Metric.Name == trial.MetricCPU {
		return err
	}
	unit := shown.Unit()
	waiting := MetricResult{Metric: inv.options.Metric.Of(trial.MetricWall), Outcome: Outcome(outcome), Effect: effect,
		MedianA: unit.Amount(stat.Middle(result.A)), MedianB: unit.Amount(stat.Middle(result.B))}
	if inv.options.Metric.Name == trial.MetricWall {
		inv.c.Metrics = nil
	}
	inv.c.Metrics = append(inv.c.Metrics, waiting)
	inv.choose()
	return nil
}

// usualSeconds begins to tell how many seconds of a side's usual CPU time a window holds, as the
// windows without the recorder saw it: traffic that comes and goes between two recordings is then
// no difference between them.
func (inv *investigation) usualSeconds(label string) func() map[string]float64 {
	watched := inv.watchedSide(label)
	before, errBefore := watched.CPU()
	usual := stat.Middle(trial.Values(inv.measured(), trial.MetricCPU, label))
	return func() map[string]float64 {
		after, err := watched.CPU()
		if errors.Join(errBefore, err) != nil || after <= before || !(usual > 0) {
			return nil // what it is recorded for tells
		}
		return map[string]float64{recording.MetricUsualSeconds: (after - before).Seconds() / usual}
	}
}

// ofRecordings tells the metrics that no window without the recorder has: what threads wait for,
// and all that is of requests but what their calls tell.
func (inv *investigation) ofRecordings(metric string) bool {
	return inv.live != nil && (metric != trial.MetricCPU || inv.c.Per == trial.UnitRequest && inv.byCalls == nil)
}

func (inv *investigation) watchedSide(label string) trial.Watched {
	side := inv.live[label]
	return trial.Watched{Side: label, Cgroup: side.target.Cgroup, Pids: side.target.Pids}
}

// dropSilent leaves out windows without a request where the others of both sides have some: a load
// that begins anew, or a service that stood still for a whole window, has no amount per request.
func (inv *investigation) dropSilent(found *evidence) {
	answered := func(group []*recording.Recording) (list []*recording.Recording) {
		for _, rec := range group {
			if units.Served(rec) > 0 {
				list = append(list, rec)
			}
		}
		return list
	}
	a, b := answered(found.a), answered(found.b)
	enough := func(kept, all []*recording.Recording) bool { return len(kept) >= min(wantedEvidence, len(all)) }
	if silent := len(found.a) + len(found.b) - len(a) - len(b); silent > 0 && enough(a, found.a) && enough(b, found.b) {
		inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf(
			"%d of %d recorded windows are left out: no request was answered in them", silent, len(found.a)+len(found.b)))
		found.a, found.b = a, b
	}
}

// testRequests tells the sides apart by their requests, where the recordings of both hold some: by
// their latency, or another metric of them that was asked for, and by the CPU time of one. False
// where they hold none.
func (inv *investigation) testRequests(found *evidence, shown *explain.Evidence) bool {
	name := units.Latency
	if load.IsMetric(inv.options.Metric.Name) {
		name = inv.options.Metric.Name
	} else if shown.KeptBack() {
		name = units.Delivery
	}
	ofAll := name == units.Latency || name == units.Delivery
	outcome, effect, told, known := shown.OfRequests(name, inv.options.Smallest)
	if !known || shown.Work.Name != trial.UnitRequest || inv.options.Metric.Name == trial.MetricWall {
		return false
	}
	unit := shown.Unit()
	inv.c.Per, inv.c.Metrics = trial.UnitRequest, nil
	if inv.options.Metric.Auto || inv.options.Metric.Name == name {
		inv.c.Metrics = append(inv.c.Metrics, MetricResult{Metric: inv.options.Metric.Of(name),
			Outcome: Outcome(outcome), Effect: effect, MedianA: stat.Middle(told.A), MedianB: stat.Middle(told.B)})
	}
	cpu, effect, used, err := shown.Outcome(trial.MetricCPU, inv.options.Smallest)
	if result, told := inv.ofCalls(found); told && ofAll {
		inv.byCalls = &result
		inv.c.Metrics = append(inv.c.Metrics, result)
	} else if err == nil && ofAll {
		inv.c.Metrics = append(inv.c.Metrics, MetricResult{Metric: inv.options.Metric.Of(trial.MetricCPU),
			Outcome: Outcome(cpu), Effect: effect, MedianA: unit.Amount(stat.Middle(used.A)),
			MedianB: unit.Amount(stat.Middle(used.B))})
	}
	inv.choose()
	return true
}
