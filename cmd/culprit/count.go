package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"culprit/internal/count"
	"culprit/internal/probe/counters/event"
	"culprit/internal/report"
)

// countFlags is what may be typed for count.
type countFlags struct {
	all       bool
	pid       int
	cgroup    string
	by        string
	events    string
	interval  time.Duration
	duration  time.Duration
	own       bool
	top       int
	json      string
	csv       string
	listen    string
	tokenFile string
	list      bool
	words     []string
}

func countVerb(w world) *cobra.Command {
	var f countFlags
	command := &cobra.Command{
		Use:   "count [-a | -p PID | --cgroup DIR | -- CMD…]",
		Short: "Counters by cgroup, process, thread or CPU, and their trust",
		Long: `Counts events of the hardware and the kernel on all CPUs and books them to the cgroup, process
or thread that ran. The counters stay on: nothing is reprogrammed when the CPU goes from one to
another, so that counting by cgroup costs a switch about what one more tracepoint does.

Events have the names that perf gives them: cycles, {instructions,branches}:u, msr/tsc/,
sched:sched_switch, r01c2, cpu/event=0x3c,umask=1/. Braces make a group, which is counted at
the same times: ratios need that. Without -e a set is counted for which there are counters.

It counts until it is interrupted, -d is over or the command ends. Each number says how long it
was really counted, and within which interval the true count lies.`,
		Example: `  culprit count -d 1s
  culprit count --by process -d 1s -e task-clock,context-switches,page-faults
  culprit count -d 200ms --by cpu --csv -
  culprit count --json counts.jsonl -- sleep 0.1
  culprit count --list`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.words = args
			return runCount(cmd.Context(), w, f, cmd.Flags().Changed("interval"))
		},
	}
	flags := command.Flags()
	flags.SetInterspersed(false) // what follows the first word belongs to the command
	flags.BoolVarP(&f.all, "all", "a", false, "everything on the host (the default)")
	flags.IntVarP(&f.pid, "pid", "p", 0, "this process and what it starts")
	flags.StringVar(&f.cgroup, "cgroup", "", "this cgroup and those below: a directory where cgroup 2 is mounted")
	flags.StringVar(&f.by, "by", "", "cgroup, process, thread or cpu (default: cgroup; of a process or command: process)")
	flags.StringVarP(&f.events, "events", "e", "", "events to count (default: a set that fits the counters there are)")
	flags.DurationVarP(&f.interval, "interval", "i", time.Second, "time between two tables (a command: one at its end)")
	flags.DurationVarP(&f.duration, "duration", "d", 0, "how long to count (default: until interrupted)")
	flags.BoolVar(&f.own, "own", false, "each cgroup without those below it")
	flags.IntVar(&f.top, "top", 20, "rows of a table; 0 is all")
	flags.StringVar(&f.json, "json", "", "write JSON lines to this file, - for standard output")
	flags.StringVar(&f.csv, "csv", "", "write CSV to this file, - for standard output")
	flags.StringVar(&f.listen, "listen", "", "serve sums to Prometheus at this address, such as 127.0.0.1:9101")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token that --listen asks for")
	flags.BoolVar(&f.list, "list", false, "list the events of this host and the counters that are free")
	return command
}

// options resolves what was typed; an error names the flag and the way out.
func (f *countFlags) options(intervalGiven bool) (count.Options, error) {
	given := 0
	for _, set := range []bool{f.all, f.pid != 0, f.cgroup != "", len(f.words) > 0} {
		if set {
			given++
		}
	}
	if given > 1 {
		return count.Options{}, fmt.Errorf("give only one of: a command, -p, --cgroup, -a")
	}
	if f.top < 0 {
		return count.Options{}, fmt.Errorf("--top %d is negative; 0 shows all rows", f.top)
	}
	if f.json == "-" && f.csv == "-" {
		return count.Options{}, fmt.Errorf("--json and --csv cannot both go to standard output; give one a file")
	}
	if len(f.words) > 0 && (f.json == "-" || f.csv == "-") {
		return count.Options{}, fmt.Errorf("standard output belongs to the command; give --json or --csv a file")
	}
	o := count.Options{By: f.by, Interval: f.interval, Duration: f.duration, Own: f.own}
	if len(f.words) > 0 && !intervalGiven {
		o.Interval = 0
	}
	if o.By == "" {
		o.By = count.ByCgroup
		if f.pid != 0 || len(f.words) > 0 {
			o.By = count.ByProcess
		}
	}
	if f.pid != 0 || len(f.words) > 0 {
		o.Pids = []int{max(f.pid, 1)} // of a command it is known when it is held
	}
	if err := f.resolve(&o); err != nil {
		return o, err
	}
	if err := o.Check(); err != nil {
		return o, err
	}
	return o, f.resolveEvents(&o)
}

