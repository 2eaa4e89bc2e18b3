package investigate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"culprit/internal/compare"
	"culprit/internal/compare/prepare"
	"culprit/internal/compare/units"
	"culprit/internal/explain"
	"culprit/internal/record"
	"culprit/internal/stat"
	"culprit/internal/trial"
	"culprit/recording"
)

// What runs already is recorded over a few windows, which take the place of runs: their spread
// gives the intervals.
const (
	serviceWindows = 5
	leastWindow    = time.Second
	mostWindow     = 20 * time.Second
)

// watchService records a running process or cgroup, and lists what costs most: of a service that is
// its CPU time, or what its working threads wait for where that is more.
func (inv *investigation) watchService(ctx context.Context) error {
	found := &evidence{}
	window, err := inv.recordService(ctx, sideA, found)
	if err != nil {
		return err
	}
	inv.c.Outcome, inv.c.Metric = Listed, inv.options.Metric.Of(trial.MetricCPU)
	inv.c.A.Trials = serviceWindows
	inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf("recorded over %d windows of %v; the time that "+
		"threads wait for work is left out, and --metric cpu or wall chooses which of the rest is listed",
		serviceWindows, window.Round(time.Millisecond)))
	return inv.reason(ctx, found)
}

// recordService records the windows of the side that runs already, and returns how long they are.
func (inv *investigation) recordService(ctx context.Context, label string, found *evidence) (time.Duration, error) {
	if inv.cannot != nil {
		return 0, fmt.Errorf("investigate %s: %w", inv.options.Target, inv.cannot)
	}
	if err := os.MkdirAll(filepath.Join(inv.dir, explain.Recordings), 0o755); err != nil {
		return 0, fmt.Errorf("make folder for recordings: %w", err)
	}
	inv.options.Progress("loading the recorder")
	inv.runTimes = record.WithRunTimes(inv.runTimes, runTimesOf(inv.options.Target)...)
	recorder, err := inv.startRecorder(ctx)
	if err != nil {
		return 0, err
	}
	defer recorder.Close()
	window := min((inv.left()-reasoningTime)/serviceWindows, mostWindow)
	if window < leastWindow {
		return 0, fmt.Errorf("budget %v is too short for %d windows of %v; give --budget %v or more", inv.options.Budget,
			serviceWindows, leastWindow, (inv.elapsed() + serviceWindows*leastWindow + 2*reasoningTime).Round(time.Second))
	}
	side := newLiveSide(inv.options.Target, "")
	for number := range serviceWindows {
		inv.options.Progress(fmt.Sprintf("recording: window %d of %d", number+1, serviceWindows))
		path := filepath.Join(inv.dir, explain.Recordings, fmt.Sprintf("%s-%d.culprit", label, number+1))
		rec, err := inv.recordServiceWindow(ctx, recorder, side, path, window)
		if err != nil {
			return 0, err
		}
		found.add(label, path, rec)
	}
	return window, nil
}

// recordServiceWindow records a service for a while; where it was restarted meanwhile, again. The
// eldest process of a cgroup may end without that: there nothing else tells than that the cgroup
// was empty.
func (inv *investigation) recordServiceWindow(ctx context.Context, recorder *record.Recorder, side *liveSide,
	path string, window time.Duration) (*recording.Recording, error) {
	for {
		before, _ := side.target.Pids() // none where it is gone, which recording tells
		rec, err := inv.recordWindow(ctx, recorder, side.target, path, window, noMetrics)
		left := side.target.Eldest()
		switch {
		case ctx.Err() != nil || !side.target.ComesBack() || left == side.is:
			return rec, err
		case err == nil && left.Pid > 0 && side.target.Kind == "cgroup":
			inv.warnOthers(side, before)
			return rec, nil
		}
		if err := inv.findSide(ctx, side); err != nil {
			return nil, err
		}
	}
}

// warnOthers says that a window ended with other processes of a cgroup than it began with: those
// are not in it.
func (inv *investigation) warnOthers(side *liveSide, before []int) {
	after, err := side.target.Pids()
	stays := func(pid int) bool { return slices.Contains(after, pid) }
	warning := fmt.Sprintf("%s: a window ended with other processes than it began with, which are not in it", side.target)
	if err == nil && !slices.ContainsFunc(before, stays) && !slices.Contains(inv.c.Warnings, warning) {
		inv.c.Warnings = append(inv.c.Warnings, warning)
	}
}

