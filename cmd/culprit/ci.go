package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"culprit/internal/ci"
	"culprit/internal/investigate"
	"culprit/internal/report"
)

// ciFlags is what may be typed for ci.
type ciFlags struct {
	a, b     string
	baseline string
	hub      hubFlags
	save     bool
	keep     int
	metric   string
	failOver string
	budget   time.Duration
	timeout  time.Duration
	seed     int64
	dir      string
	picture  string
	json     string
	load     loadFlags
}

func ciVerb(w world) *cobra.Command {
	var f ciFlags
	command := &cobra.Command{
		Use:   "ci (--a CMD --b CMD | --baseline DIR|NAME [--hub URL] [--save] -- CMD…)",
		Short: "May this change be merged: a summary for a comment, and an exit status",
		Long: `Runs A against itself first: where the noise of this host hides a change of twice --fail-over, it
refuses, with status 2, and says which change it could show. Then A and B run in random order, as
with investigate. It prints a summary in Markdown, and keeps it with a picture and the reports.

With --baseline only one command runs. What was stored before by --save on the same kind of host
is what it is held against; the stored batches among themselves say what this host can show.
They lie in a directory, or, with --hub, in a hub under a name.

Exit status: 0 not worse by more than --fail-over, 1 surely worse by more, 2 error or not judged.`,
		Example: `  culprit ci --a 'sleep 0.05' --b 'sleep 0.051' --fail-over 20% --budget 20s
  culprit ci --baseline stored --save --budget 5s -- sleep 0.05`,
		RunE: func(cmd *cobra.Command, args []string) error { return runCI(cmd.Context(), w, f, args) },
	}
	flags := command.Flags()
	flags.StringVar(&f.a, "a", "", "side A, what is good: a shell command")
	flags.StringVar(&f.b, "b", "", "side B, the change: a shell command")
	flags.StringVar(&f.baseline, "baseline", "", "directory of stored batches, or their name in --hub, instead of side A")
	f.hub.defineHub(flags, "token-file", "file with a token of the hub: scope baseline, or read where nothing is saved")
	flags.BoolVar(&f.save, "save", false, "measure, and add it to the baseline")
	flags.IntVar(&f.keep, "batches", 20, "batches that --save leaves in the baseline, the latest")
	flags.StringVar(&f.failOver, "fail-over", "5%", "fail when B is surely worse by more than this")
	flags.StringVar(&f.metric, "metric", "auto", "wall, cpu, auto for both, or NAME=REGEX[,higher]")
	flags.DurationVar(&f.budget, "budget", 2*time.Minute, "time for all: a third goes to A against itself")
	flags.DurationVar(&f.timeout, "timeout", 0, "longest time for one run (default: the budget)")
	flags.Int64Var(&f.seed, "seed", 0, "seed of the order of runs (default: a random one)")
	flags.StringVar(&f.dir, "case", "", "directory to make (default: culprit-ci- and the time)")
	flags.StringVar(&f.picture, "picture-url", "", "where the picture will be, for the summary (default: the file)")
	flags.StringVar(&f.json, "json", "", "write the result as JSON to this file, - for standard output")
	f.load.define(flags)
	return command
}

func runCI(ctx context.Context, w world, f ciFlags, args []string) error {
	options, err := f.options(args)
	if err != nil {
		return err
	}
	if err := f.hub.readToken(); err != nil {
		return err
	}
	progress := newProgress(w, "checking", options.Budget)
	options.Progress = progress.describe
	options.Write = writeCase
	var result *ci.Result
	switch {
	case f.save && f.hub.Hub != "":
		defer progress.end()
		return f.saveInHub(ctx, w, options)
	case f.save:
		defer progress.end()
		return f.saveBatch(ctx, w, options)
	case f.hub.Hub != "":
		result, err = f.againstHub(ctx, options)
	case f.baseline != "":
		result, err = f.againstBaseline(ctx, options)
	default:
		result, err = ci.Compare(ctx, options)
	}
	progress.end()
	if err != nil {
		return err
	}
	if err := f.tell(w, result); err != nil {
		return err
	}
	switch result.Outcome {
	case investigate.Worse:
		return errWorse
	case ci.Refused:
		return fmt.Errorf("not judged: %s; use a quieter host, longer runs, a longer --budget, or a larger --fail-over",
			result.Why)
	}
	return nil
}

