// Command lineup is the scoreboard of culprit: it runs `culprit investigate`
// on scenarios whose culprit is known and says how often it is named.
//
// A scenario is a folder beside this file with a scenario.yaml: two commands,
// how to build them, and the truth (outcome, accepted causes, place). Only this
// program and those files know the truth; with -rename nothing that culprit
// gets to see is even called by its name.
//
//	go run ./lineup                          all scenarios; exit status 1 when a truth is missed
//	go run ./lineup -run '^lock-'            those whose folder's name matches
//	go run ./lineup -family lock,runtime.gc  those that plant a cause of these families, or one of these causes
//	go run ./lineup -aa 20                   20 investigations of pairs without a difference
//	go run ./lineup -effect 7                plain timing of the planted effects, without culprit
//	go run ./lineup -releases                published slow releases and settings, see lineup/releases/README.md
//	go run ./lineup -tail                    culprit tail on services of which some requests are slow, lineup/tail
//	go run ./lineup -corpus DIR              keep what was judged right in a corpus, internal/cause/testdata/corpus
//	go run ./lineup -corpus DIR -from OUT    the same with the cases of an earlier lineup: OUT/SCENARIO/case
//	go run ./lineup -ablate                  what each rule and threshold is good for: which verdicts on the corpus of
//	                                         judgements change without it; -only REGEX, -jobs N, -list
//
// It refuses scenarios with unknown fields and answers that do not follow the
// contract of `investigate --json`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"culprit/lineup/ablate"
)

// The statuses with which the command exits.
const (
	exitRight  = 0
	exitMissed = 1 // a truth was missed
	exitError  = 2
)

// releasesRoot is where the pairs lie that were published by others.
const releasesRoot = "lineup/releases"

// Options is what may be asked for on the command line.
type Options struct {
	run, family, program, out, root, packages, prove, extra, only, corpus, from string
	budget                                                                      time.Duration
	repeats, alike, effectPairs, jobs                                           int
	renames, show, list, ablate, releases, tail                                 bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Stdout, os.Stderr, os.Args[1:])
	stop()
	os.Exit(status)
}

func run(ctx context.Context, stdout, stderr io.Writer, arguments []string) int {
	options, err := parseOptions(stderr, arguments)
	if errors.Is(err, flag.ErrHelp) {
		return exitRight
	}
	status := exitError
	if err == nil {
		status, err = act(ctx, stdout, options)
	}
	if err != nil {
		fmt.Fprintln(stderr, "lineup:", err)
		return exitError
	}
	return status
}

func parseOptions(stderr io.Writer, arguments []string) (Options, error) {
	var o Options
	flags := flag.NewFlagSet("lineup", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.run, "run", "", "only scenarios whose name matches this regular expression")
	flags.StringVar(&o.family, "family", "",
		"only these families, separated by commas: lock, gc, runtime.gc, or same for pairs without a difference")
	flags.StringVar(&o.program, "bin", "bin/culprit", "the culprit to be tested")
	flags.StringVar(&o.root, "root", "lineup", "folder of the scenarios")
	flags.StringVar(&o.packages, "packages", "lineup/out/_packages",
		"folder in which the releases that are compared are installed, and kept for the next time")
	flags.StringVar(&o.out, "out", "lineup/out",
		"folder for programs, cases and results; a folder in it where another lineup is at work there")
	flags.StringVar(&o.prove, "prove", "none", "passed on to culprit: auto or none")
	flags.StringVar(&o.extra, "extra", "", "further arguments of culprit investigate, separated by spaces")
	flags.DurationVar(&o.budget, "budget", time.Minute, "passed on to culprit")
	flags.IntVar(&o.repeats, "count", 1, "how often each scenario is investigated")
	flags.IntVar(&o.alike, "aa", 0, "investigate only pairs without a difference, this often in all")
	flags.IntVar(&o.effectPairs, "effect", 0, "time the scenarios in this many pairs, without culprit")
	flags.BoolVar(&o.renames, "rename", false, "hide sources, programs and arguments behind random names")
	flags.BoolVar(&o.show, "show", false, "let culprit print to the terminal")
	flags.BoolVar(&o.releases, "releases", false, "the published releases and settings in lineup/releases")
	flags.BoolVar(&o.list, "list", false, "list the scenarios and their truths; with -ablate what can be varied")
	flags.StringVar(&o.corpus, "corpus", "", "write each judgement that was right into this folder, with the truth")
	flags.StringVar(&o.from, "from", "", "with -corpus: investigate nothing, take the cases in this folder of results")
	flags.BoolVar(&o.ablate, "ablate", false,
		"judge the corpus without each rule and with each threshold ± 25 %, and list the verdicts that change")
	flags.BoolVar(&o.tail, "tail", false, "culprit tail on the services in lineup/tail, each for the budget")
	flags.StringVar(&o.only, "only", "",
		"with -ablate: only what matches this regular expression, such as 'rule', 'cause.leastShare' or 'name .*locks'")
	flags.IntVar(&o.jobs, "jobs", 0, "with -ablate: variants at a time, 0 for one a CPU")
	if err := flags.Parse(arguments); err != nil {
		return Options{}, err
	}
	rooted := false
	flags.Visit(func(f *flag.Flag) { rooted = rooted || f.Name == "root" })
	if o.releases && !rooted {
		o.root = releasesRoot
	}
	switch {
	case o.releases && rooted:
		return Options{}, errors.New("-releases is -root " + releasesRoot + ": give one of the two")
	case flags.NArg() > 0:
		return Options{}, fmt.Errorf("unexpected argument %q: name scenarios by -run REGEX", flags.Arg(0))
	case o.repeats < 1 || o.alike < 0 || o.effectPairs < 0:
		return Options{}, errors.New("-count must be at least 1, -aa and -effect at least 0")
	case o.from != "" && o.corpus == "":
		return Options{}, errors.New("-from goes with -corpus")
	case o.jobs < 0 || !o.ablate && (o.only != "" || o.jobs != 0):
		return Options{}, errors.New("-only and -jobs go with -ablate; -jobs must be at least 0")
	case o.prove != "auto" && o.prove != "none":
		return Options{}, fmt.Errorf("-prove %q: must be auto or none", o.prove)
	}
	return o, nil
}

