package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"culprit/internal/bench"
	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/host"
	"culprit/internal/investigate"
	"culprit/internal/report"
	"culprit/recording"
)

const (
	// A command that is on the CPU for at least this part of its time is explained by CPU time.
	busyPart = 0.5
	// notableWait is the part of the wall time from which waiting for strangers is told.
	notableWait = 0.1
	// itemsShown bounds the ranked amounts in the JSON.
	itemsShown = 40
)

// explainFile judges one recording by itself, as a case without a comparison.
func explainFile(ctx context.Context, w world, o explainOptions, path string) error {
	rec, err := recording.Open(path)
	if err != nil {
		return err
	}
	addMetrics(rec)
	c, err := judgeRecording(ctx, rec, o.metric)
	if err != nil {
		return fmt.Errorf("explain %s: %w", path, err)
	}
	if o.json != "-" {
		if err := report.Text(w.stdout, withoutIntervals(c), textOptions(w)); err != nil {
			return err
		}
	}
	if o.json == "" {
		return nil
	}
	return writeOut(w, o.json, func(out io.Writer) error { return report.JSON(out, c) })
}

// withoutIntervals is the same case for a reader: the intervals of one run
// span everything, and the case's warning says so.
func withoutIntervals(c *investigate.Case) *investigate.Case {
	shown := *c
	shown.Suspects = nil
	for _, suspect := range c.Suspects {
		suspect.Share.Low, suspect.Share.High = suspect.Share.Value, suspect.Share.Value
		shown.Suspects = append(shown.Suspects, suspect)
	}
	return &shown
}

// addMetrics fills in what record could not measure beforehand: the window, and
// the CPU time that the scheduler counted for the target's threads in it.
func addMetrics(rec *recording.Recording) {
	metrics := map[string]float64{}
	for name, value := range rec.Manifest.Metrics {
		metrics[name] = value
	}
	if _, known := metrics[compare.MetricWall]; !known {
		metrics[compare.MetricWall] = float64(rec.Manifest.WindowNs) / 1e9
	}
	if _, known := metrics[compare.MetricCPU]; !known {
		var used float64
		for _, thread := range rec.Threads {
			used += float64(thread.CPUNs) / 1e9
		}
		metrics[compare.MetricCPU] = used
	}
	rec.Manifest.Metrics = metrics
}

func judgeRecording(ctx context.Context, rec *recording.Recording, metric string) (*investigate.Case, error) {
	group := []*recording.Recording{rec}
	work := compare.WorkOf(rec)
	unit := work.Unit()
	cpu, err := compare.Compare(group, nil, compare.Options{Metric: compare.MetricCPU, Work: &work})
	if err != nil {
		return nil, err
	}
	wall, err := compare.Compare(group, nil, compare.Options{Metric: compare.MetricWall, Work: &work})
	if err != nil {
		return nil, err
	}
	in := cause.Input{CPU: cpu, Wall: wall, FactsA: rec.Facts, CommandA: rec.Manifest.Target.Command}
	if in.Result, err = chooseMetric(rec, cpu, wall, metric); err != nil {
		return nil, err
	}
	c := newListedCase(rec, in.Result, unit)
	tellMetrics(c, rec, unit, cpu, wall)
	warnOfHost(c, rec, wall, unit)
	if in.Costs, err = costsOf(ctx, rec); err != nil {
		return nil, err
	}
	if in.Costs == (cause.Costs{}) {
		c.Warnings = append(c.Warnings, "recorded on another host or kernel: counts are not turned into predicted costs")
	}
	c.Suspects = cause.InUnit(cause.Judge(in), unit)
	c.AlsoSeen = cause.AlsoSeen(rec, c.Suspects)
	for _, difference := range compare.Differences(in.Result, 0.95, itemsShown) {
		c.Items = append(c.Items, investigate.Item(unit.Difference(difference)))
	}
	c.BlindSpots = append(c.BlindSpots, in.Result.Unseen...)
	profile, waits := unit.Profile(cpu.Profile), unit.Profile(compare.WaitProfile(in.Result, 0.95))
	c.Profile, c.Waits = &profile, &waits
	return c, nil
}

// chooseMetric picks what is explained. Only a command has an end that
// something held up; of what runs on, the CPU time is explained.
func chooseMetric(rec *recording.Recording, cpu, wall *compare.Result, metric string) (*compare.Result, error) {
	switch metric {
	case compare.MetricCPU:
		return cpu, nil
	case compare.MetricWall:
		return wall, nil
	case "auto":
	default:
		return nil, fmt.Errorf("metric %q: give auto, wall or cpu", metric)
	}
	// On a host that nobody else uses, and without the recorder, its wall time would be so much shorter.
	alone := wall.A[0] - waitedForStrangers(wall)
	busy := max(cpu.A[0], onPath(wall, func(path *compare.Path) bool { return path.Kind == compare.Running }))
	if rec.Manifest.Target.Kind == "command" && busy < busyPart*alone {
		return wall, nil
	}
	return cpu, nil
}

// waitedForStrangers is for how long a command could have run and others than its own processes had the CPU.
func waitedForStrangers(wall *compare.Result) float64 {
	return onPath(wall, func(path *compare.Path) bool {
		own := path.WakerOwn && (path.WakerComm == path.Process || path.WakerComm == path.Comm)
		return path.Kind == compare.Runnable && path.WakerComm != "" && !own
	})
}

