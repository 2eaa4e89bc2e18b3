// Package oncpu samples what runs: complete stacks of the target's threads, and
// of everybody else only how much CPU each process took.
//
// The clock is the software event cpu-clock, which every virtual machine has.
// It cannot see code that runs with interrupts off: such time is booked where
// interrupts come on again.
package oncpu

import (
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/counters/event"
	"culprit/recording"
)

//go:generate ../bpf/generate.sh oncpu -type tally -type operand

// Session is the loaded probe.
type Session struct {
	misses     bpf.Misses
	collection *ebpf.Collection
	events     *bpf.PerfEvents
	operands   *bpf.Ring[oncpuOperand]
	memory     *memorySampling // nil: the processor samples none
	confirm    bool            // lines that threads seem to share, by debug registers
	patient    bool            // operands are looked at less often
	looker     *looker         // of the window that is open, or was
	periodNs   int64
}

// Start loads the probe and opens its events, disabled.
func Start(shared *bpf.Shared) (*Session, error) {
	if shared.Options.Hz <= 0 {
		return nil, fmt.Errorf("sample at %d Hz: give a rate of 1 or more", shared.Options.Hz)
	}
	spec, err := loadOncpu()
	if err != nil {
		return nil, fmt.Errorf("read program of oncpu: %w", err)
	}
	found := findMemory(sourcesOf(shared.Options), event.Host)
	if found == nil || found.packets {
		delete(spec.Programs, "sample_memory") // what is not loaded is not verified
	}
	collection, err := shared.Load(spec, nil)
	if err != nil {
		return nil, fmt.Errorf("load oncpu: %w", err)
	}
	if shared.Unwinder != nil {
		if err := collection.Maps["unwinder"].Update(uint32(0), shared.Unwinder, ebpf.UpdateAny); err != nil {
			collection.Close()
			return nil, fmt.Errorf("give oncpu the unwinder: %w", err)
		}
	}
	operands, err := bpf.NewRing[oncpuOperand](collection.Maps["operands"], maxOperands, shared.Options.Pause())
	if err != nil {
		collection.Close()
		return nil, err
	}
	events, err := bpf.OpenPerf(collection.Programs["sample_cpu"], unix.PERF_COUNT_SW_CPU_CLOCK,
		uint64(shared.Options.Hz), true)
	if err != nil {
		_ = operands.Close()
		collection.Close()
		return nil, err
	}
	memory := openMemory(collection.Programs["sample_memory"], found, shared.Options.Hz)
	return &Session{collection: collection, events: events, operands: operands, memory: memory,
		confirm: shared.Options.Confirm, patient: shared.Options.Patient,
		looker:   newLooker(operands, newCommon(nil, nil), false),
		periodNs: 1e9 / int64(shared.Options.Hz)}, nil
}

// Name of the probe.
func (s *Session) Name() string { return "oncpu" }

// SetRate changes the samples per second and CPU, while no window is open.
func (s *Session) SetRate(hz int) error {
	s.periodNs = 1e9 / int64(hz)
	return s.events.SetRate(hz)
}

// Attach has nothing to do: the programs were attached, to events that do not run, by Start.
func (s *Session) Attach() error { return nil }

// Begins begins to sample.
func (s *Session) Begins() error {
	s.operands.Start()
	s.looker.places.close() // of a window that was given up
	s.looker.common.forget()
	s.looker = newLooker(s.operands, newCommon(s.collection.Maps["taken"], s.collection.Maps["sharing"]), s.confirm)
	if s.patient {
		s.looker.every, s.looker.young = patientLook, firstLook
	}
	s.looker.packets = s.memory.packets()
	s.looker.packets.forget()
	s.looker.start()
	if err := s.memory.enable(); err != nil {
		return err
	}
	return s.events.Enable()
}

// Ends ends the sampling. It does not wait for a look that is under way: other probes are still to
// end.
func (s *Session) Ends() {
	_ = s.events.Disable() // fails only on a closed descriptor
	s.memory.disable()
	s.looker.leave()
}

// Detach ends the sampling in a window that did not come to its end, and takes what is left in the
// ring.
func (s *Session) Detach() {
	s.Ends()
	s.looker.end()
	s.operands.Stop()
}

// Collect moves the samples into the window. It comes after the probes that
// claim stacks taken at a switch-out (offcpu): what is left was taken by the clock.
func (s *Session) Collect(window *bpf.Window) error {
	if err := s.collectLines(window); err != nil {
		return err
	}
	if s.memory.sampled(window) {
		window.Recording.Facts = append(window.Recording.Facts,
			recording.Fact{Name: recording.FactMemorySamples, Value: s.memory.by})
	}
	markLate(window.Traces, s.periodNs)
	unwound := map[int32]int64{}
	for _, trace := range window.Traces {
		if trace.LeftCPU {
			continue
		}
		unwound[trace.Pid]++
		stack := recording.NoStack
		if window.Unwinder != nil {
			stack = window.Stack(window.Unwinder.Frames(trace.Stack))
		}
		window.Recording.Samples = append(window.Recording.Samples, recording.Sample{
			Signal: recording.SignalCPU, TimeNs: window.Slice(trace.KtimeNs - window.StartNs),
			Pid: trace.Pid, Tid: trace.Tid, CPU: trace.CPU, Stack: stack,
			Count: 1, ValueNs: s.periodNs, Target: true, Comm: bpf.Clean(trace.Comm),
		})
	}
	if err := s.collectCounts(window, unwound); err != nil {
		return err
	}
	s.misses.Take(window, "oncpu", s.collection)
	return window.TakeLosses(s.collection.Maps["losses"],
		"oncpu: processes that did not fit", "oncpu: samples without an unwinder",
		recording.LossOperands)
}

// collectCounts books what was sampled but not unwound: the rest of the host,
// per process, and samples of the target whose stack never arrived, because the
// unwinder did not know the process yet.
func (s *Session) collectCounts(window *bpf.Window, unwound map[int32]int64) error {
	err := bpf.Drain(s.collection.Maps["taken"], func(key uint32, count *oncpuTally) {
		pid, samples := int32(key), int64(count.Samples)
		if count.Target != 0 {
			samples -= unwound[pid]
			window.Lose("oncpu: samples whose stack did not arrive", samples)
		}
		if samples <= 0 {
			return
		}
		window.Recording.Samples = append(window.Recording.Samples, recording.Sample{
			Signal: recording.SignalCPU, Pid: pid, Tid: pid, CPU: -1, Stack: recording.NoStack,
			Count: samples, ValueNs: samples * s.periodNs, Target: count.Target != 0,
			Comm: bpf.Text(count.Comm[:]),
		})
	})
	if err != nil {
		return fmt.Errorf("read counts of samples: %w", err)
	}
	return nil
}

// Close unloads the probe.
func (s *Session) Close() error {
	s.events.Close()
	s.memory.close()
	s.looker.end()
	s.looker.places.close()
	err := s.operands.Close()
	s.collection.Close()
	return err
}
