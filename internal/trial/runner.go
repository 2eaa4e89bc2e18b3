// Package trial runs commands in randomised, interleaved trials and measures each run: wall time,
// and by the kernel's exact accounting the CPU time, context switches, page faults and peak memory
// of the whole tree of processes. It ends every process of a tree with its run. It marks the runs
// that were disturbed from outside, without a look at the metric.
//
//	runner, err := trial.NewRunner("/")
//	defer runner.Close()
//	for _, slot := range trial.Plan{Seed: 1, Sides: []string{"A", "B"}}.Pair(trial.KindMeasure, 0) {
//		run, err := runner.Run(ctx, trial.Spec{Side: slot.Side, Command: commands[slot.Side],
//			CaseDir: directory})
//	}
//
// It refuses commands that fail (FailedError), and runs beside each other. It tests no hypothesis:
// package stat does.
package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"culprit/recording"
)

// Runner runs one command after the other. While it lives culprit is a child subreaper, so that
// every process of a tree can be found: see tree. What it guarantees when culprit itself is killed
// with -9: the command's process group dies; and where culprit may make a cgroup of version 2 (root
// on most hosts), so does everything that left the group.
type Runner struct {
	root     string
	cpus     int        // online
	lock     sync.Mutex // one run at a time: two would disturb each other
	group    *group     // nil: not allowed here
	exits    *exits     // nil: not allowed here
	guardian *guardian
	count    int // runs made
	port     int // the last one that a server was given
	servers  []*server
	started  int // servers
	blind    []recording.BlindSpot

	sparedLock sync.Mutex
	spared     []int
}

// NewRunner prepares this host for runs; root is where its file system is, "/" but in tests.
func NewRunner(root string) (*Runner, error) {
	r := &Runner{root: root}
	online, err := os.ReadFile(filepath.Join(root, "sys/devices/system/cpu/online"))
	if err != nil {
		return nil, fmt.Errorf("count CPUs: %w", err)
	}
	if r.cpus, err = countCPUs(string(online)); err != nil {
		return nil, err
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become a subreaper: %w", err)
	}
	groupPath := ""
	if r.group, err = newGroup(root, os.Getpid()); err != nil {
		r.lacks(recording.BlindOrphans, err)
	} else {
		groupPath = r.group.path
	}
	if r.exits, err = listenExits(root); err != nil {
		r.lacks(recording.BlindExits, err)
	}
	if r.guardian, err = newGuardian(groupPath); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// BlindSpots says what this host does not let a run show.
func (r *Runner) BlindSpots() []recording.BlindSpot {
	r.lock.Lock()
	defer r.lock.Unlock()
	return slices.Clone(r.blind)
}

// lostExits notes once that a run ended more processes than could be followed.
func (r *Runner) lostExits() {
	r.blind = recording.AddBlindSpots(r.blind, recording.BlindSpot{Kind: recording.BlindManyExits})
}

func (r *Runner) lacks(kind recording.BlindKind, why error) {
	r.blind = append(r.blind, recording.BlindSpot{Kind: kind, Why: why.Error()})
}

// Spare keeps a child of culprit that may be started while a run is on from being taken for part of
// the run's tree, and its CPU time from counting as a disturbance. Children that culprit has when a
// run begins are kept in any case.
func (r *Runner) Spare(pid int) {
	r.sparedLock.Lock()
	defer r.sparedLock.Unlock()
	r.spared = append(r.spared, pid)
}

func (r *Runner) sparedPids() []int {
	r.sparedLock.Lock()
	defer r.sparedLock.Unlock()
	return slices.Clone(r.spared)
}

// Close gives back what NewRunner took.
func (r *Runner) Close() error {
	r.lock.Lock()
	defer r.lock.Unlock()
	err := r.stopServers()
	r.exits.close()
	err = errors.Join(err, r.group.close())
	if r.guardian != nil {
		err = errors.Join(err, r.guardian.close())
	}
	return errors.Join(err, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0))
}

