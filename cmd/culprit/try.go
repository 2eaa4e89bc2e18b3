package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"culprit/internal/report"
	"culprit/internal/try"
)

// tryFlags is what may be typed for try.
type tryFlags struct {
	vary, negative []string
	design         string
	control        bool
	trials         int
	budget         time.Duration
	timeout        time.Duration
	seed           int64
	metrics        []string
	latency        string
	smallest       string
	pid            int
	cgroup         string
	measure        string
	counter        bool
	period         time.Duration
	washOut        time.Duration
	washOutGiven   bool
	caseDir        string
	resume         string
	rehearse       bool
	json           string
	load           loadFlags
}

func tryVerb(w world) *cobra.Command {
	var f tryFlags
	command := &cobra.Command{
		Use:   "try (FILE.yaml | --vary NAME=V1,V2… -- CMD…)",
		Short: "A controlled experiment: flip one thing, prove it, put it back",
		Long: `Runs a command under each level of each factor, in randomised blocks, until it is clear whether
a level is worse, better or the same as the first one, which is the baseline. Settings of the host
are journaled before they are flipped, read back after, and put back at the end, also after a kill.

NAME is a setting (clocksource, vm.swappiness, affinity, cgroup.cpu.max …), env.VARIABLE,
a {placeholder} of the command, ground (the file system of the working directory), or variant
(levels are whole commands). With -p or --cgroup a running service is watched instead, one period
for each level.

Exit status: 0 nothing is worse, 1 a level is worse than the baseline, 2 error.`,
		Example: `  culprit try --vary level=9,1 --metric cpu --trials 8 --case faster -- 'gzip -{level} -kc /bin/bash'
  culprit try --vary vm.swappiness=60,10 --control --rehearse -- true`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTry(cmd, w, f, args)
		},
	}
	f.define(command)
	return command
}

func (f *tryFlags) define(command *cobra.Command) {
	flags := command.Flags()
	flags.StringArrayVar(&f.vary, "vary", nil, "factor and its levels, NAME=V1,V2…; the first is the baseline; repeatable")
	flags.StringArrayVar(&f.negative, "negative", nil, "a factor that ought to do nothing, as a check; repeatable")
	flags.BoolVar(&f.control, "control", false, "run the baseline once more under another name: what differs is chance")
	flags.StringVar(&f.design, "design", "", "blocks (default), one, factorial, or switchback for a running service")
	flags.IntVar(&f.trials, "trials", 0, "most trials of each level (default: as many as the budget holds)")
	flags.DurationVar(&f.budget, "budget", 0, "time for the whole experiment (default 1m)")
	flags.DurationVar(&f.timeout, "timeout", 0, "longest time for one run (default: the budget)")
	flags.Int64Var(&f.seed, "seed", 0, "seed of the order of trials (default: a random one, printed)")
	flags.StringArrayVar(&f.metrics, "metric", nil,
		"wall, cpu, switches, faults, memory, latency.p99 …, recording:runqueue … or NAME=REGEX[,higher]; repeatable "+
			"(default wall and cpu)")
	flags.StringVar(&f.latency, "latency", "",
		"where latencies are: FORMAT[:FILE][,unit=us][,limit=10ms] …; lines, jsonl, jmh, wrk, hey or redis")
	flags.StringVar(&f.smallest, "smallest", "", "smallest difference that counts (default 2%)")
	flags.IntVarP(&f.pid, "pid", "p", 0, "watch this running process and all below it")
	flags.StringVar(&f.cgroup, "cgroup", "", "watch this cgroup, given by its folder")
	flags.StringVar(&f.measure, "measure", "", "command that prints a number in each period")
	flags.BoolVar(&f.counter, "counter", false, "that number only grows: its rate counts")
	flags.DurationVar(&f.period, "period", 0, "how long a level is kept on a running service (default 2s)")
	flags.DurationVar(&f.washOut, "washout", 0,
		"wait so long after each flip (default: what the setting needs); on a service, drop so much of each period")
	flags.StringVar(&f.caseDir, "case", "", "directory to make (default: culprit-try- and the time)")
	flags.StringVar(&f.resume, "resume", "", "go on with the experiment in this directory")
	flags.BoolVar(&f.rehearse, "rehearse", false, "say what would be done and touch nothing")
	flags.StringVar(&f.json, "json", "", "write the result as JSON to this file, - for standard output")
	f.load.define(flags)
}

func runTry(cmd *cobra.Command, w world, f tryFlags, args []string) error {
	if f.json != "" && f.json != "-" {
		if err := checkOutput(f.json, true); err != nil {
			return err
		}
	}
	f.washOutGiven = cmd.Flags().Changed("washout")
	options := try.Options{Dir: f.caseDir}
	if f.resume != "" {
		if len(args) > 0 || len(f.vary) > 0 || f.caseDir != "" || f.rehearse {
			return errors.New("--resume goes on with what stands in the directory; give it alone, or with --budget and --json")
		}
		options.Dir, options.Budget = f.resume, f.budget
		return conclude(cmd.Context(), w, options, nil, f.json)
	}
	experiment, err := f.experiment(cmd, args)
	if err != nil {
		return err
	}
	if f.rehearse {
		rehearsal, err := try.Rehearse(experiment)
		if err != nil {
			return err
		}
		return showDocument(w, f.json, rehearsal, func(out io.Writer) error { return report.Rehearsal(out, rehearsal) })
	}
	if options.Dir == "" {
		options.Dir = "culprit-try-" + time.Now().Format("20060102-150405")
	}
	return conclude(cmd.Context(), w, options, &experiment, f.json)
}