// options resolves what was typed.
func (f ciFlags) options(args []string) (ci.Options, error) {
	o := ci.Options{Dir: f.dir}
	o.Budget, o.Timeout, o.Seed, o.Program = f.budget, f.timeout, f.seed, "culprit "+version
	o.Prove = investigate.ProveNone
	two := f.a != "" || f.b != ""
	if f.hub.Hub != "" {
		if err := f.hub.Check(); err != nil {
			return o, err
		}
	}
	switch {
	case two && (f.baseline != "" || len(args) > 0):
		return o, errors.New("give --a and --b, or --baseline DIR and a command after --, not both")
	case two && (f.a == "" || f.b == ""):
		return o, errors.New("one side only; give --a CMD and --b CMD")
	case !two && (f.baseline == "" || len(args) == 0):
		return o, errors.New("nothing to compare; give --a CMD --b CMD, or --baseline DIR and a command after --")
	case f.baseline == "" && (f.hub.Hub != "" || f.hub.tokenFile != ""):
		return o, errors.New("--hub is for a stored baseline; give its name with --baseline NAME")
	case f.save && f.baseline == "":
		return o, errors.New("--save has no place; give --baseline DIR")
	case f.keep < ci.LeastBatches:
		return o, fmt.Errorf("--batches %d: give %d or more, with fewer there is no spread", f.keep, ci.LeastBatches)
	}
	o.A, o.B = f.a, f.b
	if !two {
		o.A = shellLine(args)
	}
	var err error
	if o.FailOver, err = fraction("--fail-over", f.failOver); err != nil {
		return o, err
	}
	if o.Metric, err = investigate.ParseMetric(f.metric); err != nil {
		return o, err
	}
	if o.Load, err = f.load.plan(); err != nil {
		return o, err
	}
	if o.Dir == "" {
		o.Dir = "culprit-ci-" + time.Now().Format("20060102-150405")
	}
	if o.Seed == 0 {
		o.Seed = randomSeed()
	}
	if f.json != "" && f.json != "-" {
		if err := checkOutput(f.json, true); err != nil {
			return o, err
		}
	}
	o.Smallest = ci.MustShow(o.FailOver)
	return o, o.Check()
}

// tell writes the summary, the picture and the document into the directory, and the summary to
// standard output.
func (f ciFlags) tell(w world, result *ci.Result) error {
	shown := report.CIOptions{Picture: "picture.svg", Page: filepath.Join(result.Dir, "case", "report.html")}
	if f.picture != "" {
		shown.Picture = f.picture
	}
	if result.Outcome == ci.Refused && result.Batches == 0 {
		shown.Page = filepath.Join(result.Dir, "noise", "report.html")
	}
	summary := func(out io.Writer) error { return report.CISummary(out, result, shown) }
	document := func(out io.Writer) error { return report.CIDocument(out, result) }
	picture := func(out io.Writer) error { return report.CIPicture(out, result) }
	for name, write := range map[string]func(io.Writer) error{"summary.md": summary, "picture.svg": picture,
		"ci.json": document} {
		if err := writeFile(filepath.Join(result.Dir, name), write); err != nil {
			return err
		}
	}
	if f.json != "" {
		if err := writeOut(w, f.json, document); err != nil || f.json == "-" {
			return err
		}
	}
	if f.picture == "" { // from here, and not from beside it
		shown.Picture = filepath.Join(result.Dir, "picture.svg")
	}
	return report.CISummary(w.stdout, result, shown)
}
