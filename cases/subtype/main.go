// Command subtype repeats the investigation of one cache line in a JVM (three times the CPUs, a
// quarter more throughput), JDK-8180450: the one-entry cache of secondary supertypes, in the
// metadata of a class, that threads write. It asks each JVM that is installed, with a program that
// flips the cache and with a variant that does the same work and does not: how it scales, which
// line is named, and what the flipping costs.
//
// At last it compares two processes of one program (in C) whose memory is laid out otherwise, as
// that of a class in the JVM is, too: `cases/bands` shows it of 40 JVMs.
//
//	go run ./cases/subtype
//	go run ./cases/subtype -luck   # only those two processes
//
// It needs root for recording, gcc, a javac, and two JVMs to compare: one of before 23, which has
// the fault. Exit status: 0 when the class and field are named where the fault is, and neither in
// the variant nor without it, and of the two processes the line and that their layout is what
// differs; 2 else.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"culprit/cases/child"
)

const (
	flips = "flip"
	asks  = "one" // the variant
	// cache is what has to be named; fixed is the first JVM without it.
	cache = "Subtype$Order::_secondary_super_cache"
	fixed = 23
)

type subtype struct {
	culprit, folder string
	rounds          int
	thousands       string
	out             io.Writer
}

// jvm is one that is installed.
type jvm struct {
	java    string
	release int
}

func main() {
	s := subtype{out: os.Stdout}
	flag.StringVar(&s.culprit, "bin", "bin/culprit", "the program to run")
	flag.IntVar(&s.rounds, "rounds", 3, "runs with one thread and with two, in turn, and recordings")
	lucky := flag.Bool("luck", false, "only two processes of one program whose layout differs by luck (needs gcc, no JVM)")
	thousands := flag.Int("thousands", 30_000, "thousands of pairs of checks in a run, of all threads together")
	flag.Parse()
	s.thousands = strconv.Itoa(*thousands)
	child.Bind()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := s.run(ctx, *lucky); err != nil {
		fmt.Fprintf(os.Stderr, "subtype: %v\n", err)
		os.Exit(2)
	}
}

func (s *subtype) run(ctx context.Context, lucky bool) (err error) {
	if s.culprit, err = filepath.Abs(s.culprit); err != nil {
		return err
	}
	if _, err := os.Stat(s.culprit); err != nil {
		return fmt.Errorf("%w; `make build` makes it", err)
	}
	if s.folder, err = os.MkdirTemp("", "culprit-subtype-*"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(s.folder) }() // what stays in /tmp does no harm
	if lucky {
		return s.luck(ctx)
	}
	return errors.Join(s.ofJVMs(ctx), s.luck(ctx))
}

// ofJVMs asks each JVM that is installed, and what the flipping costs the one with the fault.
func (s *subtype) ofJVMs(ctx context.Context) error {
	build := child.Command(ctx, "javac", "--release", "17", "-d", s.folder, "cases/subtype/programs/Subtype.java")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build Subtype: %w: %s", err, text)
	}
	var wrong []error
	var faulty *jvm
	for _, one := range s.jvms(ctx) {
		fmt.Fprintf(s.out, "JVM %d, %s\n", one.release, one.java)
		if one.release < fixed {
			faulty = &one
		}
		wrong = append(wrong, s.ask(ctx, one))
	}
	if faulty == nil {
		return errors.Join(append(wrong, fmt.Errorf("no JVM of before %d below /usr/lib/jvm: none has the fault", fixed))...)
	}
	fmt.Fprintf(s.out, "\nWhat the flipping costs JVM %d: A is the variant, B flips\n\n", faulty.release)
	investigate := child.Command(ctx, s.culprit, "investigate", "--metric", "cpu", "--prove", "none", "--budget", "1m",
		"--case", filepath.Join(s.folder, "case"), "--a", strings.Join(s.words(*faulty, 2, asks), " "), "--b",
		strings.Join(s.words(*faulty, 2, flips), " "))
	investigate.Dir, investigate.Stdout, investigate.Stderr = s.folder, s.out, os.Stderr
	if err := investigate.Run(); err != nil && investigate.ProcessState.ExitCode() != 1 {
		wrong = append(wrong, fmt.Errorf("investigate: %w", err))
	}
	return errors.Join(wrong...)
}

