package main

import (
	"bytes"
	"culprit/benchmark/peers"
	"culprit/internal/stat"
	"culprit/recording"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// recorder is one way to record the whole host.
type recorder struct {
	name string
	// words of its command, which ends after that many seconds; file is what it writes.
	words func(window time.Duration) []string
	file  string
	// opens reads the file; nil: culprit does not read it.
	opens func(path string) (*recording.Recording, error)
}

func culpritAt(path, folder string) recorder {
	file := filepath.Join(folder, "storm.culprit")
	return recorder{name: filepath.Base(path) + " record -a", file: file, opens: recording.Open,
		words: func(window time.Duration) []string {
			return []string{path, "record", "-f", "-a", "-d", window.String(), "-o", file}
		}}
}

func perf(folder string) recorder {
	file := filepath.Join(folder, "storm.perf")
	return recorder{name: "perf record -a -g -F 99", file: file, words: func(window time.Duration) []string {
		return []string{"perf", "record", "-a", "-g", "-F", "99", "-o", file, "--", "sleep",
			strconv.FormatFloat(window.Seconds(), 'f', -1, 64)}
	}}
}

// bpfOf is what culprit's own programs took, by the kernel's account of them.
func bpfOf(rec *recording.Recording) (total time.Duration) {
	for _, ns := range rec.Manifest.Cost.BPFNs {
		total += time.Duration(ns)
	}
	return total
}

// result is one recording.
type result struct {
	window time.Duration
	within time.Duration // CPU time of the recorder's processes from second to second inside the window
	inside time.Duration // how long that was
	all    time.Duration // CPU time from start to end
	after  time.Duration // from the window's end to the recorder's
	bpf    time.Duration
	starts int // of processes and threads by the host, while within was measured
	peakKB int
	file   int64
	// Stacks of processes that lived for less than shortLife, and of all others.
	short, long stacks
}

func (r result) String() string {
	return fmt.Sprintf("%.1f %% of a core, %.1f ms for 1000 starts (%.0f a second), %.2f s in all, %.1f s to end, "+
		"BPF %.2f %%, %.0f MB, broken of short %v, of long %v", 100*r.share(), r.perStarts(),
		float64(r.starts)/r.inside.Seconds(), r.all.Seconds(), r.after.Seconds(),
		100*r.bpf.Seconds()/r.window.Seconds(), float64(r.peakKB)/1000, r.short, r.long)
}

func (r result) share() float64 { return r.within.Seconds() / r.inside.Seconds() }

// perStarts is CPU time in ms.
func (r result) perStarts() float64 {
	return 1e3 * r.within.Seconds() / max(1, float64(r.starts)) * 1000
}

// settles is how long after its start a recorder has loaded and is at work: culprit loads within 2
// s on a busy host.
const settles = 4 * time.Second

// look is the state of a recorder at one time.
type look struct {
	at     time.Time
	cpu    time.Duration
	starts int
}

// measure makes one recording.
func (r recorder) measure(window time.Duration) (result, error) {
	words := r.words(window + settles)
	command := exec.Command(words[0], words[1:]...)
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	began := time.Now()
	if err := command.Start(); err != nil {
		return result{}, fmt.Errorf("start it: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	var first, last look
	found := result{window: window + settles}
	for {
		select {
		case err := <-ended:
			if err != nil {
				return result{}, fmt.Errorf("%w: %s", err, said.String())
			}
			found.all = command.ProcessState.UserTime() + command.ProcessState.SystemTime()
			found.within, found.inside = last.cpu-first.cpu, last.at.Sub(first.at)
			found.starts, found.after = last.starts-first.starts, time.Since(began)-window-settles
			return found, r.complete(&found)
		case <-time.After(100 * time.Millisecond):
		}
		pids := processesOf(command.Process.Pid)
		now := look{at: time.Now(), starts: startsOfHost()}
		for _, pid := range pids {
			if used, err := peers.CPU(pid); err == nil { // it may have ended
				now.cpu += time.Duration(used)
			}
			found.peakKB = max(found.peakKB, peakOf(pid))
		}
		switch age := now.at.Sub(began); {
		case age < settles:
		case first.at.IsZero():
			first = now
		case age < window+settles: // it loads for a second before it begins to record
			last = now
		}
	}
}

// complete adds what is known at the end.
func (r recorder) complete(found *result) (err error) {
	info, err := os.Stat(r.file)
	if err != nil {
		return err
	}
	found.file = info.Size()
	if found.inside <= 0 {
		return fmt.Errorf("it ended before it was at work")
	}
	if r.opens == nil {
		return nil
	}
	rec, err := r.opens(r.file)
	if err != nil {
		return err
	}
	found.bpf = bpfOf(rec)
	found.short, found.long = stacksOf(rec)
	return nil
}

// processesOf lists a process and its children, which do the work of some recorders. Any of its
// threads may have started them.
func processesOf(pid int) []int {
	pids := []int{pid}
	tasks := fmt.Sprintf("/proc/%d/task", pid)
	threads, _ := os.ReadDir(tasks) // gone: it has none
	for _, thread := range threads {
		text, _ := os.ReadFile(filepath.Join(tasks, thread.Name(), "children"))
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// peakOf is the most memory that a process has had in kB.
func peakOf(pid int) (kilobytes int) { return fieldOf(pid, "VmHWM:") }

// fieldOf is a number of a process's status.
func fieldOf(pid int, name string) (number int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // gone: nothing
	for _, line := range strings.Split(string(status), "\n") {
		if rest, ok := strings.CutPrefix(line, name); ok {
			_, _ = fmt.Sscan(rest, &number) // 0 when it is no number
		}
	}
	return number
}

// startsOfHost is how many processes and threads the host has started since it booted.
func startsOfHost() (count int) {
	text, _ := os.ReadFile("/proc/stat")
	for _, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "processes "); ok {
			_, _ = fmt.Sscan(rest, &count)
		}
	}
	return count
}

// printTable prints medians over the rounds as Markdown.
func printTable(out io.Writer, all []recorder, results [][]result) {
	fmt.Fprintf(out, "| | own CPU in the window | for 1,000 starts | starts a second | loading and end | time to end | "+
		"BPF programs | memory | file | broken of short-lived | of others |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for i, one := range all {
		middle := func(value func(r result) float64) float64 {
			values := make([]float64, len(results[i]))
			for round, r := range results[i] {
				values[round] = value(r)
			}
			return stat.Middle(values)
		}
		bpf, short, long := "–", "–", "–"
		if one.opens != nil {
			bpf = fmt.Sprintf("%.2f %%", middle(func(r result) float64 { return 100 * r.bpf.Seconds() / r.window.Seconds() }))
			short = fmt.Sprintf("%.1f %%", middle(func(r result) float64 { return 100 * r.short.share() }))
			long = fmt.Sprintf("%.1f %%", middle(func(r result) float64 { return 100 * r.long.share() }))
		}
		fmt.Fprintf(out, "| %s | %.1f %% of a core | %.1f ms | %.0f | %.2f s | %.1f s | %s | %.0f MB | %.2f MB | %s | %s |\n",
			one.name,
			middle(func(r result) float64 { return 100 * r.share() }), middle(result.perStarts),
			middle(func(r result) float64 { return float64(r.starts) / r.inside.Seconds() }),
			middle(func(r result) float64 { return (r.all - r.within).Seconds() }),
			middle(func(r result) float64 { return r.after.Seconds() }), bpf,
			middle(func(r result) float64 { return float64(r.peakKB) / 1000 }),
			middle(func(r result) float64 { return float64(r.file) / 1e6 }), short, long)
	}
	fmt.Fprintf(out, "\nload %s\n", peers.HostLoad())
}
