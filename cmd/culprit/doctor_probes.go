package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"culprit/internal/probe"
	"culprit/internal/probe/counters/event"
	"culprit/internal/record"
	"culprit/internal/report"
	"culprit/recording"
)

// probeCheck is the state of one way to see programs.
type probeCheck struct {
	Name      string `json:"name"`
	Works     bool   `json:"works"`
	Essential bool   `json:"essential"`
	Sees      string `json:"sees"`
	Saw       string `json:"saw,omitempty"` // of the test program
	Why       string `json:"why,omitempty"` // why it is missing
	Hides     string `json:"hides,omitempty"`
	Fix       string `json:"fix,omitempty"`
}

// recorderCheck is what loading and recording took.
type recorderCheck struct {
	LoadCPUS float64 `json:"load_cpu_s"`
	CPUS     float64 `json:"cpu_s"` // in the window
	WindowS  float64 `json:"window_s"`
}

// The test program: known to compute in a shell, to start a process, and to sleep in it for a tenth
// of a second.
const (
	doctorScript  = `i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 0.1 || sleep 1`
	doctorSleep   = 80 * time.Millisecond // at least this long a wait must be seen
	doctorHz      = 499                   // enough samples of a short program
	doctorTimeout = time.Minute           // hosts under load take long to verify programs
	doctorTries   = 3
)

// allChecks lists what the recorder is made of: its probes and what names their stacks.
func allChecks() []probeCheck {
	var checks []probeCheck
	for _, each := range probe.All() {
		if each.Name == "cpi" && event.Host.CorePMU() == "" {
			continue // no kernel makes up for a CPU that shows no counters: hardware-counters says so
		}
		if each.Name == "allocations" {
			continue // each allocation of the test program would trap: it would be another program
		}
		checks = append(checks, probeCheck{Name: each.Name, Essential: each.Essential, Sees: each.Sees, Hides: each.Hides})
	}
	return append(checks,
		probeCheck{Name: "unwinder", Sees: "callers: C, C++, Rust and Go without frame pointers, JVM, Python, Node, kernel",
			Hides: "user-space callers: a function is seen, not who called it"},
		probeCheck{Name: "kernel symbols", Sees: "names of kernel functions",
			Hides: "where in the kernel time is spent and what is waited for"})
}

// examineProbes loads the recorder, records the test program and compares what was seen with what
// it did. A busy host may leave the recorder too little time for a program that runs for so short a
// while: what a probe did not see is looked at again before it is called missing.
func (d *diagnosis) examineProbes(ctx context.Context) {
	for range doctorTries {
		d.Probes, d.Why = allChecks(), ""
		if again := d.tryProbes(ctx); !again || ctx.Err() != nil {
			return
		}
	}
}

// tryProbes records the test program once; again: it was recorded, and a probe did not see what it
// did.
func (d *diagnosis) tryProbes(ctx context.Context) (again bool) {
	rec, summary, statuses, err := recordTestProgram(ctx)
	if err != nil {
		d.Why = report.Line(err)
	}
	for i := range d.Probes {
		check := &d.Probes[i]
		status := statusOf(statuses, check.Name)
		switch {
		case err != nil && (status == nil || status.On):
			check.Why = d.Why
		case status != nil && !status.On:
			check.Why = status.Why
		default:
			check.Saw, check.Why = sawOf(check.Name, rec, summary)
			check.Works = check.Why == ""
			again = again || !check.Works
		}
		if check.Works {
			check.Hides = ""
			continue
		}
		check.Why = report.Line(fmt.Errorf("%s", check.Why))
		check.Fix = d.wayOut(err)
		if check.Essential && d.Why == "" {
			d.Why = check.Name + ": " + check.Why
		}
	}
	d.CanRecord = d.Why == ""
	if summary != nil {
		d.Recorder.LoadCPUS = float64(summary.Cost.StartCPUNs) / 1e9
		d.Recorder.CPUS = float64(summary.Cost.RecorderCPUNs) / 1e9
		d.Recorder.WindowS = float64(rec.Manifest.WindowNs) / 1e9
	}
	return again
}

// wayOut names the missing permission that explains a probe's failure, or how to ask. What the
// recorder refuses before it loads anything says itself how to mend it.
func (d *diagnosis) wayOut(refused error) string {
	var missing []string
	for _, capability := range d.Capabilities {
		switch capability.Name {
		case "CAP_BPF", "CAP_PERFMON", "bpf", "btf", "perf-sampling", "no-lockdown", "kernel-symbols":
			if !capability.Available {
				missing = append(missing, capability.Name)
			}
		}
	}
	if len(missing) > 0 {
		return "see " + strings.Join(missing, ", ") + " below"
	}
	if errors.Is(refused, record.ErrNotSupported) {
		return "as the reason says"
	}
	return "none known: everything it needs seems to be there; please report it with `culprit doctor --json -`"
}

// statusOf finds what the recorder said of a probe, nil when it said nothing.
func statusOf(statuses []recording.ProbeStatus, name string) *recording.ProbeStatus {
	for i := range statuses {
		if statuses[i].Name == name {
			return &statuses[i]
		}
	}
	return nil
}

// doctorCounters are events that every kernel counts.
const doctorCounters = "task-clock,context-switches"

// recordTestProgram records the test program through the real recorder. The
// statuses are known even where the window fails.
func recordTestProgram(ctx context.Context) (
	rec *recording.Recording, summary *record.Summary, statuses []recording.ProbeStatus, err error) {
	if err := record.Permitted(); err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	folder, err := os.MkdirTemp("", "culprit-doctor-*")
	if err != nil {
		return nil, nil, nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }() // a temporary file that stays does no harm
	recorder, err := record.Start(ctx, record.Options{Requests: true, Hz: doctorHz, RunTimes: []string{"Python"},
		Program: "culprit " + version, Counters: doctorCounters, CPI: event.Host.CorePMU() != ""})
	if err != nil {
		return nil, nil, nil, err
	}
	defer recorder.Close()
	o := recordOptions{words: []string{"/bin/sh", "-c", doctorScript}}
	o.target = record.Target{Kind: "command", Command: "doctor's test program"}
	path := filepath.Join(folder, "doctor.culprit")
	run := &record.Run{Recorder: recorder, Target: o.target, Path: path, Duration: doctorTimeout}
	command, err := recordCommand(ctx, run, o)
	if err != nil {
		return nil, nil, recorder.Probes, err
	}
	actForDoctor(folder)
	if err := run.Watch(ctx); err != nil {
		return nil, nil, recorder.Probes, err
	}
	if !command.over() {
		command.held.Signal(os.Kill)
		<-command.ended
	}
	if summary, err = run.Finish(ctx); err != nil {
		return nil, nil, recorder.Probes, err
	}
	if rec, err = recording.Open(path); err != nil {
		return nil, nil, recorder.Probes, err
	}
	return rec, summary, recorder.Probes, nil
}
