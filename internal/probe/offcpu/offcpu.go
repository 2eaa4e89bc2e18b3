// Package offcpu times every stay of a target thread off the CPU: blocked or
// waiting for a CPU, in which call, at which stack, woken by whom. Totals are
// added up in the kernel; stays of Options.Wait and longer are kept whole.
//
// User stacks are unwound for a bounded share of the switches (see
// offcpu.bpf.c) and joined to the exact times by thread and signature.
package offcpu

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"culprit/internal/probe/bpf"
)

//go:generate ../bpf/generate.sh offcpu -type wait_event -type sleep

// maxWaits bounds the stays kept whole between two collections.
const maxWaits = 1_000_000

// longStay is how long a stay is when its kernel stack is taken, at a switch each some 500 ns.
const longStay = 50 * time.Microsecond

// Session is the loaded probe.
type Session struct {
	shared     *bpf.Shared
	collection *ebpf.Collection
	ring       *bpf.Ring[offcpuWaitEvent]
	events     *bpf.PerfEvents // nil without an unwinder
	links      []link.Link
	waitNs     uint64
	misses     bpf.Misses
	still      []offcpuWaitEvent // threads that were off the CPU when the window ended
	failed     error             // the walk at the end failed
}

// Start loads the probe.
func Start(shared *bpf.Shared) (*Session, error) {
	spec, err := loadOffcpu()
	if err != nil {
		return nil, fmt.Errorf("read program of offcpu: %w", err)
	}
	values := map[string]any{"wait_ns": uint64(shared.Options.Wait), "unwind_ns": uint64(shared.Options.Unwind),
		"long_ns": uint64(min(shared.Options.Wait, longStay))}
	if shared.Unwinder != nil {
		values["unwind"] = uint32(1)
	}
	if err := bpf.Set(spec, values); err != nil {
		return nil, err
	}
	collection, err := shared.Load(spec, nil)
	if err != nil {
		return nil, fmt.Errorf("load offcpu: %w", err)
	}
	s := &Session{shared: shared, collection: collection, waitNs: uint64(shared.Options.Wait)}
	if shared.Ends != nil {
		if err := collection.Maps["thread_ends"].Update(uint32(0), shared.Ends, ebpf.UpdateAny); err != nil {
			collection.Close()
			return nil, fmt.Errorf("call who watches the ends of threads: %w", err)
		}
	}
	if s.ring, err = bpf.NewRing[offcpuWaitEvent](collection.Maps["waits"], maxWaits, shared.Options.Pause()); err != nil {
		collection.Close()
		return nil, err
	}
	if shared.Unwinder != nil {
		if err := s.openUnwinding(shared.Unwinder); err != nil {
			_ = s.Close() // why it could not start is the error to tell
			return nil, err
		}
	}
	shared.EndsCalled = shared.Ends != nil
	return s, nil
}

// openUnwinding lets the program of a switch run the unwinder: by a breakpoint that costs nothing
// until the switch is chosen; where the host gives none, by an event behind every switch of every
// CPU.
func (s *Session) openUnwinding(unwinder *ebpf.Program) error {
	if err := s.collection.Maps["unwinder"].Update(uint32(0), unwinder, ebpf.UpdateAny); err != nil {
		return fmt.Errorf("give offcpu the unwinder: %w", err)
	}
	program := s.collection.Programs["unwind_switch"]
	var events *bpf.PerfEvents
	err := errNoTrigger
	if breakpointsStep {
		events, err = s.openTrigger(program)
	}
	if err != nil {
		events, err = bpf.OpenPerf(program, unix.PERF_COUNT_SW_CONTEXT_SWITCHES, 1, false)
	}
	s.events = events
	return err
}

// breakpointsStep: a breakpoint with a program behind it lets the instruction that hit it go on. On
// arm64 the kernel has to step over it, which it left out for programs before Linux 6.6 (commit
// d11a69873d9a): the CPU would hit it for ever.
const breakpointsStep = runtime.GOARCH != "arm64"

var errNoTrigger = errors.New("breakpoints are not used on this machine")

// openTrigger watches the variable that the switch's program writes to.
func (s *Session) openTrigger(program *ebpf.Program) (*bpf.PerfEvents, error) {
	if _, err := s.collection.Programs["tell_trigger"].Run(&ebpf.RunOptions{}); err != nil {
		return nil, fmt.Errorf("find the trigger: %w", err)
	}
	var address uint64
	if err := s.collection.Variables["trigger_address"].Get(&address); err != nil {
		return nil, fmt.Errorf("find the trigger: %w", err)
	}
	events, err := bpf.OpenBreakpoint(program, address)
	if err != nil {
		return nil, err
	}
	if err := s.collection.Variables["by_breakpoint"].Set(uint32(1)); err != nil {
		events.Close()
		return nil, fmt.Errorf("use the trigger: %w", err)
	}
	return events, nil
}

// Name of the probe.
func (s *Session) Name() string { return "offcpu" }

// Attach begins to time.
func (s *Session) Attach() error {
	s.still, s.failed = nil, nil
	if err := s.collection.Variables["over"].Set(uint32(0)); err != nil {
		return fmt.Errorf("begin to time: %w", err)
	}
	links, err := bpf.AttachTracing(s.collection, "switched", "waking")
	if err != nil {
		return err
	}
	s.links = links
	s.ring.Start()
	if s.events != nil {
		return s.events.Enable()
	}
	return nil
}

// Begins times the targets that are off the CPU by now.
func (s *Session) Begins() error {
	// Who is off the CPU and was not seen to leave it has been so since the window's begin, however
	// late the walk is.
	if err := s.collection.Variables["window_start"].Set(uint64(s.shared.StartNs)); err != nil {
		return fmt.Errorf("tell the window's begin: %w", err)
	}
	_, err := bpf.Walk[offcpuWaitEvent](s.collection, "window_begins")
	return err
}

// Ends takes the stays that are not over.
func (s *Session) Ends() {
	s.still, s.failed = bpf.Walk[offcpuWaitEvent](s.collection, "window_ends")
}

// Detach ends the timing; what was seen waits for Collect.
func (s *Session) Detach() {
	if s.events != nil {
		_ = s.events.Disable() // fails only on a closed descriptor
	}
	bpf.CloseLinks(s.links)
	s.links = nil
	s.ring.Stop()
}

// Close unloads the probe.
func (s *Session) Close() error {
	s.Detach()
	if s.events != nil {
		s.events.Close()
	}
	err := s.ring.Close()
	s.collection.Close()
	return err
}
