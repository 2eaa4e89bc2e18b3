package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"culprit/internal/bisect"
	"culprit/internal/investigate"
	"culprit/internal/report"
	"culprit/internal/try"
)

// bisectFlags is what may be typed for bisect.
type bisectFlags struct {
	bisect.Options
	versions      string
	smallest      string
	noInvestigate bool
	caseDir       string
	resume        string
	json          string
}

func bisectVerb(w world) *cobra.Command {
	var f bisectFlags
	command := &cobra.Command{
		Use:   "bisect --good REV --bad REV [--package ECOSYSTEM:NAME] -- CMD…",
		Short: "Which commit, or which version of a package, made it slower",
		Long: `Finds the commit between two revisions, or the published version of a package, that made a command
slower. Each step runs the candidate and both ends in random order, until it is clear which end
the candidate is like; close answers are doubted and asked again. Several culprits are found one
after the other. Commits are built in worktrees of a repository of culprit's own: the user's
working tree is not touched. A candidate that cannot be built is skipped. What the search will
take is told before it begins, and --resume goes on after a kill.

The culprit is then investigated against the one before it, and the hunks of its change that
touch the function that grew are shown.

    culprit bisect --good v1.4 --bad v1.9 --build 'make -j4' -- ./bench
    culprit bisect --package pypi:pyparsing --good 2.4.0 --bad 3.0.6 -- python3 bench.py

Builds, installations and runs have CULPRIT_DIR, CULPRIT_VERSION and CULPRIT_PACKAGE in their environment;
{dir}, {version} and {package} in a command stand for these variables.

Exit status: 0 nothing is worse, 1 the bad end is worse than the good one, 2 error.`,
		Example: `  culprit bisect --package npm:sleeper --versions 1,2,3 --good 1 --bad 3 --install true ` +
			`--no-investigate -- 'sleep 0.0$CULPRIT_VERSION'`,
		RunE: func(cmd *cobra.Command, args []string) error { return runBisect(cmd.Context(), w, f, args) },
	}
	f.define(command)
	return command
}

func (f *bisectFlags) define(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.Good, "good", "", "revision, or version, that is fast")
	flags.StringVar(&f.Bad, "bad", "", "revision, or version, that is slow")
	flags.StringVar(&f.Repo, "repo", "", "git repository (default: the one of the current folder)")
	flags.StringVar(&f.Build, "build", "",
		"shell command that builds a commit, in its own folder; one that fails skips it")
	flags.StringVar(&f.Order, "order", "",
		"first-parent or topological: how commits are put in a line (default: first-parent where it leads to the good end)")
	flags.StringVar(&f.Package, "package", "",
		"pypi:NAME, npm:NAME, go:PATH, maven:GROUP:ARTIFACT or crate:NAME: versions, not commits")
	flags.StringVar(&f.Install, "install", "",
		"shell command that installs a version into {dir} (default: the ecosystem's own way)")
	flags.StringVar(&f.versions, "versions", "", "these versions in this order, V1,V2,…, instead of the registry's")
	flags.BoolVar(&f.Pre, "pre", false, "also versions before a release: alpha, beta, rc")
	flags.StringVar(&f.MetricText, "metric", "auto",
		"auto, wall, cpu, or NAME=REGEX[,higher]: a number that the command prints")
	flags.StringVar(&f.smallest, "smallest", "2%", "smallest difference that counts")
	flags.IntVar(&f.Trials, "trials", 100, "most blocks of one comparison of two candidates")
	flags.DurationVar(&f.Timeout, "timeout", 10*time.Minute,
		"longest time for one run; a candidate that takes longer is skipped")
	flags.DurationVar(&f.BuildLimit, "build-timeout", time.Hour, "longest time for one build")
	flags.Int64Var(&f.Seed, "seed", 0, "seed of the order of runs (default: a random one, printed)")
	flags.StringVar(&f.Cache, "cache", "", "folder for builds (default: culprit/bisect in the user's cache folder)")
	flags.BoolVar(&f.Keep, "keep", false, "keep all builds, for the next search")
	flags.BoolVar(&f.noInvestigate, "no-investigate", false, "do not look for the suspect inside the culprit")
	flags.StringVar(&f.caseDir, "case", "", "directory to make (default: culprit-bisect- and the time)")
	flags.StringVar(&f.resume, "resume", "", "go on with the search in this directory")
	flags.StringVar(&f.json, "json", "", "write the result as JSON to this file, - for standard output")
}

// options resolves what was typed.
func (f bisectFlags) options(args []string) (bisect.Options, error) {
	o := f.Options
	if f.resume != "" {
		if len(args) > 0 || o.Good != "" || o.Bad != "" || f.caseDir != "" {
			return o, errors.New("--resume goes on with what stands in the directory; give it alone, or with --json")
		}
		o.Case, o.Resume = f.resume, true
		return o, nil
	}
	o.Program, o.Investigate = "culprit "+version, !f.noInvestigate
	o.Case = f.caseDir
	if o.Case == "" {
		o.Case = "culprit-bisect-" + time.Now().Format("20060102-150405")
	}
	var err error
	if o.Smallest, err = try.ParsePart(f.smallest); err != nil {
		return o, fmt.Errorf("smallest difference %w", err)
	}
	if o.Folder, err = os.Getwd(); err != nil {
		return o, fmt.Errorf("find current folder: %w", err)
	}
	if o.Cache == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return o, fmt.Errorf("find folder for builds: %w; give --cache DIR", err)
		}
		o.Cache = filepath.Join(cache, "culprit", "bisect")
	}
	if o.Cache, err = filepath.Abs(o.Cache); err != nil {
		return o, fmt.Errorf("find folder for builds: %w", err)
	}
	if o.Seed == 0 {
		o.Seed = randomSeed()
	}
	for _, one := range strings.FieldsFunc(f.versions, func(r rune) bool { return r == ',' }) {
		o.Versions = append(o.Versions, strings.TrimSpace(one))
	}
	o.Words = args
	return o, nil
}

func runBisect(ctx context.Context, w world, f bisectFlags, args []string) error {
	if f.json != "" && f.json != "-" {
		if err := checkOutput(f.json, true); err != nil {
			return err
		}
	}
	options, err := f.options(args)
	if err != nil {
		return err
	}
	progress := newProgress(w, "bisecting", time.Hour)
	options.Progress = progress.describe
	options.Listed = func(steps int, order string) {
		if isTerminal(w.stderr) {
			progress.hide()
			fmt.Fprintf(w.stderr, "culprit: %s\n", report.BisectListed(steps, order))
		}
	}
	options.Estimated = func(e bisect.Estimate) {
		progress.hide()
		progress.expect(time.Duration(e.Seconds * float64(time.Second)))
		fmt.Fprintf(w.stderr, "culprit: %s\n", report.BisectEstimate(e))
	}
	options.Write = func(dir string, c *investigate.Case) error {
		toJSON := func(out io.Writer) error { return report.JSON(out, c) }
		if err := writeFile(filepath.Join(dir, "case.json"), toJSON); err != nil {
			return err
		}
		return report.HTML(filepath.Join(dir, "report.html"), c)
	}
	result, err := bisect.Run(ctx, options)
	progress.end()
	if err != nil {
		return err
	}
	if f.json != "" {
		if err := writeJSON(w, f.json, result); err != nil {
			return err
		}
	}
	if f.json != "-" {
		if err := report.Bisect(w.stdout, result, textOptions(w)); err != nil {
			return err
		}
	}
	if result.Outcome == bisect.Worse {
		return errWorse
	}
	return nil
}
