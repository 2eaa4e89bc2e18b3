package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"culprit/internal/report"
	"culprit/internal/try"
)

// overheadFlags is what may be typed for overhead.
type overheadFlags struct {
	monitors []string
	budget   string
	time     time.Duration
	timeout  time.Duration
	trials   int
	seed     int64
	pid      int
	period   time.Duration
	measure  string
	metric   string
	caseDir  string
	json     string
	load     loadFlags
}

func overheadVerb(w world) *cobra.Command {
	var f overheadFlags
	command := &cobra.Command{
		Use:   "overhead --monitor CMD… [-p PID | -- CMD…]",
		Short: "What a monitor costs a workload, against a budget",
		Long: `Runs a workload without any monitor, once more without (what differs there is chance), and with
each monitor beside it, in randomised blocks, and says what each monitor costs in wall time and in
CPU time of the workload, and what CPU time it uses itself.

In a monitor {pid} is the number of the workload's first process and {cgroup} its cgroup. A monitor
is started while the workload is held at a gate, and ends with it: first it is interrupted (SIGINT),
so that it can write what it counted.

With -p a service is watched that runs already: periods with and without the monitors take turns, and what
counts is its CPU time for each read and write call, or what --measure prints. Of one that makes few such
calls it is the CPU time in a second, which is the cost only while the same work arrives.

Exit status: 0 every monitor is within the budget or undecided, 1 one is over it, 2 error.`,
		Example: `  culprit overhead --monitor 'tail -f /dev/null --pid={pid}' --budget 50% --trials 8 -- sleep 0.1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runOverhead(cmd, w, f, args)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&f.monitors, "monitor", nil,
		"a command to attach, with {pid} or {cgroup} of the workload; repeatable")
	flags.StringVar(&f.budget, "budget", "3%", "what a monitor may cost")
	flags.DurationVar(&f.time, "time", time.Minute, "time for the whole measurement")
	flags.DurationVar(&f.timeout, "timeout", 0, "longest time for one run (default: the whole time)")
	flags.IntVar(&f.trials, "trials", 0, "most trials of each monitor (default: as many as the time holds)")
	flags.Int64Var(&f.seed, "seed", 0, "seed of the order of trials (default: a random one, printed)")
	flags.IntVarP(&f.pid, "pid", "p", 0, "a service that runs already, with all below it, instead of a command")
	flags.DurationVar(&f.period, "period", 0,
		"how long a service is watched with a monitor, or without (default 1s; 2s with --measure)")
	flags.StringVar(&f.measure, "measure", "", "a command that measures the service in each period")
	flags.StringVar(&f.metric, "metric", "", "what it prints, as NAME=REGEX[,higher]; beside the service's CPU time")
	flags.StringVar(&f.caseDir, "case", "", "directory to make (default: culprit-overhead- and the time)")
	flags.StringVar(&f.json, "json", "", "write the result as JSON to this file, - for standard output")
	f.load.define(flags)
	return command
}

// countedPeriod is how long a service is watched with a monitor, or without, where the kernel's
// counters tell its work: more and shorter periods hold more against what comes and goes on the
// host.
const countedPeriod = time.Second

// service is the running one that is watched; nil for a workload of our own.
func (f overheadFlags) service() *try.Service {
	if f.pid == 0 {
		return nil
	}
	s := &try.Service{Pid: f.pid, Measure: f.measure, Period: f.period, WashOut: -1}
	if s.Period == 0 && s.Measure == "" {
		s.Period = countedPeriod
	}
	return s
}

// measured takes over what a running service is to be measured by.
func (f overheadFlags) measured(e *try.Experiment) error {
	if e.Service == nil {
		if f.measure != "" || f.period != 0 || f.metric != "" {
			return errors.New("--measure, --metric and --period are for a running service; give -p PID")
		}
		return nil
	}
	if e.Load != nil {
		return errors.New("--load starts servers of its own and -p watches one that runs; give one of them")
	}
	if f.metric == "" {
		return nil
	}
	metric, err := try.ParseMetric(f.metric)
	if err != nil {
		return err
	}
	e.Metrics = append([]try.Metric{metric}, e.Metrics...)
	return nil
}

func runOverhead(cmd *cobra.Command, w world, f overheadFlags, args []string) error {
	if f.json != "" && f.json != "-" {
		if err := checkOutput(f.json, true); err != nil {
			return err
		}
	}
	allowed, err := try.ParsePart(f.budget)
	if err != nil {
		return fmt.Errorf("budget %w", err)
	}
	experiment, err := try.MonitorExperiment(try.NewCommand(args), f.service(), f.monitors, allowed)
	if err != nil {
		return err
	}
	if experiment.Load, err = f.load.plan(); err != nil {
		return err
	}
	if experiment.Load != nil {
		experiment.Metrics = nil // those that a load has
	}
	if err := f.measured(&experiment); err != nil {
		return err
	}
	experiment.Program, experiment.Budget, experiment.Timeout = "culprit "+version, f.time, f.timeout
	experiment.Trials, experiment.Seed = f.trials, f.seed
	if f.seed == 0 {
		experiment.Seed = randomSeed()
	}
	if experiment, err = experiment.Settle(); err != nil {
		return err
	}
	options := try.Options{Dir: f.caseDir}
	if options.Dir == "" {
		options.Dir = "culprit-overhead-" + time.Now().Format("20060102-150405")
	}
	result, err := carryOut(cmd.Context(), w, options, &experiment)
	if err != nil {
		return err
	}
	overhead := try.OverheadOf(result)
	toText := func(out io.Writer) error { return report.Overhead(out, overhead, textOptions(w)) }
	if err := showDocument(w, f.json, overhead, toText); err != nil {
		return err
	}
	if overhead.Outcome == try.Over {
		return errWorse
	}
	return nil
}
