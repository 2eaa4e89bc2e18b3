package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"culprit/benchmark/peers"
	"culprit/internal/stat"
)

// watcher is one way to watch a server: the words of a command with PID and FILE, or empty programs
// at hooks.
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

// What others are held to.
const (
	alone         = "alone"
	emptyRequests = "empty programs on the hooks of requests"
	emptyAll      = "empty programs on all hooks"
	usual         = "culprit record"
	light         = "culprit record --requests --light"
	everything    = "culprit record --requests"
)

func (o options) watchers() []watcher {
	record := func(more ...string) []string {
		return append([]string{o.culprit, "record", "-f", "-d", "5m", "-o", "FILE", "-p", "PID"}, more...)
	}
	all := []watcher{
		{name: alone},
		{name: emptyRequests, hooks: requestHooks},
		{name: light, words: record("--requests", "--light")},
		{name: emptyAll, hooks: allHooks},
		{name: usual, words: record()},
		{name: everything, words: record("--requests")},
		{name: "syscount-bpfcc -L", words: []string{"syscount-bpfcc", "-L", "-d", "300", "-p", "PID"}},
		{name: "perf trace -s", words: []string{"perf", "trace", "-s", "-p", "PID", "-o", "FILE"}},
		{name: "strace -f -c", words: []string{"strace", "-f", "-c", "-p", "PID", "-o", "FILE"}},
	}
	return slices.DeleteFunc(all, func(w watcher) bool { return w.name != alone && !o.watch.MatchString(w.name) })
}

// settles is how long after its first program a recorder has attached the last one, and looked at
// what runs.
const settles = 1500 * time.Millisecond

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
		for _, i := range rand.Perm(len(settings)) { // none is always after the same one
			w := settings[i]
			if missing[w.name] {
				continue
			}
			one, err := o.loadBeside(s, w, filepath.Join(folder, "watched"))
			if errors.Is(err, peers.ErrNotHere) {
				fmt.Fprintf(out, "%s: left out: %v\n", w.name, err)
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
		printAboveFloor(out, settings, values)
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

// step is what one way of watching costs beside what its floor costs: from with to with, against
// from bare to floor.
type step struct{ name, from, to, bare, floor string }

var steps = []step{
	{"requests alone (--light), above its hooks", alone, light, alone, emptyRequests},
	{"requests added to a recording, above their hooks", usual, everything, alone, emptyRequests},
	{"all of record --requests, above all hooks", alone, everything, alone, emptyAll},
}

// printAboveFloor prints what is above empty programs on the same hooks, as a part of the CPU time
// of a request alone: the median of the rounds, and the quartiles of them.
func printAboveFloor(out io.Writer, settings []watcher, values [][]cost) {
	of := func(name string, round int) (cost, bool) {
		at := slices.IndexFunc(settings, func(w watcher) bool { return w.name == name })
		if at < 0 || round >= len(values[at]) {
			return cost{}, false
		}
		return values[at][round], true
	}
	fmt.Fprintf(out, "| | CPU of a request | quartiles of the rounds | p50 |\n|---|---|---|---|\n")
	for _, s := range steps {
		var parts, p50 []float64
		for round := range values[0] {
			base, ok0 := of(alone, round)
			from, ok1 := of(s.from, round)
			to, ok2 := of(s.to, round)
			bare, ok3 := of(s.bare, round)
			floor, ok4 := of(s.floor, round)
			if ok0 && ok1 && ok2 && ok3 && ok4 {
				parts = append(parts, (to.cpu-from.cpu-(floor.cpu-bare.cpu))/base.cpu)
				p50 = append(p50, to.p50-from.p50-(floor.p50-bare.p50))
			}
		}
		if len(parts) == 0 {
			continue
		}
		slices.Sort(parts)
		fmt.Fprintf(out, "| %s | %+.1f %% | %+.1f to %+.1f %% | %+.1f µs |\n", s.name, 100*stat.Middle(parts),
			100*parts[len(parts)/4], 100*parts[3*len(parts)/4], stat.Middle(p50)/1e3)
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
	if !strings.HasPrefix(w.name, usual) {
		return peers.Start(w.words, pid, file, loading)
	}
	var since time.Time // its programs are attached one after the other
	return peers.StartWhen(w.words, pid, file, func(peer int) bool {
		if since.IsZero() && peers.HasPrograms(peer) {
			since = time.Now()
		}
		return !since.IsZero() && time.Since(since) >= settles
	})
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
