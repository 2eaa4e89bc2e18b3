package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"

	"culprit/benchmark/peers"
)

// crossings is how often the two processes of a run wake each other.
const crossings = 150_000

// The events of the case (cases/monitor): software, which every host has. Ten of them twice are
// twenty.
const (
	fiveEvents = "context-switches,cpu-migrations,page-faults,task-clock,cpu-clock"
	tenEvents  = "context-switches,cpu-migrations,page-faults,minor-faults,major-faults,task-clock,cpu-clock," +
		"alignment-faults,emulation-faults,dummy"
	twentyEvents = tenEvents + "," + tenEvents
)

// crossing measures what counting by cgroup costs two processes of different cgroups that wake each
// other on one CPU: each switch goes from one cgroup to another.
func crossing(out io.Writer, culprit, folder string, rounds int) (err error) {
	groups, remove, err := makeGroups("a", "b")
	if err != nil {
		return err
	}
	defer remove()
	program, err := built(folder, "pingpong")
	if err != nil {
		return err
	}
	play := func() (float64, error) { return playAcross(program, groups) }
	settings := []setting{{name: "alone", measure: func(*bench) (float64, error) { return play() }},
		{name: "an empty program at sched_switch", measure: func(*bench) (float64, error) { return emptySwitch(play) }}}
	each := strings.Join([]string{groups[0].name, groups[1].name}, ",")
	for _, set := range []struct {
		title, events string
		limit         float64
	}{{"5 events", fiveEvents, 1.10}, {"20 events", twentyEvents, 1.15}} {
		settings = append(settings,
			setting{name: "culprit count, " + set.title, limit: set.limit,
				measure: besidePlay(folder, play, culprit, "count", "-e", set.events, "--json", "/dev/null")},
			setting{name: "perf stat -a, " + set.title,
				measure: besidePlay(folder, play, "perf", "stat", "-a", "-e", set.events)},
			setting{name: "perf stat -a --for-each-cgroup, " + set.title,
				measure: besidePlay(folder, play, "perf", "stat", "-a", "-e", set.events, "--for-each-cgroup", each)})
	}
	settings = installed(settings)
	values, err := interleave(settings, rounds, func(s setting) (float64, error) { return s.measure(nil) })
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "two processes in different cgroups wake each other on one CPU, CPU time of a round trip "+
		"(two switches, each from cgroup to cgroup)\n")
	printTable(out, settings, values, "ns")
	return nil
}

// built compiles a program of the case.
func built(folder, name string) (string, error) {
	program := filepath.Join(folder, name)
	build := exec.Command("gcc", "-O2", "-pthread", "-o", program, "cases/monitor/programs/"+name+".c")
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: build %s: %v: %s", peers.ErrNotHere, name, err, peers.FirstLine(string(text)))
	}
	return program, nil
}

// besidePlay measures while another program counts.
func besidePlay(folder string, play func() (float64, error), words ...string) func(*bench) (float64, error) {
	return func(*bench) (float64, error) {
		stop, err := startPeer(folder, 0, words)
		if err != nil {
			return 0, err
		}
		defer stop()
		return play()
	}
}

// group is a cgroup made for the benchmark.
type group struct{ folder, name string }

// makeGroups makes cgroups, one beside the other.
func makeGroups(names ...string) (groups []group, remove func(), err error) {
	mount := ""
	for _, place := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(filepath.Join(place, "cgroup.controllers")); err == nil {
			mount = place
		}
	}
	if mount == "" {
		return nil, nil, fmt.Errorf("%w: cgroup 2 is not mounted", peers.ErrNotHere)
	}
	parent := fmt.Sprintf("culprit-benchmark-%d", os.Getpid())
	remove = func() {
		for i := len(groups) - 1; i >= 0; i-- {
			_ = os.Remove(groups[i].folder) // empty, and told by its name if it stays
		}
		_ = os.Remove(filepath.Join(mount, parent))
	}
	for _, name := range names {
		made := group{filepath.Join(mount, parent, name), filepath.Join(parent, name)}
		if err := os.MkdirAll(made.folder, 0o755); err != nil {
			remove()
			return nil, nil, fmt.Errorf("%w: make a cgroup: %v", peers.ErrNotHere, err)
		}
		groups = append(groups, made)
	}
	return groups, remove, nil
}

// playAcross runs the two processes and returns their CPU ns per round trip.
func playAcross(program string, groups []group) (float64, error) {
	command := exec.Command(program, strconv.Itoa(crossings), groups[0].folder, groups[1].folder)
	command.SysProcAttr = peers.EndsWithOwner()
	if text, err := command.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("run pingpong: %w: %s", err, peers.FirstLine(string(text)))
	}
	used := command.ProcessState.UserTime() + command.ProcessState.SystemTime() // with its child, which it awaited
	return float64(used.Nanoseconds()) / crossings, nil
}

// emptySwitch measures with a program at each switch that does nothing.
func emptySwitch(play func() (float64, error)) (float64, error) {
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.Tracing, AttachType: ebpf.AttachTraceRawTp,
		AttachTo: "sched_switch", Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}, License: "GPL"})
	if err != nil {
		return 0, fmt.Errorf("load an empty program: %w", err)
	}
	defer program.Close()
	attached, err := link.AttachTracing(link.TracingOptions{Program: program})
	if err != nil {
		return 0, fmt.Errorf("attach an empty program: %w", err)
	}
	defer attached.Close()
	return play()
}
