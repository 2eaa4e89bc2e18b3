package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"culprit/internal/bench"
	"culprit/internal/host"
	"culprit/internal/investigate"
	"culprit/internal/knob"
)

// benchSchema names the JSON document of a run of the suite.
const benchSchema = "culprit.bench/1"

// benchDocument is that document. Costs are in nanoseconds for one operation.
type benchDocument struct {
	Schema   string           `json:"schema"`
	Program  string           `json:"program"`
	Host     investigate.Host `json:"host"`
	Findings []bench.Finding  `json:"findings"`
	Warnings []string         `json:"warnings"`
}

// benchOptions is what may be typed for bench.
type benchOptions struct {
	time       time.Duration
	dir        string
	json       string
	eachSource bool
}

const (
	leastBenchTime = 10 * time.Millisecond
	mostBenchTime  = time.Minute
)

func benchVerb(w world) *cobra.Command {
	var o benchOptions
	command := &cobra.Command{
		Use:   "bench [" + strings.Join(bench.Groups(), " ") + "]",
		Short: "What the basic operations cost on this host",
		Long: `Measures what a read of the time, a system call, a context switch, a wake-up, a sleep, a page
fault, a new process, a shared cache line, a synced write and a counter cost here, with
intervals from the spread between rounds, with proof of what was really measured, and beside
published figures. CPU time where that is the cost, wall time where it is waiting.

Nothing is changed, and only files without a name are written. --each-source is the
exception: it flips the clock source, journaled, and puts it back.`,
		Example: `  culprit bench --time 50ms
  culprit bench time syscall --time 20ms
  culprit bench write --dir . --time 50ms --json -`,
		ValidArgs: bench.Groups(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runBench(cmd.Context(), w, o, args)
		},
	}
	flags := command.Flags()
	flags.DurationVar(&o.time, "time", 500*time.Millisecond, "how long to measure each operation")
	flags.StringVar(&o.dir, "dir", "", "where to write and sync files (default: the folder for temporary files)")
	flags.BoolVar(&o.eachSource, "each-source", false,
		"measure the time with every clock source that the host offers (root: flips it and puts it back)")
	flags.StringVar(&o.json, "json", "", "write the findings as JSON to this file, - for standard output")
	return command
}

func (o *benchOptions) check() error {
	if o.time < leastBenchTime || o.time > mostBenchTime {
		return fmt.Errorf("--time %v: give %v to %v", o.time, leastBenchTime, mostBenchTime)
	}
	if o.dir != "" {
		if info, err := os.Stat(o.dir); err != nil || !info.IsDir() {
			return fmt.Errorf("--dir %s is no folder; give one whose file system is to be measured", o.dir)
		}
	}
	if o.json != "" && o.json != "-" {
		return checkOutput(o.json, true)
	}
	return nil
}

func runBench(ctx context.Context, w world, o benchOptions, groups []string) error {
	if err := o.check(); err != nil {
		return err
	}
	d := benchDocument{Schema: benchSchema, Program: "culprit " + version, Host: benchHost(), Warnings: benchWarnings()}
	settings := bench.Settings{Time: o.time, Dir: o.dir}
	progress := newProgress(w, "measuring", o.time*time.Duration(bench.Count(groups...)))
	tell := func(found bench.Finding) { progress.describe(found.Name) }
	var err error
	if d.Findings, err = bench.Run(ctx, settings, tell, groups...); err == nil && o.eachSource {
		var more []bench.Finding
		more, err = benchSources(ctx, settings, d.Host.ClockSource, tell)
		d.Findings = append(d.Findings, more...)
	}
	progress.end()
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	if o.json != "-" {
		if err := d.print(w.stdout); err != nil {
			return err
		}
	}
	if o.json == "" {
		return nil
	}
	return writeJSON(w, o.json, d)
}

func benchHost() investigate.Host {
	here := host.Summarize("/")
	return investigate.Host{Name: here.Name, Kernel: here.Kernel, CPU: here.CPU, CPUs: here.CPUs,
		MemoryBytes: here.MemoryBytes, Hypervisor: here.Hypervisor, ClockSource: here.ClockSource}
}

// benchWarnings say what makes operations dearer here than the hardware alone would.
func benchWarnings() []string {
	warnings := []string{}
	for _, tracer := range host.Tracers("/", os.Getpid()) {
		warnings = append(warnings, "others watch programs here, which may make system calls and switches dearer: "+
			tracer.String())
	}
	return warnings
}

// benchSources measures reads of the time under every other clock source that the kernel offers.
func benchSources(ctx context.Context, s bench.Settings, current string,
	tell func(bench.Finding)) (found []bench.Finding, err error) {
	source, err := knob.Find("clocksource", knob.Target{})
	if err != nil {
		return nil, err
	}
	offered, err := source.Allowed()
	if err != nil {
		return nil, err
	}
	change, err := knob.Begin(ctx, source)
	if err != nil {
		return nil, err
	}
	defer func() {
		if restored := change.Restore(); err == nil {
			err = restored
		}
	}()
	for _, name := range offered {
		if name == current {
			continue
		}
		if err := change.Set("clocksource", name); err != nil {
			return nil, err
		}
		list, err := bench.Run(ctx, s, nil, "time")
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			one.Name += " " + name
			found = append(found, one)
			tell(one)
		}
	}
	return found, nil
}