// jvms lists those that are installed, each release once.
func (s *subtype) jvms(ctx context.Context) (list []jvm) {
	found, _ := filepath.Glob("/usr/lib/jvm/*/bin/java") // the pattern is right
	for _, java := range found {
		real, err := filepath.EvalSymlinks(java)
		if err != nil {
			continue
		}
		text, err := child.Command(ctx, real, "-XshowSettings:properties", "-version").CombinedOutput()
		_, release, known := strings.Cut(string(text), "java.specification.version = ")
		release, _, _ = strings.Cut(release, "\n")
		number, wrong := strconv.Atoi(strings.TrimSpace(release))
		twice := slices.ContainsFunc(list, func(j jvm) bool { return j.release == number })
		if err == nil && known && wrong == nil && !twice {
			list = append(list, jvm{real, number})
		}
	}
	slices.SortFunc(list, func(a, b jvm) int { return a.release - b.release })
	return list
}

func (s *subtype) words(of jvm, threads int, variant string) []string {
	return []string{of.java, "-cp", s.folder, "Subtype", strconv.Itoa(threads), s.thousands, variant}
}

// ask prints how both variants scale and which lines are named; an error where that is not what is
// known.
func (s *subtype) ask(ctx context.Context, of jvm) error {
	var wrong []error
	for _, variant := range []string{flips, asks} {
		one, two, err := s.scaling(ctx, of, variant)
		if err != nil {
			return err
		}
		seen := map[string]int{}
		for range s.rounds { // on a busy host two threads seldom run at the same time
			lines, err := s.lines(ctx, of, variant)
			if err != nil {
				return err
			}
			for _, line := range lines {
				seen[line]++
			}
		}
		var lines []string
		for _, line := range slices.Sorted(maps.Keys(seen)) {
			lines = append(lines, fmt.Sprintf("%s in %d of %d recordings", line, seen[line], s.rounds))
		}
		fmt.Fprintf(s.out, "  %-5s %6.1f million checks/s with one thread, %6.1f with two (× %.2f); %s\n", variant, one, two,
			two/one, strings.Join(lines, "; "))
		named := slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, cache) })
		if want := variant == flips && of.release < fixed; named != want {
			wrong = append(wrong, fmt.Errorf("JVM %d, %s: the line of %s is named: %v", of.release, variant, cache, named))
		}
	}
	return errors.Join(wrong...)
}

// scaling is the middle rate with one thread and with two, in turn.
func (s *subtype) scaling(ctx context.Context, of jvm, variant string) (one, two float64, err error) {
	rates := [2][]float64{}
	for range s.rounds {
		for i := range rates {
			words := s.words(of, i+1, variant)
			text, err := child.Command(ctx, words[0], words[1:]...).Output()
			rate := 0.0
			if _, unread := fmt.Sscan(string(text), &rate); err != nil || unread != nil {
				return 0, 0, fmt.Errorf("run Subtype: %w: %s", errors.Join(err, unread), text)
			}
			rates[i] = append(rates[i], rate)
		}
	}
	for i := range rates {
		slices.Sort(rates[i])
	}
	return rates[0][s.rounds/2], rates[1][s.rounds/2], nil
}

// lines are the suspects that are shared lines, in a recording of two threads.
func (s *subtype) lines(ctx context.Context, of jvm, variant string) ([]string, error) {
	file := filepath.Join(s.folder, "subtype.culprit")
	words := append([]string{"record", "--confirm", "-f", "-o", file, "--"}, s.words(of, 2, variant)...)
	if text, err := child.Command(ctx, s.culprit, words...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("record: %w: %s", err, text)
	}
	text, err := child.Command(ctx, s.culprit, "explain", "--json", "-", file).Output()
	if failed := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &failed) || len(text) == 0) {
		return nil, fmt.Errorf("explain: %w", err)
	}
	var told struct {
		Suspects []struct {
			Cause string   `json:"cause"`
			Where []string `json:"where"`
		} `json:"suspects"`
	}
	if err := json.Unmarshal(text, &told); err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	var lines []string
	for _, one := range told.Suspects {
		if strings.HasPrefix(one.Cause, "line.") {
			lines = append(lines, one.Cause+" "+strings.Join(one.Where[max(len(one.Where)-1, 0):], ""))
		}
	}
	if len(lines) == 0 {
		lines = []string{"no shared line"}
	}
	return lines, nil
}
