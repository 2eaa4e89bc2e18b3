package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"culprit/internal/record"
	"culprit/internal/report"
	"culprit/internal/top"
	"culprit/recording"
)

// topOptions is what may be typed for top.
type topOptions struct {
	record.Options
	pid      int
	cgroup   string
	interval time.Duration
	duration time.Duration
	rows     int
	sort     string
	json     string

	target record.Target
}

func topVerb(w world) *cobra.Command {
	var o topOptions
	command := &cobra.Command{
		Use:   "top [-p PID | --cgroup DIR | port:N | unit:NAME | -a]",
		Short: "What a running target does now, by place of its own code",
		Long: `Looks at a running target again and again: where its own code runs and waits (locks, files, calls,
page faults, a CPU that others had), its requests where it answers some, who had the CPU meanwhile,
and what the looking costs. Each second of a thread stands in one row.

On a terminal the table is refreshed, sorted (s), of one class (c), paused (space), and a row is
explained (Enter): the stacks that lead to it and the causes that match. Elsewhere each look is
some lines, the latest last; --json gives a document a line.`,
		Example: `  culprit top -p 1 -i 1s -d 1s
  culprit top -a -d 1s --json -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(args); err != nil {
				return err
			}
			return runTop(cmd.Context(), w, o)
		},
	}
	flags := command.Flags()
	flags.IntVarP(&o.pid, "pid", "p", 0, "this process and its children")
	flags.StringVar(&o.cgroup, "cgroup", "", "this cgroup: a directory below /sys/fs/cgroup")
	flags.BoolVarP(&o.WholeHost, "all", "a", false, "every process of the host")
	flags.DurationVarP(&o.interval, "interval", "i", 3*time.Second,
		"time of one look: the end of each takes some CPU time")
	flags.DurationVarP(&o.duration, "duration", "d", 0, "how long in all (default: until q, or an interrupt)")
	flags.IntVarP(&o.Hz, "rate", "F", 199, "samples per second and CPU")
	flags.IntVar(&o.rows, "rows", 12, "rows of a look that is not on a terminal; 0 is all")
	flags.StringVar(&o.sort, "sort", top.ByRate, "order of the rows: rate, change or name")
	flags.StringVar(&o.json, "json", "", "write each look as a line of JSON to this file, - for standard output")
	return command
}

// Limits of one look: shorter ones cost more than they see, longer ones are recordings.
const (
	shortestLook = 500 * time.Millisecond
	longestLook  = time.Minute
)

// check resolves what was typed; an error names the flag and the way out.
func (o *topOptions) check(args []string) (err error) {
	given := len(args)
	for _, set := range []bool{o.pid != 0, o.cgroup != "", o.WholeHost} {
		if set {
			given++
		}
	}
	switch {
	case given == 0:
		return errors.New("nothing to look at; give -p PID, --cgroup DIR, port:N, unit:NAME, or -a for all")
	case given > 1:
		return errors.New("give only one of: -p, --cgroup, port:N, unit:NAME, -a")
	case o.interval < shortestLook || o.interval > longestLook:
		return fmt.Errorf("-i %v: give %v to %v", o.interval, shortestLook, longestLook)
	case o.duration < 0:
		return fmt.Errorf("duration %v is negative; give one such as -d 1m", o.duration)
	case o.Hz == 0:
		return fmt.Errorf("-F 0 takes no samples; give a rate between 1 and %d", record.MaxHz)
	case o.rows < 0:
		return fmt.Errorf("--rows %d is negative; 0 shows all", o.rows)
	}
	if !slices.Contains(top.Orders, o.sort) {
		return fmt.Errorf("--sort %q: give rate, change or name", o.sort)
	}
	o.Requests = true
	if _, err := o.Normal(); err != nil {
		return err
	}
	if o.json != "" && o.json != "-" {
		if err := checkOutput(o.json, true); err != nil {
			return err
		}
	}
	switch {
	case o.WholeHost:
		o.target.Kind = "host"
		return nil
	case len(args) == 1:
		var named bool
		if o.target, named, err = record.ParseTarget(args[0]); err == nil && !named {
			err = fmt.Errorf("%q is no service; give port:N, unit:NAME, -p PID or --cgroup DIR", args[0])
		}
	case o.pid != 0:
		o.target, _, err = record.ParseTarget(fmt.Sprintf("pid:%d", o.pid))
	default:
		o.target, _, err = record.ParseTarget("cgroup:" + o.cgroup)
	}
	if err == nil && o.target.Pid != 0 {
		o.RunTimes = record.WithRunTimes(o.RunTimes, record.RunTimesOf(o.target.Pid)...)
	}
	return err
}

// look is what one window gave.
type look struct {
	view *top.View
	rec  *recording.Recording
	own  float64 // CPUs that this process took meanwhile
}

func runTop(ctx context.Context, w world, o topOptions) error {
	o.Program = "culprit " + version
	if err := record.Permitted(); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "culprit-top-")
	if err != nil {
		return fmt.Errorf("make a folder for windows: %w", err)
	}
	defer os.RemoveAll(folder)
	progress := newProgress(w, "loading the recorder", 5*time.Second)
	recorder, err := record.Start(ctx, o.Options)
	progress.end()
	if err != nil {
		return err
	}
	defer recorder.Close()
	// Who reads the lines may go first, as head does: that is the end, and nothing is left behind.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGPIPE)
	defer stop()
	if o.duration > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, o.duration)
		defer end()
	}
	l := &looker{recorder: recorder, target: o.target, folder: folder, interval: o.interval, took: ownTime(),
		taken: time.Now(), service: record.NewService(o.target), say: func(text string) { fmt.Fprintln(w.stderr, text) }}
	if screen := openScreen(w); screen != nil && o.json != "-" {
		defer screen.close()
		return watchScreen(ctx, l, screen, o)
	}
	if err := watchLines(ctx, w, l, o); !errors.Is(err, syscall.EPIPE) {
		return err
	}
	return nil
}

// watchLines prints each look as lines.
func watchLines(ctx context.Context, w world, l *looker, o topOptions) error {
	var before *top.View
	for over := false; !over; {
		ended, err := l.begin(ctx, func(pause time.Duration) bool { return l.waitFor(ctx, pause, keys{}) })
		if err != nil || ended {
			return untilGone(err, before)
		}
		over = l.waitFor(ctx, l.interval, keys{})
		path, err := l.end(!over)
		if err != nil {
			return untilGone(err, before)
		}
		found, err := l.read(path, before)
		if err != nil {
			return err
		}
		if o.json != "" {
			if err := appendJSON(w, o.json, found.view, before == nil); err != nil {
				return err
			}
		}
		if o.json != "-" {
			if err := report.Top(w.stdout, found.view, report.TopOptions{TextOptions: textOptions(w), Rows: o.rows,
				Order: o.sort, Show: top.All, Selected: -1, Own: found.own}); err != nil {
				return err
			}
			fmt.Fprintln(w.stdout)
		}
		before = found.view
	}
	return nil
}

// untilGone takes the end of the target for the end of the looking, once something was seen of it.
func untilGone(err error, seen *top.View) error {
	if seen != nil && errors.Is(err, record.ErrGone) {
		return nil
	}
	return err
}
