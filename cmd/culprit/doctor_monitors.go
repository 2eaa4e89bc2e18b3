package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"culprit/internal/host"
	"culprit/internal/monitor"
	"culprit/internal/probe/monitors"
	"culprit/internal/report"
	"culprit/internal/stat"
)

// watching is what others do who count, sample or trace here, and what that costs.
type watching struct {
	Monitors []monitor.Monitor `json:"monitors"`
	Note     string            `json:"note,omitempty"` // why it is not known
	// StopNs is what ptrace adds to a system call at least, where somebody uses it.
	StopNs *stat.Interval `json:"ptrace_call_ns,omitempty"`
	// Registers of the CPU that were written or read while culprit looked for Seconds.
	Registers     []monitors.Register `json:"registers"`
	RegistersNote string              `json:"registers_note,omitempty"`
	Seconds       float64             `json:"seconds"`
}

// doctorLooks is how long the programs of others and the registers of the CPU are watched.
const doctorLooks = 500 * time.Millisecond

// priceTracers finds out what those who watch here do, and measures what it costs.
func (d *diagnosis) priceTracers(ctx context.Context) {
	w := &d.Watching
	w.Monitors, w.Registers, w.Seconds = []monitor.Monitor{}, []monitors.Register{}, doctorLooks.Seconds()
	found, err := monitor.Find(os.Getpid())
	if err != nil {
		w.Note = "what their perf events count is not known: " + report.Line(err)
	}
	for i := range found {
		for at := range d.Tracers {
			if d.Tracers[at].Pid == found[i].Pid {
				found[i].Programs(d.Tracers[at].Runs)
			}
		}
	}
	if err := host.PricePrograms(d.Tracers, doctorLooks); err != nil {
		w.Note = report.Line(err)
	}
	if err := monitor.Price(ctx, found); err != nil {
		w.Note = report.Line(err)
	}
	w.Monitors = append(w.Monitors, found...)
	if slices.ContainsFunc(d.Tracers, func(t host.Tracer) bool { return len(t.Ptraced) > 0 }) {
		if cost, err := monitor.Ptrace(ctx); err == nil {
			w.StopNs = &cost
		} else {
			w.Note = report.Line(err)
		}
	}
	registers, err := monitors.Registers(doctorLooks)
	switch {
	case errors.Is(err, monitors.ErrNoRegisters):
	case err != nil:
		w.RegistersNote = report.Line(err)
	}
	w.Registers = append(w.Registers, registers...)
}

func (d *diagnosis) printTracers(t *table) {
	if len(d.Tracers) == 0 {
		t.line("nobody was found: no perf event, tracing BPF program, ptrace or ftrace")
	}
	for _, tracer := range d.Tracers {
		d.printTracer(t, tracer)
	}
	if len(d.Tracers) > 0 {
		t.line("Each may slow down what it watches: see `culprit explain monitor.attached` and `syscall.traced`.")
	}
	for _, note := range []string{d.TracersNote, d.Watching.Note, d.Watching.RegistersNote} {
		if note != "" {
			t.line(note)
		}
	}
	d.printRegisters(t)
}

// printTracer tells what one does: where all that it holds is perf events, by these.
func (d *diagnosis) printTracer(t *table, tracer host.Tracer) {
	var lines []string
	for i := range d.Watching.Monitors {
		if each := &d.Watching.Monitors[i]; each.Pid == tracer.Pid && tracer.Pid > 0 {
			lines = append(lines, each.String())
			for _, line := range each.Lines() {
				lines = append(lines, "- "+line)
			}
		}
	}
	if len(lines) == 0 || tracer.BPFPrograms+tracer.BPFLinks+len(tracer.Ptraced) > 0 {
		lines = append([]string{tracer.String()}, lines...)
	}
	if cost := d.Watching.StopNs; cost != nil && len(tracer.Ptraced) > 0 {
		lines = append(lines, fmt.Sprintf("- adds %.1f µs (%.1f to %.1f) and more to each system call that it stops "+
			"(measured with two processes of culprit's; strace stops all, a debugger mostly none)", cost.Value/1e3,
			cost.Low/1e3, cost.High/1e3))
	}
	still := 0
	for _, cost := range tracer.Costs {
		if cost.Runs == 0 {
			still++
			continue
		}
		lines = append(lines, "- "+cost.String())
	}
	if still > 0 {
		programs := "- 1 BPF program did not run meanwhile"
		if still > 1 {
			programs = fmt.Sprintf("- %d BPF programs did not run meanwhile", still)
		}
		lines = append(lines, programs)
	}
	for _, line := range lines {
		t.line(line)
	}
}

// cyclesOfWrite is what writing a register is taken to cost without a hypervisor in between: 100 to
// 250 cycles are published for those of the counters (Intel SDM: WRMSR serializes).
const cyclesOfWrite = 250

// printRegisters tells how often counters were programmed anew, with what that comes to.
func (d *diagnosis) printRegisters(t *table) {
	var counters, others uint64
	for _, each := range d.Watching.Registers {
		if each.Counters {
			counters += each.Writes
		} else {
			others += each.Writes
		}
	}
	if counters+others == 0 {
		return
	}
	perSecond := func(count uint64) float64 { return float64(count) / d.Watching.Seconds }
	text := fmt.Sprintf("registers of the CPU's counters were written %.0f times a second, others %.0f times",
		perSecond(counters), perSecond(others))
	if counters > 0 {
		text += fmt.Sprintf("; at %d cycles each and 3 GHz the former are %.2f %% of a CPU", cyclesOfWrite,
			100*perSecond(counters)*cyclesOfWrite/3e9)
	}
	t.line(text)
}
