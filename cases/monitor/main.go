// Command monitor repeats the investigation of the monitor that cost 30 % (per-container counters
// through perf), from the symptom to the remedy: services of many threads, each in a cgroup of its
// own, hand requests to each other while a daemon counts twenty events of each cgroup.
//
//	go run ./cases/monitor
//
// 1. `culprit doctor` names the daemon, and what it adds to a switch between cgroups. 2. `culprit
// investigate` compares the services without and with it and names the monitor, not their switches.
// 3. `culprit overhead` holds it against a budget of 3 %, with one, four and sixteen services that
// do the same work with the same threads: the more services, the dearer. Beside it the remedy: the
// same events on CPUs that stay on, booked to cgroups by `culprit count`.
//
// It needs root, cgroup 2, gcc and perf. Exit status: 0 when all of that came out as is known; 2
// else.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"culprit/cases/child"
)

// events are software events, which every host has; twenty of them, as a resource daemon counts.
const (
	tenEvents = "context-switches,cpu-migrations,page-faults,minor-faults,major-faults,task-clock,cpu-clock," +
		"alignment-faults,emulation-faults,dummy"
	events = tenEvents + "," + tenEvents
)

// The services: 2 rings of 16 threads, whose requests each take some 30 µs.
const (
	rings        = 2
	stages       = 16
	work         = 20000
	requests     = 600
	mostServices = stages
)

// bench is what all parts of the case use.
type bench struct {
	culprit, folder string
	groups          groups
	budget          time.Duration // of each measurement
}

func main() {
	culprit := flag.String("bin", "bin/culprit", "the program to run")
	budget := flag.Duration("time", 90*time.Second, "time for each measurement")
	flag.Parse()
	child.Bind()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *culprit, *budget); err != nil {
		fmt.Fprintf(os.Stderr, "monitor: %v\n", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, culprit string, budget time.Duration) (err error) {
	b := &bench{budget: budget}
	if b.culprit, err = filepath.Abs(culprit); err != nil {
		return err
	}
	for _, program := range []string{b.culprit, "gcc", "perf"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w; culprit: `make build`; else apt-get install gcc linux-perf", err)
		}
	}
	if b.folder, err = os.MkdirTemp("", "culprit-monitor-*"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.folder) }() // what stays in /tmp does no harm
	build := exec.CommandContext(ctx, "gcc", "-O2", "-pthread", "-o", filepath.Join(b.folder, "services"),
		"cases/monitor/programs/services.c")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build services: %w: %s", err, text)
	}
	if b.groups, err = makeGroups(); err != nil {
		return err
	}
	remove, err := b.groups.guard()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	for _, step := range []struct {
		title string
		do    func(context.Context) error
	}{
		{"culprit doctor, while the daemon counts", b.named},
		{"culprit investigate, without and with the daemon", b.investigated},
		{"culprit overhead, and the remedy", b.priced},
	} {
		fmt.Printf("\n%s\n\n", step.title)
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.title, err)
		}
	}
	return nil
}

// services is the command of so many services that answer so many requests.
func (b *bench) services(count, requests int) string {
	return fmt.Sprintf("./services %d %d %d %d %s", requests, work, rings, stages,
		strings.Join(b.groups.paths(count), " "))
}

// script writes a command into a file of the folder, whose name then stands for it.
func (b *bench) script(name, command string) (string, error) {
	text := "#!/bin/sh\nexec " + command + " \"$@\"\n"
	return "./" + name, os.WriteFile(filepath.Join(b.folder, name), []byte(text), 0o755)
}

// daemon is the one of the case, for the cgroups of so many services.
func (b *bench) daemon(count int) (string, error) {
	return b.script(fmt.Sprintf("daemon-of-%d", count),
		"perf stat -a -o /dev/null -e "+events+" --for-each-cgroup "+b.groups.names(count))
}

// remedy counts the same.
func (b *bench) remedy() (string, error) {
	return b.script("culprit-count", b.culprit+" count --by cgroup -i 1s --json /dev/null -e "+events)
}