func act(ctx context.Context, stdout io.Writer, o Options) (int, error) {
	if o.ablate {
		return o.vary(ctx, stdout)
	}
	if o.tail {
		return o.tails(ctx, stdout)
	}
	scenarios, err := loadScenarios(o.root, o.run)
	if err != nil {
		return exitError, err
	}
	if scenarios, err = ofFamilies(scenarios, o.family); err != nil {
		return exitError, err
	}
	if o.list {
		return exitRight, writeList(stdout, scenarios)
	}
	if o.corpus != "" && !fileExists(o.corpus) {
		return exitError, fmt.Errorf("-corpus %s: there is no such folder", o.corpus)
	}
	if o.from != "" {
		return keepAll(stdout, o, scenarios)
	}
	removeLeftGroups(cgroupRoot)
	folder, err := reserve(o.out)
	if err != nil {
		return exitError, err
	}
	defer folder.release()
	if folder.path != o.out {
		fmt.Fprintf(stdout, "another lineup is at work in %s: results go to %s\n", o.out, folder.path)
	}
	o.out = folder.path
	round := round{options: o, programs: findPrograms(ctx), stdout: stdout}
	if o.effectPairs > 0 {
		return round.timeEffects(ctx, scenarios)
	}
	program, err := filepath.Abs(o.program)
	if err != nil || !fileExists(program) {
		return exitError, fmt.Errorf("no culprit at %s: run `make build` first, or name another one by -bin", o.program)
	}
	round.investigator = Investigator{program: program, budget: o.budget, prove: o.prove,
		extra: strings.Fields(o.extra)}
	if o.show {
		round.investigator.show = stdout
	}
	if o.alike > 0 {
		return round.investigateAlike(ctx, scenarios)
	}
	return round.investigateAll(ctx, scenarios)
}

// vary says what each rule and each threshold of a judgement is good for.
func (o Options) vary(ctx context.Context, stdout io.Writer) (int, error) {
	folder, err := reserve(o.out)
	if err != nil {
		return exitError, err
	}
	defer folder.release()
	options := ablate.Options{Root: ".", Out: folder.path, Only: o.only, Pairs: o.run, Jobs: o.jobs, List: o.list}
	if err := ablate.Run(ctx, stdout, options); err != nil {
		return exitError, err
	}
	return exitRight, nil
}

func writeList(w io.Writer, scenarios []Scenario) error {
	for _, s := range scenarios {
		truth := s.Truth.Outcome
		if len(s.Truth.Causes) > 0 {
			truth = strings.Join(s.Truth.Causes, " or ") + " at " + s.Truth.Place
		}
		if _, err := fmt.Fprintf(w, "%-20s %s\n%-20s   truth: %s\n", s.Name, s.Title, "", truth); err != nil {
			return fmt.Errorf("write list: %w", err)
		}
	}
	return nil
}
