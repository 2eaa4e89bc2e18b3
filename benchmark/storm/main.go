// Command storm measures what recording a whole host takes while that host starts processes all the
// time: shells, small programs, interpreters, compilers, and programs that were never there before.
// Beside culprit it runs perf record, and any older culprit, in turns within one and the same
// storm.
//
//	go run ./benchmark/storm -starts 150 -window 20s -rounds 3
//	go run ./benchmark/storm -load sleepers -only culprit,perf
//	go run ./benchmark/storm -agent -window 1m -rounds 3 -culprit bin/culprit,/tmp/culprit-before
//	go run ./benchmark/storm -load wakers -culprit bin/culprit,/tmp/culprit-before
//
// It prints for each recorder the CPU time of its processes per second and per thousand processes
// that the host started, what of it falls within the window (of which the rest is loading, naming
// and writing), what its BPF programs took by the kernel's account, and its memory. With -agent it
// measures agents instead, all at once, over whole windows, their ends included. The load runs at
// idle priority, below everybody else on the host, whose processes are counted as well. It refuses
// a host that cannot record.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	if len(os.Args) == 5 && os.Args[1] == childVerb {
		err := child(os.Args[2], os.Args[3], os.Args[4])
		fmt.Fprintln(os.Stderr, "benchmark/storm: load:", err)
		os.Exit(2)
	}
	var p plan
	flag.StringVar(&p.load, "load", "storm", "what the host does: storm, sleepers, wakers, or none")
	flag.IntVar(&p.starts, "starts", 150, "commands that the storm runs a second, at most; some start others")
	flag.DurationVar(&p.window, "window", 20*time.Second, "length of a recording")
	flag.IntVar(&p.rounds, "rounds", 3, "recordings by each recorder, in turns")
	culprits := flag.String("culprit", "bin/culprit", "the culprits to measure, separated by commas")
	only := flag.String("only", "culprit,perf", "which recorders: culprit, perf")
	flag.BoolVar(&p.agent, "agent", false, "measure agents: -rounds windows of -window each")
	flag.Parse()
	p.culprits, p.only = strings.Split(*culprits, ","), strings.Split(*only, ",")
	if err := run(p); err != nil {
		fmt.Fprintln(os.Stderr, "benchmark/storm:", err)
		os.Exit(2)
	}
}

// plan is what is measured.
type plan struct {
	load           string
	starts, rounds int
	window         time.Duration
	culprits, only []string
	agent          bool
}

// recorders lists those that the plan names and the host has.
func (p plan) recorders(folder string) (all []recorder, err error) {
	for _, binary := range p.culprits {
		if !slices.Contains(p.only, "culprit") {
			break
		}
		path, err := filepath.Abs(binary)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("find culprit: %w; run make build, or give -culprit FILE", err)
		}
		all = append(all, culpritAt(path, folder))
	}
	if slices.Contains(p.only, "perf") {
		all = append(all, perf(folder))
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no recorder is called %s; see -h", strings.Join(p.only, ","))
	}
	return all, nil
}

func run(p plan) error {
	folder, err := os.MkdirTemp("", "culprit-storm")
	if err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	defer os.RemoveAll(folder)
	if p.rounds < 1 || p.window < 2*time.Second || p.starts < 1 {
		return fmt.Errorf("%d rounds of %v at %d starts: give one round, 2s and one start at least", p.rounds, p.window,
			p.starts)
	}
	all, err := p.recorders(folder)
	if err != nil {
		return err
	}
	stop, err := startLoad(p, folder)
	if err != nil {
		return err
	}
	defer stop()
	if p.agent {
		fmt.Printf("%s, %s, %d windows of %v\n\n", time.Now().UTC().Format("2006-01-02 15:04"), p.load, p.rounds, p.window)
		return runAgents(p, folder, os.Stdout)
	}
	fmt.Printf("%s, %s, %d recordings of %v each, in turns\n\n", time.Now().UTC().Format("2006-01-02 15:04"), p.load,
		p.rounds, p.window)
	results := make([][]result, len(all))
	for range p.rounds {
		for i, one := range all {
			found, err := one.measure(p.window)
			if err != nil {
				return fmt.Errorf("%s: %w", one.name, err)
			}
			fmt.Fprintf(os.Stderr, "%s: %v\n", one.name, found)
			results[i] = append(results[i], found)
		}
	}
	printTable(os.Stdout, all, results)
	return nil
}
