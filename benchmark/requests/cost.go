package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"culprit/benchmark/peers"
	"culprit/internal/stat"
)

// watcher is one way to watch a server: the words of a command with PID and FILE, or empty programs at hooks.
type watcher struct {
	name  string
	words []string
	hooks []string
}

// The hooks of the probe of requests, and those that culprit's everyday probes have besides.
var (
	requestHooks = []string{"sk_data_ready", "sock_recv_length", "sock_send_length", "inet_sock_set_state"}
	allHooks     = append([]string{"sys_enter", "sys_exit", "sched_switch", "sched_waking"}, requestHooks...)
)

// everything is what record --requests is measured as.
const everything = "culprit record --requests"

func (o options) watchers() []watcher {
	record := func(more ...string) []string {
		return append([]string{o.culprit, "record", "-f", "-d", "5m", "-o", "FILE", "-p", "PID"}, more...)
	}
	return []watcher{
		{name: "alone"},
		{name: "empty programs on the hooks of requests", hooks: requestHooks},
		{name: "culprit record --requests --light", words: record("--requests", "--light")},
		{name: "empty programs on all hooks", hooks: allHooks},
		{name: "culprit record", words: record()},
		{name: everything, words: record("--requests")},
		{name: "perf trace -s", words: []string{"perf", "trace", "-s", "-p", "PID", "-o", "FILE"}},
		{name: "strace -f -c", words: []string{"strace", "-f", "-c", "-p", "PID", "-o", "FILE"}},
	}
}

// cost is what one run of the load took.
type cost struct {
	cpu float64 // of the server, ns for a request
	p50 float64 // ns, as the clients' sockets saw it
	p99 float64
}

// costs prints what watching costs each server.
func (o options) costs(out io.Writer, folder string) error {
	var failed []error
	for _, s := range servers() {
		if !o.only.MatchString(s.name) {
			continue
		}
		err := o.costOf(out, s, folder)
		if errors.Is(err, errNotInstalled) {
			fmt.Fprintf(out, "%s: left out: %v\n\n", s.name, err)
		} else if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	return errors.Join(failed...)
}

func (o options) costOf(out io.Writer, s *server, folder string) error {
	if err := s.begin(folder); err != nil {
		return err
	}
	defer s.end()
	settings := o.watchers()
	values := make([][]cost, len(settings))
	missing := map[string]bool{}
	for range o.rounds {
		for i, w := range settings {
			if missing[w.name] {
				continue
			}
			one, err := o.loadBeside(s, w, filepath.Join(folder, "watched"))
			if errors.Is(err, peers.ErrNotHere) {
				missing[w.name] = true
				continue
			}
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			values[i] = append(values[i], one)
		}
	}
	fmt.Fprintf(out, "%s, %d rounds of %d requests, load %s\n\n", s.name, o.rounds, o.requests, peers.HostLoad())
	if o.rounds > 0 {
		printCosts(out, settings, values)
	}
	return o.programsOf(out, s, settings, filepath.Join(folder, "watched"))
}

// programsOf prints what the kernel says that culprit's programs took.
func (o options) programsOf(out io.Writer, s *server, settings []watcher, file string) error {
	counting, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	if err != nil {
		return fmt.Errorf("have the kernel count the time of programs: %w", err)
	}
	defer counting.Close()
	for _, w := range settings {
		if w.name != everything {
			continue
		}
		var runs [2]map[string]programRun
		looked := 0
		look := func() (err error) {
			runs[looked], err = programRuns()
			looked++
			return err
		}
		if _, err := o.loadBetween(s, w, file, look); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s, by the kernel's account\n\n", w.name)
		printPrograms(out, runs[0], runs[1], o.requests)
		fmt.Fprintln(out)
	}
	return nil
}

// printCosts prints medians, and the median of the ratios within a round.
func printCosts(out io.Writer, settings []watcher, values [][]cost) {
	fmt.Fprintf(out, "| | CPU of the server for a request | by round | p50 | p99 |\n|---|---|---|---|---|\n")
	middle := func(runs []cost, of func(round int, c cost) float64) float64 {
		var all []float64
		for round, run := range runs {
			all = append(all, of(round, run))
		}
		return stat.Middle(all)
	}
	for i, w := range settings {
		if len(values[i]) == 0 {
			continue // a peer that does not work here
		}
		fmt.Fprintf(out, "| %s | %.2f µs | × %.3f | %.1f µs | %.0f µs |\n", w.name,
			middle(values[i], func(_ int, c cost) float64 { return c.cpu })/1e3,
			middle(values[i], func(round int, c cost) float64 { return c.cpu / values[0][round].cpu }),
			middle(values[i], func(_ int, c cost) float64 { return c.p50 })/1e3,
			middle(values[i], func(_ int, c cost) float64 { return c.p99 })/1e3)
	}
	fmt.Fprintln(out)
}

// loadBeside puts the load on a server while it is watched.
func (o options) loadBeside(s *server, w watcher, file string) (cost, error) {
	return o.loadBetween(s, w, file, func() error { return nil })
}

// loadBetween looks before and after the load.
func (o options) loadBetween(s *server, w watcher, file string, look func() error) (cost, error) {
	stop, err := w.begin(s.command.Process.Pid, file)
	if err != nil {
		return cost{}, err
	}
	defer stop()
	gate, opened := make(chan struct{}), &sync.WaitGroup{}
	close(gate)
	opened.Add(o.connections)
	if err := look(); err != nil {
		return cost{}, err
	}
	before, err := s.cpu()
	if err != nil {
		return cost{}, err
	}
	truth, err := o.askAll(s, gate, opened)
	if err != nil {
		return cost{}, err
	}
	after, err := s.cpu()
	if err != nil {
		return cost{}, err
	}
	if err := look(); err != nil {
		return cost{}, err
	}
	count := len(truth.most)
	return cost{cpu: float64(after-before) / float64(count), p50: float64(truth.most[count/2]),
		p99: float64(truth.most[int(0.99*float64(count-1))])}, nil
}

// begin starts to watch and returns what ends it.
func (w watcher) begin(pid int, file string) (stop func(), err error) {
	if w.hooks != nil {
		return attachEmpty(w.hooks)
	}
	if w.words == nil {
		return func() {}, nil
	}
	return peers.Start(w.words, pid, file, loading)
}

// cpu is the CPU time in ns of all processes of a server that are there now.
func (s *server) cpu() (sum int64, err error) {
	paths, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, fmt.Errorf("list processes: %w", err)
	}
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			continue
		}
		if group, err := unix.Getpgid(pid); err != nil || group != s.command.Process.Pid {
			continue // of another, or it has ended
		}
		used, err := peers.CPU(pid)
		if err != nil {
			return 0, err
		}
		sum += used
	}
	return sum, nil
}
