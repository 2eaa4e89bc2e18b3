package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"culprit/internal/bench"
	"culprit/internal/host"
	"culprit/internal/knob"
	"culprit/internal/report"
)

// doctorSchema names the JSON document that doctor writes.
const doctorSchema = "culprit.doctor/1"

// diagnosis is all that doctor found; what the terminal shows comes from it.
type diagnosis struct {
	Schema  string       `json:"schema"`
	Program string       `json:"program"`
	Host    host.Summary `json:"host"`
	// CanRecord: a test program was recorded just now and what it did was seen. Why says what
	// stands against it.
	CanRecord    bool              `json:"can_record"`
	Why          string            `json:"why,omitempty"`
	Probes       []probeCheck      `json:"probes"`
	Recorder     recorderCheck     `json:"recorder"`
	Capabilities []host.Capability `json:"capabilities"`
	Tracers      []host.Tracer     `json:"tracers"`
	TracersNote  string            `json:"tracers_note,omitempty"` // why others may be there unseen
	Watching     watching          `json:"watching"`               // what the tracers do, and what that costs
	Managers     []knob.Manager    `json:"managers"`               // programs that set the host's settings by themselves
	Clock        clockCheck        `json:"clock"`
	Pending      []knob.Pending    `json:"pending"` // settings that are changed right now or were left changed
	PendingNote  string            `json:"pending_note,omitempty"`
}

// clockCheck is what reading the time costs here and whether another source could be tried.
type clockCheck struct {
	Current    string   `json:"current"`
	Available  []string `json:"available"`
	Flippable  bool     `json:"flippable"`
	Why        string   `json:"why,omitempty"` // why it cannot be flipped
	VDSOServes bool     `json:"vdso_serves"`
	ReadNs     float64  `json:"read_ns"`    // of CPU time, as programs read it
	SyscallNs  float64  `json:"syscall_ns"` // the same by a system call
	Note       string   `json:"note,omitempty"`
}

func doctorVerb(w world) *cobra.Command {
	var json string
	command := &cobra.Command{
		Use:   "doctor",
		Short: "What this host lets culprit see, and its blind spots",
		Long: `Loads every probe, records a small program of its own for half a second and checks that
each probe saw what that program did. Then says what else this host allows, what is hidden
where something is missing and the way out, who else watches programs here, whether the
clock source can be changed for proof, and whether a setting was left changed.

Exit status: 0 recording works, 2 nothing can be recorded.`,
		Example: `  culprit doctor
  culprit doctor --json -`,
		Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if json != "" && json != "-" {
				if err := checkOutput(json, true); err != nil {
					return err
				}
			}
			return runDoctor(cmd.Context(), w, json)
		},
	}
	command.Flags().StringVar(&json, "json", "", "write the findings as JSON to this file, - for standard output")
	return command
}

func runDoctor(ctx context.Context, w world, json string) error {
	found := diagnose(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	if json != "-" {
		if err := found.print(w.stdout); err != nil {
			return err
		}
	}
	if json != "" {
		if err := writeJSON(w, json, found); err != nil {
			return err
		}
	}
	if !found.CanRecord {
		return fmt.Errorf("nothing can be recorded here: %s", found.Why)
	}
	return nil
}

// diagnose tries everything. It leaves nothing behind.
func diagnose(ctx context.Context) *diagnosis {
	found := &diagnosis{Schema: doctorSchema, Program: "culprit " + version, Host: host.Summarize("/"),
		Capabilities: host.Capabilities(), Tracers: []host.Tracer{}, Pending: []knob.Pending{}}
	found.examineProbes(ctx)
	// After the recorder has ended: its own programs are nobody else's.
	found.Tracers = append(found.Tracers, host.Tracers("/", os.Getpid())...)
	if !found.allows("CAP_SYS_PTRACE") {
		found.TracersNote = "without CAP_SYS_PTRACE only the user's own processes could be looked at"
	}
	found.priceTracers(ctx)
	found.Managers = append([]knob.Manager{}, knob.Managers("/")...)
	found.examineClock(ctx)
	pending, err := knob.ListPending(knob.StateDir())
	found.Pending = append(found.Pending, pending...)
	found.PendingNote = report.Line(err)
	return found
}

// allows tells whether the host has a capability.
func (d *diagnosis) allows(name string) bool {
	return slices.ContainsFunc(d.Capabilities, func(c host.Capability) bool { return c.Name == name && c.Available })
}

func (d *diagnosis) examineClock(ctx context.Context) {
	d.Clock.Available = []string{}
	source := knob.ClockSource("/")
	current, err := source.Current()
	if err != nil {
		d.Clock.Note = report.Line(err)
	}
	d.Clock.Current = current
	if available, err := source.Allowed(); err == nil {
		d.Clock.Available = available
	}
	for _, capability := range d.Capabilities {
		if capability.Name == "clocksource-flip" {
			d.Clock.Flippable, d.Clock.Why = capability.Available, capability.Why
		}
	}
	costs, err := bench.Measure(ctx)
	if err == nil {
		read, _ := costs.Get(bench.ClockVDSO) // measured: the quick set has it
		call, _ := costs.Get(bench.ClockSyscall)
		d.Clock.ReadNs, d.Clock.SyscallNs = read.Ns, call.Ns
		d.Clock.VDSOServes, err = costs.VDSOServes()
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		d.Clock.Note = report.Line(err)
	}
}
