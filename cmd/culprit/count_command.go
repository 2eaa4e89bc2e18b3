package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"culprit/internal/probe/counters/event"
	"culprit/internal/trial"
)

// heldCommand is the command that is counted, held until the counters are on.
type heldCommand struct {
	held    *trial.Held
	command *recordedCommand
}

func holdCommand(words []string) (*heldCommand, error) {
	held, err := trial.HoldWords(words, os.Stdout)
	if err != nil {
		return nil, err
	}
	return &heldCommand{held: held}, nil
}

func (h *heldCommand) pid() int { return h.held.Pid() }

// cancel ends a command that was never released.
func (h *heldCommand) cancel() {
	if h.command == nil {
		h.held.Cancel()
	}
}

// release lets it begin; the context that it returns ends with it.
func (h *heldCommand) release(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if err := h.held.Release(); err != nil {
		return nil, nil, err
	}
	h.command = &recordedCommand{held: h.held, ended: make(chan struct{})}
	running, stop := context.WithCancel(ctx)
	go func() {
		h.command.code, h.command.err = h.held.Wait()
		close(h.command.ended)
		stop()
	}()
	return running, stop, nil
}

// finish awaits it and takes over its exit status.
func (h *heldCommand) finish(ctx context.Context) error { return h.command.finish(ctx) }

// listEvents prints what there is to count.
func listEvents(w world) error {
	var out strings.Builder
	fmt.Fprintf(&out, "named by every kernel\n")
	for _, name := range event.Generic() {
		list, err := event.Parse(name, event.Host)
		if err == nil {
			err = list.Try(event.Host)
		}
		mark := "yes"
		if err != nil {
			mark = "no "
		}
		fmt.Fprintf(&out, "  %s  %s\n", mark, name)
	}
	for _, pmu := range event.Host.PMUs() {
		names := event.Host.Events(pmu)
		if len(names) == 0 {
			continue
		}
		fmt.Fprintf(&out, "of %s\n", pmu)
		for _, name := range names {
			fmt.Fprintf(&out, "       %s\n", name)
		}
	}
	if names := event.Host.Published(); len(names) > 0 && event.Host.CorePMU() != "" {
		fmt.Fprintf(&out, "published by the maker of this CPU\n")
		for _, name := range names {
			fmt.Fprintf(&out, "       %s\n", name)
		}
	}
	fmt.Fprintf(&out, "tracepoints, as system:event, such as sched:sched_switch\n")
	if pmu := event.Host.CorePMU(); pmu == "" {
		fmt.Fprintf(&out, "no hardware counters: among the event sources of this host (%s) there is no PMU of the CPU\n",
			strings.Join(event.Host.PMUs(), ", "))
	} else {
		free := event.FreeCounters(event.Host)
		fmt.Fprintf(&out, "%d counters of %s are free on CPU 0, found by taking them", free.Free, pmu)
		if free.Watchdog {
			fmt.Fprintf(&out, "; the kernel's NMI watchdog holds one (kernel.nmi_watchdog)")
		}
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "counted without -e: %s\n", strings.Join(event.Default(event.Host).Names(), ","))
	if _, err := w.stdout.Write([]byte(out.String())); err != nil {
		return fmt.Errorf("write events: %w", err)
	}
	return nil
}
