// Command journal repeats the investigation of the write that took 147 ms (a Java service's time-outs, blamed on ext4's
// journal): a program that logs from five threads beside bulk writing and syncing, on a slow disk, under the file
// systems, journal modes and flush intervals of the published table, with stalls counted instead of calls. Then one
// recording of each variant says in which function of the kernel its lines waited.
//
//	go run ./cases/journal
//
// It needs root, gcc, cgroup 1's blkio for the slow disk, mkfs.ext4 and mkfs.xfs; all is put back. It says which
// variants could not be told apart. Exit status: 0 when at least handing the lines to a thread of its own is shown to
// help, as published; 2 else.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"culprit/recording"
)

// grounds are the published variants that are file systems; the first is the baseline.
var grounds = []string{"ext4@slow", "ext4:data=writeback@slow", "ext4:^has_journal@slow", "ext4:lazytime@slow",
	"xfs@slow"}

func main() {
	culprit := flag.String("bin", "bin/culprit", "the program to run")
	budget := flag.Duration("budget", 7*time.Minute, "time for the experiment")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *culprit, *budget); err != nil {
		fmt.Fprintf(os.Stderr, "journal: %v\n", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, culprit string, budget time.Duration) error {
	culprit, err := filepath.Abs(culprit)
	if err != nil {
		return err
	}
	if _, err := os.Stat(culprit); err != nil {
		return fmt.Errorf("%w; `make build` makes it", err)
	}
	folder, err := os.MkdirTemp("", "culprit-journal-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // what stays in /tmp does no harm
	program := filepath.Join(folder, "logwriter")
	build := exec.CommandContext(ctx, "gcc", "-O2", "-pthread", "-o", program, "cases/journal/programs/logwriter.c")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build logwriter: %w: %s", err, text)
	}
	fmt.Printf("Stalls over 10 ms of lines against their schedule, in 3 seconds of five threads\n\n")
	if err := try(ctx, folder, culprit, "--vary", "ground="+strings.Join(grounds, ","), "--vary", "mode=sync,async",
		"--vary", "vm.dirty_expire_centisecs=3000,80", "--washout", "0s", // each trial has a fresh file system
		"--metric", "latency.stalled", "--metric", "latency.stalls",
		"--latency", "lines,unit=us,limit=10ms", "--budget", budget.String(), "--case", "matrix",
		"--json", "matrix.json", "--", program+" 3 {mode}"); err != nil {
		return err
	}
	fmt.Printf("\nWhere the lines waited: the longest sleeps of slow writes, by kernel function\n")
	for _, ground := range grounds {
		if err := where(ctx, folder, culprit, program, ground); err != nil {
			return err
		}
	}
	return check(filepath.Join(folder, "matrix.json"))
}

// try runs an experiment; that a level is worse is an answer, not an error.
func try(ctx context.Context, folder, culprit string, words ...string) error {
	command := exec.CommandContext(ctx, culprit, append([]string{"try"}, words...)...)
	command.Dir, command.Stdout, command.Stderr = folder, os.Stdout, os.Stderr
	if err := command.Run(); err != nil && command.ProcessState.ExitCode() != 1 {
		return fmt.Errorf("culprit try: %w", err)
	}
	return nil
}

// where records one variant: the ground is made by an experiment whose command is the recorder.
func where(ctx context.Context, folder, culprit, program, ground string) error {
	file := filepath.Join(folder, "where.culprit")
	dir := filepath.Join(folder, "case-"+strings.NewReplacer(":", "-", "^", "no-").Replace(ground))
	command := exec.CommandContext(ctx, culprit, "try", "--vary", "ground="+ground, "--vary", "n=1,2", "--trials", "2",
		"--metric", "wall", "--case", dir,
		"--", fmt.Sprintf("%s record -f -o %s --slow 10ms -- %s 3 sync >/dev/null 2>&1 # {n}", culprit, file, program))
	command.Dir = folder
	if text, err := command.CombinedOutput(); err != nil && command.ProcessState.ExitCode() != 1 {
		return fmt.Errorf("record on %s: %w: %s", ground, err, text)
	}
	rec, err := recording.Open(file)
	if err != nil {
		return err
	}
	fmt.Printf("\n  %s\n", ground)
	found := waits(rec)
	for _, wait := range found[:min(4, len(found))] {
		fmt.Printf("    %7.0f ms in %3d stalls  %s\n", float64(wait.ns)/1e6, len(wait.stalls), wait.place)
	}
	if len(found) == 0 {
		fmt.Println("    no write took 10 ms")
	}
	return nil
}

// wait is one place where writes of lines slept.
type wait struct {
	place  string
	ns     int64
	stalls map[int32]bool
}

// waits adds up the longest sleeps of slow writes by the innermost functions of the kernel and who ended them.
func waits(rec *recording.Recording) []*wait {
	known := map[string]*wait{}
	var found []*wait
	for _, slow := range rec.Slow {
		if slow.Name != "write" || slow.Comm != "worker" || slow.LongestNs == 0 {
			continue
		}
		place := innermost(rec.StackNames(slow.Stack)) + ", woken by " + slow.WakerComm
		if slow.HopComm != "" {
			place += " behind " + innermost(rec.StackNames(slow.HopStack))
		}
		if known[place] == nil {
			known[place] = &wait{place: place, stalls: map[int32]bool{}}
			found = append(found, known[place])
		}
		known[place].ns += slow.LongestNs
		known[place].stalls[slow.Stall] = true
	}
	slices.SortFunc(found, func(a, b *wait) int { return int(b.ns - a.ns) })
	return found
}

// scheduling are the functions that every sleep ends in.
var scheduling = []string{"schedule", "__schedule", "io_schedule", "schedule_timeout", "io_schedule_timeout",
	"bit_wait", "bit_wait_io", "schedule_preempt_disabled"}

// innermost names the three innermost functions that say what is waited for.
func innermost(names []string) string {
	for len(names) > 0 && slices.Contains(scheduling, names[len(names)-1]) {
		names = names[:len(names)-1]
	}
	names = slices.Clone(names[max(0, len(names)-3):])
	slices.Reverse(names)
	return strings.Join(names, " < ")
}

// check says what could not be told apart, and holds the one verdict that is known.
func check(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var result struct {
		Effects []struct{ Factor, Level, Against, Metric, Verdict string } `json:"effects"`
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return err
	}
	var open []string
	helped := false
	for _, effect := range result.Effects {
		if effect.Metric != "latency.stalled" {
			continue
		}
		if effect.Verdict == "undecided" || effect.Verdict == "same" {
			open = append(open, effect.Level)
		}
		helped = helped || effect.Level == "async" && effect.Verdict == "better"
	}
	if len(open) > 0 {
		fmt.Printf("\nNot told apart from the baseline in this time: %s\n", strings.Join(open, ", "))
	}
	if !helped {
		return errors.New("handing the lines to a thread of its own is known to take the stalls away; it was not shown")
	}
	fmt.Println("\nThe verdict is the known one: a thread of its own takes the stalls away from those who log.")
	return nil
}
