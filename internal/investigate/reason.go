package investigate

import (
	"context"
	"fmt"
	"os"

	"culprit/internal/bench"
	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/host"
	"culprit/internal/stat"
	"culprit/internal/trial"
	"culprit/recording"
)

// itemsPerSignal bounds the ranked differences that a case keeps.
const itemsPerSignal = 40

// reason compares the recordings and lets the catalogue judge.
func (inv *investigation) reason(ctx context.Context, found *evidence) error {
	inv.options.Progress("comparing")
	work, err := compare.ChooseWork(compare.PerAuto, found.a, found.b)
	if err != nil {
		return err
	}
	in, err := inv.input(ctx, found, &work)
	if err != nil {
		return err
	}
	unit := work.Unit()
	inv.c.Per = unit.Name
	if inv.options.Target.Kind != "" { // no trials measured it: it is what the recordings say, without their own cost
		inv.c.A.Median = unit.Amount(stat.Middle(in.Result.A))
		inv.runs = windowRuns(found.a, in.Result, unit)
	}
	if inv.c.Outcome != Undecided { // what differs is told; where nothing is shown to have changed there is no culprit
		inv.c.Suspects = cause.InUnit(inv.suspectsOf(in), unit)
	}
	if inv.c.Outcome != Undecided && cause.Opposed(*in) {
		inv.c.Warnings = append(inv.c.Warnings, "the recorded runs changed the other way than those that decided, "+
			"so that they explain nothing: repeat it on a quieter host or with a larger --budget")
	}
	inv.c.Settings = in.Result.Facts
	inv.c.Facts = in.FactsA
	inv.remember(found)
	for _, difference := range compare.Differences(in.Result, 0.95, itemsPerSignal) {
		inv.c.Items = append(inv.c.Items, Item(unit.Difference(difference)))
	}
	profile := unit.Profile(in.CPU.Profile)
	waits := unit.Profile(compare.WaitProfile(in.Result, 0.95))
	inv.c.Profile, inv.c.Waits = &profile, &waits
	inv.c.BlindSpots = append(inv.c.BlindSpots, in.Result.Unseen...)
	inv.c.BlindSpots = append(inv.c.BlindSpots,
		"no hardware counters were read: cache and branch misses, and time taken by the hypervisor, are not seen",
		"code that runs with interrupts off is booked where they come on again (software clock sampling)")
	return nil
}

// suspectsOf asks the catalogue about the metric of the case. Where nothing explains the change of the wall time, but
// the same trials show the CPU time to have changed the same way, and that has a cause, the case is about the CPU time:
// on a busy host most of the wall time's change is waiting for a CPU, wherever the program stood, which hides its use.
func (inv *investigation) suspectsOf(in *cause.Input) []cause.Suspect {
	suspects := cause.Judge(*in)
	if len(suspects) > 0 || inv.c.B == nil || inv.options.Metric.Printed != nil || in.CPU == nil {
		return suspects
	}
	if len(inv.c.Metrics) < 2 || inv.c.Metric.Name != trial.MetricWall ||
		inv.c.Metrics[1].Metric.Name != trial.MetricCPU || inv.c.Metrics[1].Outcome != inv.c.Outcome {
		return nil
	}
	cpu := *in
	cpu.Result, cpu.MeasuredChange = in.CPU, changeOf(inv.c.Metrics[1])
	if suspects = cause.Judge(cpu); len(suspects) == 0 {
		return nil
	}
	inv.c.Warnings = append(inv.c.Warnings, "nothing explains the change of the wall time; told is that of the CPU time")
	inv.lead(1)
	inv.summarise()
	*in = cpu
	return suspects
}

// input gathers what a judgement rests on.
func (inv *investigation) input(ctx context.Context, found *evidence, work *compare.Work) (*cause.Input, error) {
	cpu, err := compare.Compare(found.a, found.b, compare.Options{Metric: compare.MetricCPU, Work: work})
	if err != nil {
		return nil, err
	}
	wall, err := compare.Compare(found.a, found.b, compare.Options{Metric: compare.MetricWall, Work: work})
	if err != nil {
		return nil, err
	}
	result := wall
	if inv.explained() == trial.MetricCPU {
		result = cpu
	}
	in := inv.inputOf(result, found)
	in.CPU, in.Wall = cpu, wall
	if in.Costs, err = unitCosts(ctx); err != nil {
		return nil, err
	}
	for _, tracer := range host.Tracers("/", os.Getpid()) {
		in.Tracers = append(in.Tracers, tracer.String())
	}
	return &in, nil
}

// inputOf is what the recordings themselves and the trials bring to a judgement on one metric.
func (inv *investigation) inputOf(result *compare.Result, found *evidence) cause.Input {
	in := cause.Input{Result: result, CommandA: inv.options.A, CommandB: inv.options.B,
		FactsA: compare.FactsOf(found.a), FactsB: compare.FactsOf(found.b), OneSided: inv.oneSided}
	if inv.c.B != nil && inv.options.Metric.Printed == nil {
		in.MeasuredChange, in.MeasuredChangeKnown = inv.measuredChange(), true
	}
	return in
}

// explained is the metric whose seconds explain the case's metric: itself, or
// for a number that the command prints whichever of wall and CPU time moved more.
func (inv *investigation) explained() string {
	if inv.options.Metric.Printed == nil {
		return inv.c.Metric.Name
	}
	if inv.c.B == nil {
		return inv.oneSidedMetric()
	}
	change := func(metric string) float64 {
		a := stat.Middle(trial.Values(inv.runs, metric, sideA))
		b := stat.Middle(trial.Values(inv.runs, metric, sideB))
		return max(a-b, b-a)
	}
	if change(trial.MetricCPU)*inv.stretch() >= likeWall*change(trial.MetricWall) {
		return trial.MetricCPU
	}
	return trial.MetricWall
}

// measuredChange is B − A per run in seconds, as the trials without the recorder saw it.
func (inv *investigation) measuredChange() compare.Interval {
	return changeOf(inv.c.Metrics[0])
}

func changeOf(result MetricResult) compare.Interval {
	a, effect := result.MedianA, result.Effect
	return compare.Interval{Value: a * (effect.Ratio - 1), Low: a * (effect.Low - 1), High: a * (effect.High - 1)}
}

// unitCosts measures what the basic operations cost here and now.
func unitCosts(ctx context.Context) (cause.Costs, error) {
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

// remember keeps what a proof needs to know of the recordings.
func (inv *investigation) remember(found *evidence) {
	inv.facts = map[string]map[string]string{}
	for side, recordings := range map[string][]*recording.Recording{sideA: found.a, sideB: found.b} {
		values := map[string]string{}
		for _, fact := range compare.FactsOf(recordings) {
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