// resolve finds what is to be counted.
func (f *countFlags) resolve(o *count.Options) error {
	if len(f.words) > 0 {
		return runnable(f.words[0])
	}
	if f.pid != 0 {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", f.pid)); f.pid < 0 || err != nil {
			return fmt.Errorf("no process %d; `ps` lists those that run", f.pid)
		}
	}
	if f.cgroup == "" {
		return nil
	}
	mount, err := count.Mount("")
	if err != nil {
		return err
	}
	folder, err := filepath.Abs(f.cgroup)
	if err != nil {
		return fmt.Errorf("find %s: %w", f.cgroup, err)
	}
	below, found := strings.CutPrefix(folder, mount)
	if _, err := os.Stat(filepath.Join(folder, "cgroup.procs")); err != nil || !found {
		return fmt.Errorf("%s is no cgroup; give a directory below %s", f.cgroup, mount)
	}
	o.Cgroup = filepath.Join("/", below)
	if o.By == count.ByCgroup || o.By == count.ByCPU {
		return nil
	}
	// Its processes of now, and what they start.
	if o.Pids, err = count.Processes(folder); err != nil {
		return err
	}
	o.Cgroup = ""
	return nil
}

// resolveEvents finds the events.
func (f *countFlags) resolveEvents(o *count.Options) (err error) {
	if f.events == "" {
		o.Events = event.Default(event.Host)
		return nil
	}
	o.Events, err = event.Parse(f.events, event.Host)
	return err
}

func runCount(ctx context.Context, w world, f countFlags, intervalGiven bool) error {
	if f.list {
		if len(f.words) > 0 {
			return fmt.Errorf("--list counts nothing; leave the command out")
		}
		return listEvents(w)
	}
	options, err := f.options(intervalGiven)
	if err != nil {
		return err
	}
	sink, err := openCountSink(w, f, options)
	if err != nil {
		return err
	}
	status, err := countInto(ctx, w, f, options, sink)
	if err != nil {
		sink.drop()
		return err
	}
	if err := sink.close(); err != nil {
		return err
	}
	return status
}

// countInto counts into a sink. The status is that of the command, where there is one. What the
// host refuses is told when all that was typed is right.
func countInto(ctx context.Context, w world, f countFlags, options count.Options, sink *countSink) (status, err error) {
	if err := options.Events.Try(event.Host); err != nil {
		return nil, err
	}
	sink.announce()
	var held *heldCommand
	if len(f.words) > 0 {
		if held, err = holdCommand(f.words); err != nil {
			return nil, err
		}
		defer held.cancel()
		options.Pids = []int{held.pid()}
	}
	session, err := count.Open(options)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	if err := session.Begin(); err != nil {
		return nil, err
	}
	counting := ctx
	if held != nil {
		var stop context.CancelFunc
		if counting, stop, err = held.release(ctx); err != nil {
			return nil, err
		}
		defer stop()
	}
	if err := session.Run(counting, sink.add); err != nil {
		return nil, err
	}
	if held != nil {
		return held.finish(ctx), nil
	}
	return nil, nil
}

// countNotes writes the footnotes.
func countNotes(w world, interval *count.Interval, options count.Options) {
	for _, note := range report.CountNotes(interval, count.Apart(options.Events, interval.Multiplexed)) {
		fmt.Fprintf(w.stderr, "culprit: %s\n", note)
	}
}
