// Command benchmark measures what culprit's recorder costs the program that it
// records, in the two places where it costs most: a loop of the cheapest system
// call, and two threads of one CPU that wake each other through pipes.
//
//	make build && go run ./benchmark
//
// It judges culprit from outside, by its command line. Each row is the median
// over interleaved rounds, as CPU time of the worker, which BPF programs run on;
// "floor" is empty BPF programs on the same hooks: what no recorder of this kind
// can be below. It refuses nothing but a host that cannot record.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"time"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == workerVerb {
		work(os.Args[2])
	}
	binary := flag.String("culprit", "bin/culprit", "the culprit to measure")
	rounds := flag.Int("rounds", 5, "interleaved rounds")
	flag.Parse()
	if err := run(os.Stdout, *binary, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(2)
	}
}

// setting is one way to run a worker.
type setting struct {
	name string
	// measure returns CPU ns per operation of the worker under this setting.
	measure func(b *bench) (float64, error)
}

var settings = []setting{
	{"alone", (*bench).alone},
	{"floor: empty programs", (*bench).floor},
	{"culprit records another", (*bench).bystander},
	{"culprit, no system calls", (*bench).withoutCalls},
	{"culprit, everything", (*bench).everything},
}

// bench is one worker and what is needed to measure it.
type bench struct {
	culprit string
	folder  string
	worker  *worker
	recorderCPU,
	window time.Duration
}

func run(out io.Writer, culprit string, rounds int) error {
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
	for _, load := range loads {
		if err := table(out, load, culprit, folder, rounds); err != nil {
			return fmt.Errorf("measure %s: %w", load.name, err)
		}
	}
	return nil
}

// table measures one load under all settings and prints its table.
func table(out io.Writer, load load, culprit, folder string, rounds int) error {
	w, err := startWorker(load)
	if err != nil {
		return err
	}
	defer w.end()
	b := &bench{culprit: culprit, folder: folder, worker: w}
	values := make([][]float64, len(settings))
	for range rounds {
		for i, s := range settings {
			value, err := s.measure(b)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			values[i] = append(values[i], value)
		}
	}
	fmt.Fprintf(out, "%s\n", load.title)
	for i, s := range settings {
		ratios := make([]float64, rounds)
		for round := range ratios {
			ratios[round] = values[i][round] / values[0][round]
		}
		fmt.Fprintf(out, "  %-26s %8.1f ns   %+8.1f ns   × %.2f\n", s.name, median(values[i]),
			median(values[i])-median(values[0]), median(ratios))
	}
	fmt.Fprintf(out, "  the recorder itself took %.1f %% of one CPU\n\n",
		100*b.recorderCPU.Seconds()/b.window.Seconds())
	return nil
}

func median(values []float64) float64 {
	sorted := append([]float64(nil), values...)
	sort.Float64s(sorted)
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// recordingPath is where culprit writes; each recording replaces the one before.
func (b *bench) recordingPath() string { return filepath.Join(b.folder, "benchmark.culprit") }
