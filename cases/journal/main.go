// Command journal repeats the investigation of the write that took 147 ms (a Java service's
// time-outs, blamed on ext4's journal): a C program and a Java one with log4j2 log from five
// threads each, beside bulk writing and syncing, on a slow disk, under the file systems, journal
// modes, flush intervals and appenders of the published table, with stalls counted and not only
// calls. Then recordings of each variant say which cause culprit names, and in which function of
// the kernel the lines waited.
//
//	go run ./cases/journal
//	go run ./cases/journal -quick    # a smoke run: three variants, nothing is decided
//	go run ./cases/journal -waits    # only the recordings
//
// It needs root, gcc, a JDK, Maven (once: log4j2 is kept in the user's cache), cgroup 1's blkio for
// the slow disk, mkfs.ext4 and mkfs.xfs; all is put back. It says which variants could not be told
// apart. Exit status: 0 when at least handing the lines to a thread of its own is shown to help in
// both programs, as published; 2 else.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"time"

	"culprit/cases/child"
)

type options struct {
	culprit string
	budget  time.Duration
	trials  int
	seconds float64 // of logging in each trial
	quick   bool
	waits   bool
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == trialVerb {
		exit(logBoth(context.Background(), os.Stdout, os.Args[2:]))
	}
	var o options
	flag.StringVar(&o.culprit, "bin", "bin/culprit", "the program to run")
	flag.DurationVar(&o.budget, "budget", 20*time.Minute, "most time for the experiment")
	flag.IntVar(&o.trials, "trials", 13, "trials of each variant; ten that count are the fewest that can decide seven "+
		"questions of two programs")
	flag.Float64Var(&o.seconds, "seconds", 2.5, "logging in each trial")
	flag.BoolVar(&o.quick, "quick", false, "three variants, two trials, one second: see that it works")
	flag.BoolVar(&o.waits, "waits", false, "only record which wait it is; decide nothing")
	flag.Parse()
	if o.quick {
		o.trials, o.seconds = 2, 1
	}
	child.Bind()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exit(run(ctx, o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "journal: %v\n", err)
		os.Exit(2)
	}
	os.Exit(0)
}

func run(ctx context.Context, o options) (err error) {
	if o.culprit, err = filepath.Abs(o.culprit); err != nil {
		return err
	}
	if _, err := os.Stat(o.culprit); err != nil {
		return fmt.Errorf("%w; `make build` makes it", err)
	}
	folder, err := os.MkdirTemp("", "culprit-journal-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // what stays in /tmp does no harm
	programs, err := build(ctx, folder)
	if err != nil {
		return err
	}
	variants, err := choose(o.quick)
	if err != nil {
		return err
	}
	if o.waits {
		return where(ctx, o, folder, programs, variants)
	}
	result, err := measure(ctx, o, folder, programs, variants)
	if err != nil {
		return err
	}
	if err := printTables(os.Stdout, result, variants); err != nil {
		return err
	}
	if err := where(ctx, o, folder, programs, variants); err != nil {
		return err
	}
	if o.quick {
		fmt.Println("\nA smoke run: with two trials nothing can be decided.")
		return nil
	}
	return check(result)
}

// measure runs the experiment that decides.
func measure(ctx context.Context, o options, folder string, p programs, variants []variant) (*result, error) {
	fmt.Printf("C and Java log from five threads each, 1000 lines a second and thread, beside 120 MB/s of bulk writing "+
		"and an fsync each 30 ms\nMilliseconds in which a line was late by more than 10 ms, and one, in %v s\n\n", o.seconds)
	words := append(factors(variants), "--metric", pattern("C"), "--metric", pattern("Java"),
		"--trials", strconv.Itoa(o.trials), "--budget", o.budget.String(), "--case", "matrix", "--")
	words = append(words, p.both(o.seconds)...)
	command := child.Command(ctx, o.culprit, append([]string{"try"}, words...)...)
	command.Dir, command.Stdout, command.Stderr = folder, os.Stdout, os.Stderr
	// Status 1 says that a level is worse: an answer, not an error.
	if err := command.Run(); err != nil && command.ProcessState.ExitCode() != 1 {
		return nil, fmt.Errorf("culprit try: %w", err)
	}
	return readResult(filepath.Join(folder, "matrix"))
}

// check says what could not be told apart, and holds the one verdict that is known.
func check(r *result) error {
	for _, program := range programNames {
		if !r.is("appender", "Async", program, "better") {
			return fmt.Errorf("handing the lines to a thread of its own is known to take the stalls away; it was not shown "+
				"for %s", program)
		}
	}
	fmt.Println("\nThe verdict is the known one: a thread of its own takes the stalls away from those who log.")
	return nil
}