// experiment resolves what was typed: a file, over which flags go, or flags alone.
func (f tryFlags) experiment(cmd *cobra.Command, args []string) (try.Experiment, error) {
	var e try.Experiment
	var err error
	fromFile := len(f.vary) == 0 && len(f.negative) == 0 && len(args) == 1 && cmd.ArgsLenAtDash() != 0
	if fromFile {
		if e, err = readDescription(cmd.Context(), args[0]); err != nil {
			return e, err
		}
	} else {
		e.Command = try.NewCommand(args)
	}
	e.Program = "culprit " + version
	for i, text := range append(f.vary, f.negative...) {
		factor, err := try.ParseFactor(text)
		if err != nil {
			return e, err
		}
		factor.Negative = i >= len(f.vary)
		e.Factors = append(e.Factors, factor)
	}
	if e.Load, err = f.load.plan(); err != nil {
		return e, err
	}
	for _, apply := range []func(*try.Experiment) error{f.metricsInto, f.serviceInto, f.rest} {
		if err := apply(&e); err != nil {
			return e, err
		}
	}
	return e.Settle()
}

func readDescription(ctx context.Context, path string) (try.Experiment, error) {
	file, err := openInput(ctx, path)
	if err != nil {
		return try.Experiment{}, fmt.Errorf("%w; give a file, or --vary NAME=V1,V2 and a command after --", err)
	}
	defer file.Close()
	e, err := try.Read(file)
	if err != nil {
		return e, fmt.Errorf("%s: %w", path, err)
	}
	return e, nil
}

func (f tryFlags) serviceInto(e *try.Experiment) error {
	if f.pid != 0 || f.cgroup != "" {
		e.Service = &try.Service{Pid: f.pid, Cgroup: f.cgroup, Measure: f.measure, Counter: f.counter, WashOut: -1}
	}
	if e.Service == nil {
		if f.measure != "" || f.counter || f.period != 0 {
			return errors.New("--measure, --counter and --period watch a running service; give -p PID or --cgroup PATH")
		}
		if f.washOutGiven {
			e.WashOut = &f.washOut
		}
		return nil
	}
	if f.period != 0 {
		e.Service.Period = f.period
	}
	if f.washOutGiven {
		e.Service.WashOut = f.washOut
	}
	return nil
}

// rest puts the flags that were given over what a file says.
func (f tryFlags) rest(e *try.Experiment) error {
	if f.design != "" {
		e.Design = try.Design(f.design)
	}
	e.Control = e.Control || f.control
	if f.trials != 0 {
		e.Trials = f.trials
	}
	if f.budget != 0 {
		e.Budget = f.budget
	}
	if f.timeout != 0 {
		e.Timeout = f.timeout
	}
	if f.seed != 0 {
		e.Seed = f.seed
	}
	if e.Seed == 0 {
		e.Seed = randomSeed()
	}
	if f.smallest == "" {
		return nil
	}
	var err error
	e.Smallest, err = try.ParsePart(f.smallest)
	if err != nil {
		return fmt.Errorf("smallest difference %w", err)
	}
	return nil
}

// conclude makes or resumes an experiment and shows what it found.
func conclude(ctx context.Context, w world, options try.Options, experiment *try.Experiment, jsonPath string) error {
	result, err := carryOut(ctx, w, options, experiment)
	if err != nil {
		return err
	}
	toText := func(out io.Writer) error {
		if err := report.Experiment(out, result, textOptions(w)); err != nil {
			return err
		}
		text, err := os.ReadFile(filepath.Join(result.Dir, try.ResultName)) // it was just written
		if err != nil {
			return fmt.Errorf("read result: %w", err)
		}
		return showScaling(w, out, result, text)
	}
	if err := showDocument(w, jsonPath, result, toText); err != nil {
		return err
	}
	if result.Outcome == try.Worse {
		return errWorse
	}
	return nil
}

// carryOut makes the trials; a nil experiment resumes the one in the directory.
func carryOut(ctx context.Context, w world, options try.Options, experiment *try.Experiment) (*try.Result, error) {
	expected := options.Budget
	if experiment != nil {
		expected = experiment.Budget
	}
	progress := newProgress(w, "trying", expected)
	defer progress.end()
	options.Progress = progress.describe
	options.Write = func(dir string, result *try.Result) error {
		err := writeFile(filepath.Join(dir, try.ResultName), func(out io.Writer) error {
			return report.ExperimentJSON(out, result)
		})
		if err != nil {
			return err
		}
		return report.ExperimentHTML(filepath.Join(dir, "report.html"), result)
	}
	if experiment == nil {
		return try.Resume(ctx, options)
	}
	return try.Run(ctx, *experiment, options)
}

// showDocument prints text, or the JSON where it was asked for on standard output.
func showDocument(w world, jsonPath string, document any, text func(io.Writer) error) error {
	if jsonPath != "" {
		err := writeOut(w, jsonPath, func(out io.Writer) error { return report.ExperimentJSON(out, document) })
		if err != nil {
			return err
		}
	}
	if jsonPath == "-" {
		return nil
	}
	return text(w.stdout)
}
