// Command benchmark measures what culprit's recorder costs the program that it
// records and the programs beside it, against the floor and against its peers in one run.
//
//	make bench
//	go run ./benchmark -rounds 3 -only pingpong
//
// It judges culprit from outside, by its command line. Each row is the median
// over interleaved rounds, as CPU time of the worker, which BPF programs run on
// (redis: throughput of its own load generator). "floor" is empty BPF programs on
// the same hooks: what no recorder of this kind can be below. Peers that are not
// installed are left out. It refuses nothing but a host that cannot record.
package main

import (
	"culprit/benchmark/peers"
	"culprit/internal/stat"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == workerVerb {
		work(os.Args[2])
	}
	binary := flag.String("culprit", "bin/culprit", "the culprit to measure")
	rounds := flag.Int("rounds", 5, "interleaved rounds")
	only := flag.String("only", "", "one workload: getppid, pingpong, spin, java, crossing, crowd, redis or host")
	flag.Parse()
	if err := run(os.Stdout, *binary, *rounds, *only); err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(2)
	}
}

// setting is one way to run a worker.
type setting struct {
	name string
	// measure returns CPU ns per operation of the worker under this setting.
	measure func(b *bench) (float64, error)
	limit   float64 // of the ratio to the first setting, 0: none
	other   string  // a limit that is no ratio
}

// bench is one worker and what is needed to measure it.
type bench struct {
	culprit string
	folder  string
	worker  *worker
	lasts   time.Duration // of one measurement
	// What the recorder itself used, and how long it recorded the worker.
	recorderCPU, window time.Duration
}

func run(out io.Writer, culprit string, rounds int, only string) error {
	if _, err := os.Stat(culprit); err != nil {
		return fmt.Errorf("find culprit: %w; run make build, or give -culprit FILE", err)
	}
	if rounds < 1 {
		return fmt.Errorf("%d rounds: give one or more", rounds)
	}
	folder, err := os.MkdirTemp("", "culprit-benchmark")
	if err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	defer os.RemoveAll(folder)
	done := false
	var failed []error // the others are measured all the same
	for _, workload := range workloads() {
		if only != "" && only != workload.name {
			continue
		}
		done = true
		fmt.Fprintf(out, "%s, %d rounds, load %s\n", time.Now().UTC().Format("2006-01-02 15:04"), rounds, peers.HostLoad())
		if err := workload.measure(out, culprit, folder, rounds); errors.Is(err, peers.ErrNotHere) {
			fmt.Fprintf(out, "%s: left out: %v\n\n", workload.name, err)
		} else if err != nil {
			failed = append(failed, fmt.Errorf("measure %s: %w", workload.name, err))
		}
	}
	if !done {
		return fmt.Errorf("no workload is called %s; see -h", only)
	}
	return errors.Join(failed...)
}

// workload is one table.
type workload struct {
	name    string
	measure func(out io.Writer, culprit, folder string, rounds int) error
}

func workloads() []workload {
	var all []workload
	for _, l := range loads {
		all = append(all, workload{l.name, func(out io.Writer, culprit, folder string, rounds int) error {
			return measureLoad(out, l, culprit, folder, rounds)
		}})
	}
	return append(all, workload{"crossing", crossing}, workload{"crowd", crowd}, workload{"redis", redis},
		workload{"host", host})
}

// measureLoad measures one load under all settings and prints its table.
func measureLoad(out io.Writer, load load, culprit, folder string, rounds int) error {
	w, err := startWorker(load, folder)
	if err != nil {
		return err
	}
	defer w.end()
	b := &bench{culprit: culprit, folder: folder, worker: w, lasts: load.lasts}
	settings := installed(load.settings)
	values, err := interleave(settings, rounds, func(s setting) (float64, error) { return s.measure(b) })
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n", load.title)
	printTable(out, settings, values, "ns")
	fmt.Fprintf(out, "The recorder itself: %.1f %% of one CPU, writing %v included\n\n",
		100*b.recorderCPU.Seconds()/b.window.Seconds(), load.lasts)
	return nil
}

// interleave measures every setting once in each round, so that what disturbs the host disturbs all
// of them.
func interleave(settings []setting, rounds int, measure func(setting) (float64, error)) ([][]float64, error) {
	values := make([][]float64, len(settings))
	for range rounds {
		for i, s := range settings {
			value, err := measure(s)
			if errors.Is(err, peers.ErrNotHere) && values[i] == nil {
				fmt.Fprintf(os.Stderr, "benchmark: %s %v\n", s.name, err)
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			values[i] = append(values[i], value)
		}
	}
	return values, nil
}

// printTable prints as Markdown: medians, differences to the first setting, the ratio of the
// medians, and the median of the ratios within a round, which what disturbs the host for longer
// than a round leaves alone.
func printTable(out io.Writer, settings []setting, values [][]float64, unit string) {
	fmt.Fprintf(out, "\n| | median | | ratio of medians | by round | limit |\n|---|---|---|---|---|---|\n")
	for i, s := range settings {
		if len(values[i]) < len(values[0]) {
			continue // a peer that does not work here
		}
		ratios := make([]float64, len(values[i]))
		for round := range ratios {
			ratios[round] = values[i][round] / values[0][round]
		}
		limit := s.other
		if s.limit > 0 {
			limit = fmt.Sprintf("%.2f", s.limit)
		}
		base, value := stat.Middle(values[0]), stat.Middle(values[i])
		fmt.Fprintf(out, "| %s | %.1f %s | %+.1f %s | × %.3f | × %.3f | %s |\n", s.name, value, unit, value-base, unit,
			value/base, stat.Middle(ratios), limit)
	}
	fmt.Fprintln(out)
}

// recordingPath is where culprit writes; each recording replaces the one before.
func (b *bench) recordingPath() string { return filepath.Join(b.folder, "benchmark.culprit") }
