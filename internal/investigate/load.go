package investigate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"culprit/internal/compare"
	"culprit/internal/compare/units"
	"culprit/internal/load"
	"culprit/internal/record"
	"culprit/internal/stat"
	"culprit/internal/trial"
	"culprit/recording"
)

// UsualWarmUp is how long the load runs on a fresh server before it counts.
const UsualWarmUp = time.Second

// tested are the metrics that are tested: of a load those that it prints. A load that holds so many
// connections open tells its latency and its throughput by the same thing, so that one of them is
// enough.
func (inv *investigation) tested() []string {
	switch {
	case inv.live != nil: // what they wait for is told by recordings
		return []string{trial.MetricCPU}
	case inv.options.Load == nil || !inv.options.Metric.Auto:
		return inv.options.Metric.Names()
	}
	for _, name := range []string{trial.MetricLatency, trial.MetricThroughput} {
		if inv.told(name) {
			return []string{name, trial.MetricCPU}
		}
	}
	return inv.options.Metric.Names()
}

// questions is how many metrics are tested in all.
func (inv *investigation) questions() int {
	if inv.live != nil && inv.options.Metric.Auto {
		return 2
	}
	return len(inv.tested())
}

// told reports whether every run so far has a metric.
func (inv *investigation) told(name string) bool {
	return len(inv.runs) > 0 && !slices.ContainsFunc(inv.runs, func(run trial.Run) bool {
		return !(run.Metrics[name] > 0)
	})
}

// perRequest reports whether the amounts of the case are per request.
func (inv *investigation) perRequest() bool {
	return inv.options.Load != nil && inv.told(trial.MetricRequests)
}

// checkLoad is the look at the first runs under load: what they print must be what is asked for.
func (inv *investigation) checkLoad() error {
	if inv.options.Load == nil {
		return nil
	}
	if name := inv.options.Metric.Name; load.IsMetric(name) && !inv.told(name) {
		return fmt.Errorf("metric %s: the load does not print it; known are %s, some need an option for percentiles "+
			"(wrk --latency), and NAME=REGEX takes any other number", name, strings.Join(load.Names(), ", "))
	}
	if inv.perRequest() {
		inv.c.Per = trial.UnitRequest
	}
	return nil
}

// loadInto has a run be one of a server under load.
func (inv *investigation) loadInto(spec *trial.Spec) {
	if inv.options.Load != nil {
		its := *inv.options.Load
		if !inv.options.MayGrow { // a budget that was given is a limit
			its.StartLimit = min(trial.UsualStartLimit, max(inv.left(), time.Second))
		}
		spec.Load = &its
	}
}

// mostFailed is how many runs with failed requests are made again before it is given up.
const mostFailed = 3

// again tells of a run that is to be made again: some of its requests failed, and it did not
// before.
func (inv *investigation) again(err error) bool {
	var failed *trial.RequestsFailedError
	if !errors.As(err, &failed) || len(inv.runs) < len(inv.plan.Sides) {
		return false
	}
	if inv.failedRuns++; inv.failedRuns > mostFailed {
		return false
	}
	inv.c.Warnings = append(inv.c.Warnings,
		fmt.Sprintf("a run under load of %s was made again: %v", failed.Side, failed.Err))
	return true
}

// watchLoad warns of a load generator that was busier than the server.
func (inv *investigation) watchLoad() {
	if inv.options.Load == nil {
		return
	}
	const saturated, idle = 0.9, 0.75
	for _, side := range inv.plan.Sides {
		measured := inv.measured()
		loadBusy := stat.Middle(trial.Values(measured, trial.MetricLoadBusy, side))
		busy := stat.Middle(trial.Values(measured, trial.MetricServerBusy, side))
		if loadBusy < saturated || busy > idle {
			continue
		}
		inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf("the load generator was the bottleneck with %s: its busiest "+
			"thread ran, or waited for a CPU, for %.0f %% of the time, the server's busiest one for %.0f %%; latency and "+
			"throughput are then the generator's, CPU time per request is the server's: give the load more threads or CPUs",
			side, 100*loadBusy, 100*busy))
	}
}

// recordUnderLoad has a run's load be recorded: the window is open while the load runs, and the
// target is all of the server.
func (inv *investigation) recordUnderLoad(ctx context.Context, recorder *record.Recorder, spec *trial.Spec,
	path string, summary **record.Summary) {
	command := spec.Command
	spec.Load.Begin = func(pid int, cgroup string) error {
		target := record.Target{Kind: "pid", Command: command, Pid: pid}
		if cgroup != "" {
			target = record.Target{Kind: "cgroup", Command: command, Cgroup: cgroup}
		}
		return recorder.Begin(ctx, target)
	}
	spec.Load.End = func(run trial.Run) (err error) {
		metrics := map[string]float64{trial.MetricWall: run.Metrics[trial.MetricWall],
			trial.MetricCPU: run.Metrics[trial.MetricServerCPU]}
		if requests := run.Metrics[trial.MetricRequests]; requests > 0 {
			metrics[recording.MetricRequests] = requests
		}
		*summary, err = recorder.End(ctx, record.Finish{Path: path, Metrics: metrics, Drop: path == ""})
		return err
	}
}

// ofRecording turns what trials saw of one unit of work into the amount of a typical recording, in
// which all reasoning is done. A change of the latency, of the throughput or of a percentile is
// told as that of the server's time, but its size is not known in seconds.
func (inv *investigation) ofRecording(metric MetricResult, work *units.Work) (name string, change *compare.Interval) {
	seconds := changeOf(metric)
	switch {
	case inv.live != nil && metric.Metric.Name != trial.MetricCPU:
		return trial.MetricWall, nil
	case inv.live != nil && inv.c.Per == trial.UnitRequest && inv.byCalls == nil: // told by the recordings themselves
		return trial.MetricCPU, nil
	case metric.Metric.Name == trial.MetricCPU && (inv.perRequest() || inv.live != nil):
		scale := work.Typical()
		return trial.MetricCPU, &compare.Interval{Value: seconds.Value * scale, Low: seconds.Low * scale,
			High: seconds.High * scale}
	case inv.options.Load != nil && metric.Metric.Name != trial.MetricCPU:
		return trial.MetricWall, nil
	}
	return metric.Metric.Name, &seconds
}

// secondsOfLoad is how much a metric of a load changed in seconds of the server's time for one
// request: of a latency as much as its relative change is of the time between two answers, and of
// the CPU time what it is by the clock where the server keeps several CPUs busy at once.
func (inv *investigation) secondsOfLoad(result MetricResult) float64 {
	throughput := stat.Middle(trial.Values(inv.measured(), trial.MetricThroughput, sideA))
	if result.Metric.Name == trial.MetricCPU {
		return (result.MedianB - result.MedianA) / max(1, throughput*result.MedianA)
	}
	if !(throughput > 0) || !(result.MedianA > 0) || !(result.MedianB > 0) {
		return result.MedianB - result.MedianA
	}
	ratio := result.MedianB / result.MedianA
	if result.Metric.Better == higherIsBetter {
		ratio = 1 / ratio
	}
	if change := (ratio - 1) / throughput; !math.IsNaN(change) && !math.IsInf(change, 0) {
		return change
	}
	return 0
}
