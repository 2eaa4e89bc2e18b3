package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"culprit/internal/record"
	"culprit/internal/trial"
)

// recordOptions is what may be typed for record.
type recordOptions struct {
	record.Options
	target   record.Target
	words    []string
	duration time.Duration
	out      string
	force    bool
	json     string
	salvage  string
	python   bool
	labels   []string
	news     int

	selfCheck bool
	checkRate string
	maxCost   string
	budget    float64 // of maxCost
}

func recordVerb(w world) *cobra.Command {
	var o recordOptions
	command := &cobra.Command{
		Use:   "record [-a | -p PID | --cgroup PATH | port:N | unit:NAME | -- CMD…]",
		Short: "Record the evidence of one side into one file",
		Long: `Records what a command, a process with its children, a cgroup or the whole host does:
stacks on the CPU, waits with who ended them, system calls, processes, and every setting
that can make two hosts differ. The file is a zip of Parquet tables.

A command's input, output and exit status are left as they are; what outlives -d goes on
unrecorded. Interrupting ends the recording and keeps what it saw. A service that is named by
its port, unit or cgroup is followed when it is restarted; a process named by its id is not.`,
		Example: `  culprit record -o sleep.culprit -- sleep 0.2
  culprit record -d 1s -p 1 -o init.culprit
  culprit record -d 1s -a -o host.culprit
  culprit record -f -o stat.culprit --json - -d 1s -p 1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.words = args
			if err := o.takeNamed(); err != nil {
				return err
			}
			if o.salvage != "" {
				return runSalvage(w, o)
			}
			if err := o.check(); err != nil {
				return err
			}
			return runRecord(cmd.Context(), w, o)
		},
	}
	flags := command.Flags()
	flags.SetInterspersed(false) // what follows the first word belongs to the command
	flags.BoolVarP(&o.WholeHost, "all", "a", false, "record every process of the host")
	flags.IntVarP(&o.target.Pid, "pid", "p", 0, "record this process and its children")
	flags.StringVar(&o.target.Cgroup, "cgroup", "", "record this cgroup: a directory below /sys/fs/cgroup")
	flags.DurationVarP(&o.duration, "duration", "d", 10*time.Second, "how long to record (a command: at most)")
	flags.StringVarP(&o.out, "out", "o", "", "file to write (required)")
	flags.BoolVarP(&o.force, "force", "f", false, "overwrite the file")
	flags.StringArrayVar(&o.labels, "label", nil,
		"call the recording by this, as key=value: version=1.4.2; may be given again")
	flags.IntVarP(&o.Hz, "rate", "F", 99, "samples per second and CPU")
	flags.DurationVar(&o.Wait, "slow", time.Millisecond, "keep waits whole from this length on")
	flags.BoolVar(&o.NoCalls, "no-syscalls", false, "leave the system calls out")
	flags.BoolVar(&o.Light, "light", false, "only stacks on the CPU, processes and each thread's totals")
	flags.BoolVar(&o.Requests, "requests", false, "follow the requests of the target's services on their sockets")
	flags.StringVar(&o.Counters, "counters", "", "count these events for the target, as in 'culprit count -e'")
	flags.BoolVar(&o.CPI, "cpi", false, "sample stacks by cycles and instructions too (takes hardware counters)")
	flags.BoolVar(&o.Allocations, "allocations", false,
		"remember where heap blocks are allocated that shared cache lines lie in (some 15 µs for each)")
	flags.BoolVar(&o.Confirm, "confirm", false, "have debug registers watch cache lines that threads seem to share")
	flags.BoolVar(&o.python, "python", false, "load the Python unwinder at once (found out by itself for a command)")
	o.costFlags(flags)
	newsFlag(flags, &o.news)
	flags.StringVar(&o.json, "json", "", "write a summary of the recording as JSON to this file, - for standard output")
	return command
}

// check resolves what was typed; an error names the flag and the way out.
func (o *recordOptions) check() error {
	given := 0
	for _, set := range []bool{o.WholeHost, o.target.Pid != 0, o.target.Cgroup != "", len(o.words) > 0} {
		if set {
			given++
		}
	}
	switch {
	case given == 0:
		return fmt.Errorf("nothing to record; give a command after --, -p PID, --cgroup PATH, port:N, unit:NAME or -a")
	case given > 1:
		return fmt.Errorf("give only one of: a command, -p, --cgroup, -a")
	case o.out == "":
		return fmt.Errorf("no file to write; give -o FILE.culprit")
	case o.duration <= 0:
		return fmt.Errorf("duration %v is not positive; give one such as -d 10s", o.duration)
	case o.Hz == 0: // of options it means the default
		return fmt.Errorf("-F 0 takes no samples; give a rate between 1 and %d", record.MaxHz)
	case o.Wait <= 0:
		return fmt.Errorf("--slow %v is not positive; give a length such as --slow 1ms", o.Wait)
	case o.json == "-" && len(o.words) > 0:
		return fmt.Errorf("standard output belongs to the command; give --json a file")
	}
	var err error
	if o.Labels, err = labelsOf(o.labels); err != nil {
		return err
	}
	if err := o.checkCosts(); err != nil {
		return err
	}
	if err := checkCounters(o.Counters, o.CPI); err != nil {
		return err
	}
	if _, err := o.Normal(); err != nil {
		return err
	}
	if err := o.resolveTarget(); err != nil {
		return err
	}
	if o.json != "" && o.json != "-" {
		if err := checkOutput(o.json, true); err != nil {
			return err
		}
	}
	return checkRecording(o.out, o.force)
}

func runRecord(ctx context.Context, w world, o recordOptions) error {
	o.Program = "culprit " + version
	out, err := filepath.Abs(o.out)
	if err != nil {
		return fmt.Errorf("find folder of %s: %w", o.out, err)
	}
	if err := record.NoParts(out); err != nil {
		return err // before anything is loaded
	}
	tell, err := openNews(o.news)
	if err != nil {
		return err
	}
	if err := record.Permitted(); err != nil {
		return err // the kernel's own words for it mislead
	}
	tell.stage("loading the recorder")
	recorder, err := record.Start(ctx, o.Options)
	if err != nil {
		return err
	}
	defer recorder.Close()
	run, err := o.newRun(recorder, out)
	if err != nil {
		return err
	}
	var command *recordedCommand
	if len(o.words) > 0 {
		if command, err = recordCommand(ctx, run, o); err != nil {
			return err
		}
	} else if err := run.Begin(ctx); err != nil {
		return err
	}
	progress := newProgress(w, "recording", o.duration)
	run.Say = progress.says(w)
	tell.stage("recording")
	err = run.Watch(ctx)
	progress.end()
	// Now, not when the file is written; a signal that ended the recording is passed on to the
	// command.
	goesOn := command != nil && !command.over() && ctx.Err() == nil
	var summary *record.Summary
	tell.stage("writing the recording")
	if err == nil { // an interrupt ends the window, not the writing of what it saw
		summary, err = run.Finish(context.WithoutCancel(ctx))
	}
	if err != nil {
		err = fmt.Errorf("record: %w", err)
	} else {
		err = printRecorded(w, o, summary, goesOn)
	}
	if command == nil {
		return err
	}
	status := command.finish(ctx)
	if err != nil {
		return err
	}
	return status
}

// recordedCommand is the command that is recorded, with its caller's input and output.
type recordedCommand struct {
	held  *trial.Held
	ended chan struct{}
	code  int // valid once ended is closed, as is err
	err   error
}

// over tells whether the command has ended.
func (c *recordedCommand) over() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// finish awaits a command that outlived its window, passes on the signal that
// interrupted culprit, and takes over the command's exit status.
func (c *recordedCommand) finish(ctx context.Context) error {
	select {
	case <-c.ended:
	case <-ctx.Done():
		// An interrupt from the terminal has reached the command, too: twice is more than the user
		// asked for.
		if by, ok := interruption(ctx); ok && !(by.signal == os.Interrupt && inForeground()) {
			c.held.Signal(by.signal)
		}
		<-c.ended
	}
	if c.err == nil && c.code != 0 {
		return exitStatus(c.code)
	}
	return c.err
}

// recordCommand starts the command under the recorder's eyes: it is held until the window is open.
func recordCommand(ctx context.Context, run *record.Run, o recordOptions) (*recordedCommand, error) {
	var stdout io.Writer = os.Stdout
	if run.Printed != nil {
		stdout = run.Printed
	}
	held, err := trial.HoldWords(o.words, stdout)
	if err != nil {
		return nil, err
	}
	run.Target.Pid = held.Pid()
	if err := run.Begin(ctx); err != nil {
		held.Cancel()
		return nil, err
	}
	if err := held.Release(); err != nil {
		held.Cancel()
		return nil, err
	}
	command := &recordedCommand{held: held, ended: make(chan struct{})}
	run.Ended = command.ended
	go func() {
		command.code, command.err = held.Wait()
		close(command.ended)
	}()
	return command, nil
}