// Run executes one command once. When it failed the error is a *FailedError; when the context was
// cancelled, the context's. In every case the whole tree is gone when Run returns, unless the error
// says otherwise.
func (r *Runner) Run(ctx context.Context, spec Spec) (Run, error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if err := spec.check(); err != nil {
		return Run{}, err
	}
	if err := ctx.Err(); err != nil {
		return Run{}, fmt.Errorf("run %s: %w", spec.Side, err)
	}
	if spec.Load != nil {
		return r.runServer(ctx, spec)
	}
	return r.runCommand(ctx, spec)
}

func (r *Runner) runCommand(ctx context.Context, spec Spec) (Run, error) {
	out, err := createOutputs(spec)
	if err != nil {
		return Run{}, err
	}
	run, err := r.execute(ctx, spec, out)
	if errClose := out.close(); err == nil {
		err = errClose
	}
	return run, err
}

// execute holds, releases, awaits and clears away one command.
func (r *Runner) execute(ctx context.Context, spec Spec, out *outputs) (Run, error) {
	r.count++
	group, err := r.group.forRun(r.count)
	if err != nil {
		return Run{}, err
	}
	// One that stays busy for a moment is removed when the runner is closed.
	defer group.close()
	spared := r.sparedPids()
	tree := newTree(spared, group)
	if len(r.servers) > 0 {
		tree.beside = r.serverPids
	}
	r.exits.begin()
	held, err := holdCommand(spec, out, group)
	if held == nil {
		return Run{}, err
	}
	defer held.close()
	if err == nil {
		err = r.guardian.watch(held.pid)
	}
	if err == nil && spec.Ready != nil {
		if err = spec.Ready(held.pid); err != nil {
			err = fmt.Errorf("prepare run of %s: %w", spec.Side, err)
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_, errReap := tree.reap(held.pid)
		return Run{}, errors.Join(err, errReap, r.guardian.watch(0))
	}
	// What Ready started is not the command's.
	for _, pid := range tree.roots() {
		if pid != held.pid {
			tree.others[pid] = true
		}
	}
	m, err := r.measure(ctx, spec, held, tree, out, spared)
	run := Run{Side: spec.Side, Pair: spec.Pair, Order: spec.Order, Kind: spec.Kind, Level: spec.Level,
		Start: m.window.Opened, Stdout: out.stdoutName, Stderr: out.stderrName}
	if err == nil {
		err = r.conclude(ctx, spec, out, m, &run)
	}
	// The command's failure is told before what follows from it.
	err = first(err, r.guardian.watch(0))
	if spec.Done != nil {
		err = first(err, spec.Done(run, m.window))
	}
	return run, err
}

// first returns the first of the errors that is one: what went wrong first explains the others.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// conclude fills in the run's result out of what was measured, and says whether the command failed.
func (r *Runner) conclude(ctx context.Context, spec Spec, out *outputs, m measured, run *Run) error {
	run.Outlived = m.tree.killed
	run.Metrics, run.Disturb = r.account(m)
	run.ExitCode = m.status.ExitStatus()
	if m.status.Signaled() {
		run.ExitCode = 128 + int(m.status.Signal())
	}
	if m.stop.cancelled != nil {
		return fmt.Errorf("run %s: %w", spec.Side, context.Cause(ctx))
	}
	if run.ExitCode != 0 || m.stop != (stop{}) {
		failed := &FailedError{Side: spec.Side, Command: spec.Command, Timeout: m.stop.timeout, Flood: m.stop.flood,
			When: spec.what, LastLines: out.lastLines()}
		if m.status.Signaled() {
			failed.Signal = m.status.Signal()
		} else {
			failed.ExitCode = run.ExitCode
		}
		return failed
	}
	if err := out.find(spec.Printed, run.Metrics); err != nil {
		return fmt.Errorf("run %s: %w", spec.Side, err)
	}
	run.Valid = true
	return nil
}
