// Command format measures how fast `culprit import` reads the text of perf
// script, and in how much memory, beside inferno-collapse-perf
// (https://crates.io/crates/inferno), which only folds the stacks. Both read the
// same file in turn; it prints medians and their ratio.
//
//	go run ./benchmark/format -size 1024 -inferno ~/.cargo/bin/inferno-collapse-perf
//
// It refuses to call a run a result when a program failed.
package main

import (
	"bytes"
	"culprit/internal/stat"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	size := flag.Int64("size", 1024, "MiB of text")
	rounds := flag.Int("rounds", 5, "runs of each program")
	culprit := flag.String("culprit", "bin/culprit", "the program that is measured")
	inferno := flag.String("inferno", "inferno-collapse-perf", "the program beside it")
	folder := flag.String("folder", os.TempDir(), "where the text is written, and removed again")
	flag.Parse()
	if err := run(*size<<20, *rounds, *culprit, *inferno, *folder); err != nil {
		fmt.Fprintln(os.Stderr, "benchmark/format:", err)
		os.Exit(2)
	}
}

// measured is what one run took.
type measured struct {
	wall, cpu time.Duration
	peak      int64 // KiB
}

func run(size int64, rounds int, culprit, inferno, parent string) error {
	folder, err := os.MkdirTemp(parent, "culprit-format-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(folder)
	text := filepath.Join(folder, "perf.txt")
	samples, err := writeFile(text, size)
	if err != nil {
		return err
	}
	fmt.Printf("%d MiB of perf script, %d samples\n", size>>20, samples)
	type peer struct {
		name, out string
		args      []string
		runs      []measured
	}
	peers := []*peer{{name: "culprit import", out: os.DevNull,
		args: []string{culprit, "import", "-f", "-o", filepath.Join(folder, "perf.culprit"), text}}}
	if path, err := exec.LookPath(inferno); err == nil {
		peers = append(peers, &peer{name: "inferno-collapse-perf", out: filepath.Join(folder, "perf.folded"),
			args: []string{path, text}})
	} else {
		fmt.Println("inferno-collapse-perf is not there: `cargo install inferno` brings it")
	}
	for round := range rounds + 1 {
		for i := range peers {
			one := peers[(i+round)%len(peers)]
			took, err := once(one.args, one.out)
			if err != nil {
				return fmt.Errorf("%s: %w", one.name, err)
			}
			if round > 0 { // the first warms the file cache
				one.runs = append(one.runs, took)
			}
		}
	}
	first := median(peers[0].runs, func(m measured) float64 { return m.wall.Seconds() })
	for _, one := range peers {
		wall := median(one.runs, func(m measured) float64 { return m.wall.Seconds() })
		fmt.Printf("%-22s wall %.2f s (%.0f MB/s), cpu %.2f s, peak memory %.0f MiB, ratio %.2f\n", one.name, wall,
			float64(size)/1e6/wall, median(one.runs, func(m measured) float64 { return m.cpu.Seconds() }),
			median(one.runs, func(m measured) float64 { return float64(m.peak) })/1024, wall/first)
	}
	return nil
}

func writeFile(path string, size int64) (samples int, err error) {
	file, err := os.Create(path)
	if err != nil {
		return 0, fmt.Errorf("write the text: %w", err)
	}
	samples, err = writeText(file, size, 1)
	if err = errors.Join(err, file.Close()); err != nil {
		return 0, fmt.Errorf("write the text: %w", err)
	}
	return samples, nil
}

func once(args []string, out string) (measured, error) {
	sink, err := os.Create(out)
	if err != nil {
		return measured{}, err
	}
	defer sink.Close()
	var said bytes.Buffer
	command := exec.Command(args[0], args[1:]...)
	command.Stdout, command.Stderr = sink, io.Writer(&said)
	begin := time.Now()
	if err := command.Run(); err != nil {
		return measured{}, fmt.Errorf("%w: %s", err, said.String())
	}
	took := measured{wall: time.Since(begin), cpu: command.ProcessState.UserTime() + command.ProcessState.SystemTime()}
	if usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage); ok {
		took.peak = usage.Maxrss
	}
	return took, nil
}

func median(runs []measured, of func(measured) float64) float64 {
	values := make([]float64, 0, len(runs))
	for _, one := range runs {
		values = append(values, of(one))
	}
	return stat.Middle(values)
}