// recordWindow records a target for a while.
func (inv *investigation) recordWindow(ctx context.Context, recorder *record.Recorder, target record.Target,
	path string, window time.Duration, count func() func() map[string]float64) (*recording.Recording, error) {
	if err := recorder.Begin(ctx, target); err != nil {
		return nil, fmt.Errorf("record %s: %w", target, err)
	}
	metrics := count()
	select {
	case <-ctx.Done():
		return nil, errors.New("interrupted; nothing was kept")
	case <-time.After(window):
	}
	summary, err := recorder.End(ctx, record.Finish{Path: path, Metrics: metrics()})
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", target, err)
	}
	inv.book(summary)
	rec, err := recording.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	total := int64(0)
	for _, thread := range rec.Threads {
		total += thread.CPUNs
	}
	if total == 0 {
		return nil, fmt.Errorf("record %s: it used no CPU time in %v; is it the right one?", target,
			window.Round(time.Millisecond))
	}
	return prepare.Measured(rec), nil
}

// noMetrics counts nothing beside what is recorded.
func noMetrics() func() map[string]float64 { return func() map[string]float64 { return nil } }

// windowRuns are the windows as a case lists trials: each with its amount of the metric, without
// what recording took.
func windowRuns(windows []*recording.Recording, result *compare.Result, unit units.Unit) []trial.Run {
	runs := make([]trial.Run, len(windows))
	for i, window := range windows {
		runs[i] = trial.Run{Side: sideA, Pair: i, Order: i + 1, Kind: trial.KindEvidence, Start: window.Manifest.StartedAt,
			Valid: true, Metrics: map[string]float64{result.Metric: unit.Amount(result.A[i])}}
	}
	return runs
}

// listed are the metrics of a service whose requests are seen, over all windows; nil of others,
// whose busy time in a second tells little beside the CPU time.
func listed(shown *explain.Evidence) (list []MetricResult) {
	if shown.Work.Name != units.PerRequest {
		return nil
	}
	add := func(name string, values []float64) {
		list = append(list, MetricResult{Metric: MetricChoice{Auto: true}.Of(name), Outcome: Listed,
			MedianA: stat.Middle(values)})
	}
	for _, result := range []*compare.Result{shown.CPU, shown.Wall} {
		if result == nil {
			continue
		}
		amounts := make([]float64, len(result.A))
		for i, value := range result.A {
			amounts[i] = shown.Unit().Amount(value)
		}
		add(result.Metric, amounts)
	}
	for _, name := range []string{units.Latency, "p99", units.Throughput} {
		var values []float64
		for _, rec := range shown.A {
			if value, known := units.OfRequests(rec, name); known {
				values = append(values, value)
			}
		}
		if len(values) > 0 {
			add(name, values)
		}
	}
	return list
}

// checkApart refuses two sides of which one is part of the other.
func (o Options) checkApart() error {
	a, err := o.Target.Pids()
	if err != nil {
		return err
	}
	b, err := o.TargetB.Pids()
	if err != nil {
		return err
	}
	for _, pid := range a {
		if slices.Contains(b, pid) {
			return fmt.Errorf("%s and %s have process %d in common; name two that are apart", o.Target, o.TargetB, pid)
		}
	}
	return nil
}

// checkTarget names what makes no sense about a running target.
func (o Options) checkTarget() error {
	switch {
	case o.Target.Kind == "":
		return nil
	case o.A != "" || o.B != "":
		return errors.New("give running processes or cgroups, or commands, not both")
	case !o.Metric.Auto && o.Metric.Name != trial.MetricCPU && o.Metric.Name != trial.MetricWall &&
		!(o.livePair() && explain.IsOfRequests(o.Metric.Name)):
		return errors.New("of what runs already only --metric cpu and wall are known, and of two sides latency, " +
			"throughput, p50, p99 … of requests; `culprit try -p PID` measures more")
	case o.Prove == ProveAuto:
		return errors.New("nothing is flipped under a service that runs; `culprit try -p PID --vary SETTING=…` flips what " +
			"you name")
	case o.TargetB.Kind != "":
		return o.checkApart()
	case o.Earlier != nil:
		return o.Earlier.check(o.Metric)
	}
	if o.Target.Cgroup != "" {
		if _, err := os.Stat(filepath.Join(o.Target.Cgroup, "cgroup.procs")); err != nil {
			return fmt.Errorf("%s is no cgroup; give its folder below /sys/fs/cgroup", o.Target.Cgroup)
		}
		return nil
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", o.Target.Pid)); err != nil || o.Target.Pid <= 0 {
		return fmt.Errorf("no process %d; give the number of one that runs", o.Target.Pid)
	}
	return nil
}
