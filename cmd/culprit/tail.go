package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"culprit/internal/record"
	"culprit/internal/report"
	"culprit/internal/tail"
	"culprit/recording"
)

// tailOptions is what may be typed for tail.
type tailOptions struct {
	record.Options
	pid      int
	cgroup   string
	duration time.Duration
	over     time.Duration
	worst    string
	out      string
	force    bool
	json     string
	html     string
	progress int // a descriptor; 0: none
	maxCost  string
	budget   float64 // of maxCost

	news   *news
	target record.Target
	file   string // a recording instead of a target
}

func tailVerb(w world) *cobra.Command {
	var o tailOptions
	command := &cobra.Command{
		Use:   "tail [-p PID | --cgroup DIR | port:N | unit:NAME | FILE.culprit]",
		Short: "Why the slow requests of a running service are slow",
		Long: `Follows the requests of a service on its sockets, without its help, and compares within one
recording the slow requests of each kind with ordinary ones: what they waited for more, where, and
who held them. Slow are those over --over, else the --worst share of each kind.

A recording that was made with 'culprit record --requests' is judged instead where one is given.
Exit status 0, also with suspects; 2 error.`,
		Example: `  culprit tail -p 1 -d 1s
  culprit record --requests -o sleep.culprit -- sleep 0.2
  culprit tail sleep.culprit
  culprit tail --html sleep.html sleep.culprit`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := o.check(args); err != nil {
				return err
			}
			if o.news, err = openNews(o.progress); err != nil {
				return err
			}
			return runTail(cmd.Context(), w, o)
		},
	}
	flags := command.Flags()
	flags.IntVarP(&o.pid, "pid", "p", 0, "this process and its children")
	flags.StringVar(&o.cgroup, "cgroup", "", "this cgroup: a directory below /sys/fs/cgroup")
	flags.DurationVarP(&o.duration, "duration", "d", time.Minute, "how long to watch")
	flags.DurationVar(&o.over, "over", 0, "requests that took as long are slow")
	flags.StringVar(&o.worst, "worst", "1%", "without --over: this share of each kind is slow")
	flags.IntVarP(&o.Hz, "rate", "F", 199, "samples per second and CPU")
	flags.StringVar(&o.maxCost, "max-cost", "",
		"watch requests in slices of time, then give up probes, when watching costs more than this, such as 1%")
	flags.StringVarP(&o.out, "out", "o", "", "keep the recording in this file")
	flags.StringVar(&o.html, "html", "", "write a page to this file: latencies, their course, the slowest as lines")
	flags.BoolVarP(&o.force, "force", "f", false, "overwrite the recording and the page")
	newsFlag(flags, &o.progress)
	flags.StringVar(&o.json, "json", "", "write the result as JSON to this file, - for standard output")
	return command
}

// check resolves what was typed; an error names the flag and the way out.
func (o *tailOptions) check(args []string) (err error) {
	given := len(args)
	for _, set := range []bool{o.pid != 0, o.cgroup != ""} {
		if set {
			given++
		}
	}
	switch {
	case given == 0:
		return fmt.Errorf("no service given; give -p PID, --cgroup DIR, port:N, unit:NAME, or a recording")
	case given > 1:
		return fmt.Errorf("give only one of: -p, --cgroup, port:N, unit:NAME, a recording")
	case o.duration <= 0:
		return fmt.Errorf("duration %v is not positive; give one such as -d 60s", o.duration)
	case o.over < 0:
		return fmt.Errorf("--over %v is negative; give a time such as --over 50ms", o.over)
	case o.Hz == 0:
		return fmt.Errorf("-F 0 takes no samples; give a rate between 1 and %d", record.MaxHz)
	}
	if o.Worst, err = parsePercent(o.worst); err != nil || o.Worst > 0.5 {
		return fmt.Errorf("--worst %q is no share of the requests; give one up to 50%% such as 1%%", o.worst)
	}
	if o.maxCost != "" {
		if o.budget, err = parsePercent(o.maxCost); err != nil {
			return err
		}
	}
	o.Over, o.Requests = o.over, true
	o.Wait = time.Millisecond
	if o.over > 0 { // of requests that are slow at 2 ms a wait of half a millisecond says something
		o.Wait = min(o.Wait, max(o.over/10, 100*time.Microsecond))
	}
	if _, err := o.Normal(); err != nil {
		return err
	}
	if err := o.resolve(args); err != nil {
		return err
	}
	if o.json != "" && o.json != "-" {
		if err := checkOutput(o.json, true); err != nil {
			return err
		}
	}
	if o.html != "" {
		if err := checkOutput(o.html, o.force); err != nil {
			return err
		}
	}
	if o.out != "" {
		return checkRecording(o.out, o.force)
	}
	return nil
}