// onPath adds up the pieces of the critical path that match, in seconds.
func onPath(wall *compare.Result, match func(*compare.Path) bool) float64 {
	seconds := 0.0
	for i := range wall.Paths {
		if path := &wall.Paths[i]; len(path.A) > 0 && match(path) {
			seconds += path.A[0]
		}
	}
	return seconds
}

// warnOfHost tells how long a command whose CPU time is explained waited for CPUs that strangers had.
func warnOfHost(c *investigate.Case, rec *recording.Recording, wall *compare.Result, unit compare.Unit) {
	if c.Metric.Name != compare.MetricCPU || rec.Manifest.Target.Kind != "command" {
		return
	}
	waited := waitedForStrangers(wall)
	if waited < notableWait*rec.Manifest.Metrics[compare.MetricWall] {
		return
	}
	c.Warnings = append(c.Warnings, fmt.Sprintf("it waited %.2g s per %s for a CPU that others on this host had: that is "+
		"about the host, and --metric wall lists it", unit.Amount(waited), unit.Name))
}

// newListedCase fills in what stands in the recording itself.
func newListedCase(rec *recording.Recording, result *compare.Result, unit compare.Unit) *investigate.Case {
	manifest := rec.Manifest
	model := rec.Fact(host.FactCPUModel)
	c := &investigate.Case{Schema: investigate.CaseSchema, Outcome: investigate.Listed, Per: unit.Name,
		Metric: investigate.Metric{Name: result.Metric, Unit: result.Unit, Better: "lower"},
		A:      investigate.SideSummary{Command: targetText(manifest.Target), Median: unit.Amount(result.A[0]), Trials: 1},
		Host: investigate.Host{Name: manifest.Host, Kernel: manifest.Kernel, CPU: model,
			Hypervisor: rec.Fact(host.FactHypervisor), ClockSource: rec.Fact(host.FactClockSource)},
		Recorder: investigate.RecorderCost{StartCPUS: float64(manifest.Cost.StartCPUNs) / 1e9,
			CPUS: float64(manifest.Cost.RecorderCPUNs) / 1e9, Losses: manifest.Losses},
		Facts: rec.Facts, BlindSpots: []string{}, Warnings: []string{
			"one recording has no spread between runs: no interval is known, and no share is more than observed"},
		ElapsedS: float64(manifest.WindowNs) / 1e9}
	for _, spot := range manifest.BlindSpots {
		if !strings.HasPrefix(spot, "lost: ") { // losses are told with the recorder's cost
			c.BlindSpots = append(c.BlindSpots, spot)
		}
	}
	return c
}

// tellMetrics fills in both metrics in one way: without what recording took of the target's time, which is told apart.
// Of what runs on, each second takes a second: that is only told where it is what is explained.
func tellMetrics(c *investigate.Case, rec *recording.Recording, unit compare.Unit, cpu, wall *compare.Result) {
	for _, result := range []*compare.Result{wall, cpu} {
		if result == wall && unit.Name != compare.PerRun && c.Metric.Name != compare.MetricWall {
			continue
		}
		metric := investigate.Metric{Name: result.Metric, Unit: result.Unit, Better: "lower"}
		c.Metrics = append(c.Metrics, investigate.MetricResult{Metric: metric, Outcome: investigate.Listed,
			MedianA: unit.Amount(result.A[0])})
	}
	taken := func(result *compare.Result) float64 { // of a window that ended on its own time nothing was taken
		if result == wall && unit.Name != compare.PerRun {
			return 0
		}
		return unit.Amount(max(0, rec.Manifest.Metrics[result.Metric]-result.A[0]))
	}
	c.Recorder.OfTargetCPUS, c.Recorder.OfTargetWallS = taken(cpu), taken(wall)
}

func targetText(target recording.Target) string {
	switch {
	case target.Command != "":
		return target.Command
	case target.Cgroup != "":
		return "cgroup " + target.Cgroup
	case target.Pid > 0:
		return fmt.Sprintf("process %d", target.Pid)
	}
	return "the whole host"
}

// costsOf measures what operations cost, but only where the recording was made: elsewhere they cost something else.
func costsOf(ctx context.Context, rec *recording.Recording) (cause.Costs, error) {
	name, _ := os.Hostname() // empty: no match, no costs
	if here := host.Summarize("/"); name == "" || rec.Manifest.Host != name || rec.Manifest.Kernel != here.Kernel {
		return cause.Costs{}, nil
	}
	results, err := bench.Measure(ctx, append(bench.Quick(), bench.PageFault, bench.SwitchPipe, bench.ProcessStart)...)
	if err != nil {
		return cause.Costs{}, fmt.Errorf("measure unit costs: %w", err)
	}
	get := func(name string) cause.Cost {
		result, _ := results.Get(name) // absent: zero, not measured
		return cause.Cost{Ns: result.Ns, Low: result.Low, High: result.High}
	}
	return cause.Costs{ClockVDSO: get(bench.ClockVDSO), ClockRaw: get(bench.ClockSyscall),
		Syscall: get(bench.SyscallBare), Fault: get(bench.PageFault), Switch: get(bench.SwitchPipe),
		Spawn: get(bench.ProcessStart)}, nil
}