// resolve finds the service.
func (o *tailOptions) resolve(args []string) error {
	name := fmt.Sprintf("pid:%d", o.pid)
	switch {
	case o.cgroup != "":
		name = "cgroup:" + o.cgroup
	case len(args) > 0:
		name = args[0]
	}
	target, named, err := record.ParseTarget(name)
	switch {
	case err != nil:
		return err
	case named:
		o.target = target
		if target.Pid > 0 {
			o.RunTimes = record.RunTimesOf(target.Pid)
		}
	case o.out != "":
		return fmt.Errorf("-o keeps what is recorded; %s is a recording already", name)
	case strings.HasSuffix(name, ".culprit"):
		o.file = name
	default:
		return fmt.Errorf("%q is no service; give pid:N, cgroup:DIR, port:N, unit:NAME, or a recording (FILE.culprit)", name)
	}
	return nil
}

func runTail(ctx context.Context, w world, o tailOptions) error {
	rec, err := o.evidence(ctx, w)
	if err != nil {
		return err
	}
	if rec.Requests == nil {
		return fmt.Errorf("no requests in %s: %s", o.file, whyNoRequests(rec))
	}
	options := tail.Options{Over: o.over, Worst: o.Worst}
	result := tail.Explain(rec, options)
	if o.html != "" {
		if err := report.TailHTML(o.html, result, rec, options); err != nil {
			return err
		}
	}
	if o.json != "-" {
		if err := report.Tail(w.stdout, result, textOptions(w)); err != nil {
			return err
		}
	}
	if o.json == "" {
		return nil
	}
	return writeJSON(w, o.json, result)
}

// whyNoRequests says what a recording lacks.
func whyNoRequests(rec *recording.Recording) string {
	for _, probe := range rec.Manifest.Probes {
		if probe.Name == "requests" && !probe.On {
			return probe.Why
		}
	}
	return "make the recording with `culprit record --requests`"
}

// evidence reads the recording, or makes one.
func (o *tailOptions) evidence(ctx context.Context, w world) (*recording.Recording, error) {
	if o.file != "" {
		return recording.Open(o.file)
	}
	o.Program = "culprit " + version
	if err := record.Permitted(); err != nil {
		return nil, err
	}
	path := o.out
	if path == "" {
		folder, err := os.MkdirTemp("", "culprit-tail-")
		if err != nil {
			return nil, fmt.Errorf("make a folder for the recording: %w", err)
		}
		defer os.RemoveAll(folder)
		path = filepath.Join(folder, "tail.culprit")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find folder of %s: %w", o.out, err)
	}
	if err := record.NoParts(path); err != nil {
		return nil, err
	}
	if err := o.record(ctx, w, path); err != nil {
		return nil, err
	}
	o.file = path
	return recording.Open(path)
}

func (o *tailOptions) record(ctx context.Context, w world, path string) error {
	o.news.expects(o.duration)
	o.news.stage("loading the recorder")
	recorder, err := record.Start(ctx, o.Options)
	if err != nil {
		return err
	}
	defer recorder.Close()
	for _, probe := range recorder.Probes {
		if probe.Name == "requests" && !probe.On {
			return fmt.Errorf("requests cannot be followed here: %s", probe.Why)
		}
	}
	run := &record.Run{Recorder: recorder, Target: o.target, Path: path, Duration: o.duration, Hz: o.Hz,
		MaxCost: o.budget}
	if err := run.Begin(ctx); err != nil {
		return err
	}
	o.news.stage("watching requests")
	progress := newProgress(w, "watching", o.duration)
	run.Say = progress.says(w)
	err = run.Watch(ctx)
	progress.end()
	if err != nil {
		return fmt.Errorf("tail: %w", err)
	}
	o.news.stage("writing the recording")
	summary, err := run.Finish(context.WithoutCancel(ctx))
	if err != nil {
		return fmt.Errorf("tail: %w", err)
	}
	printAbsent(w, o.target, summary.Restarts, "what follows is of the time before")
	if summary.Ended && !o.target.ComesBack() {
		fmt.Fprintf(w.stderr, "culprit: the service ended after %v: what follows is of the time before\n",
			time.Duration(summary.WindowNs).Round(100*time.Millisecond))
	}
	return nil
}
