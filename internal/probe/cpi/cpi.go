// Package cpi samples the target's stacks by cycles and by instructions, so that cycles per
// instruction can be told of each function: the clock's samples alone say how long a function took,
// not whether it did more or waited more.
//
// Both events are one group, so that they are counted at the same times. Each sample stands for as
// many as the kernel let pass since the one before; sums are estimates, as good as the number of
// samples.
//
// It refuses to start where the CPU shows no counters that can interrupt, as in most virtual
// machines, and without the unwinder.
package cpi

import (
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/unwind"
	"culprit/recording"
)

//go:generate ../bpf/generate.sh cpi -type sample

const (
	// maxSamples bounds what is kept between two collections.
	maxSamples = 1_000_000
	// joinWithinNs is how long after a sample its unwound stack may carry its own time: the one
	// program calls the other, some microseconds apart.
	joinWithinNs = 200_000
)

// Session is the loaded probe.
type Session struct {
	misses     bpf.Misses
	collection *ebpf.Collection
	ring       *bpf.Ring[cpiSample]
	events     *bpf.PerfEvents
}

// Start loads the probe and opens its events, disabled.
func Start(shared *bpf.Shared) (*Session, error) {
	if shared.Unwinder == nil {
		return nil, fmt.Errorf("%w: cycles per instruction are told by stack, and there is no unwinder",
			bpf.ErrNotSupported)
	}
	spec, err := loadCpi()
	if err != nil {
		return nil, fmt.Errorf("read program of cpi: %w", err)
	}
	collection, err := shared.Load(spec, nil)
	if err != nil {
		return nil, fmt.Errorf("load cpi: %w", err)
	}
	s := &Session{collection: collection}
	if err := collection.Maps["unwinder"].Update(uint32(0), shared.Unwinder, ebpf.UpdateAny); err != nil {
		collection.Close()
		return nil, fmt.Errorf("give cpi the unwinder: %w", err)
	}
	if s.ring, err = bpf.NewRing[cpiSample](collection.Maps["samples"], maxSamples, shared.Options.Pause()); err != nil {
		collection.Close()
		return nil, err
	}
	s.events, err = bpf.OpenGroup(
		[]*ebpf.Program{collection.Programs["sample_cycles"], collection.Programs["sample_instructions"]},
		[]uint64{unix.PERF_COUNT_HW_CPU_CYCLES, unix.PERF_COUNT_HW_INSTRUCTIONS}, uint64(shared.Options.Hz))
	if err != nil {
		_ = s.Close() // why it could not start is the error to tell
		return nil, err
	}
	return s, nil
}

// Name of the probe.
func (s *Session) Name() string { return "cpi" }

// Attach has nothing to attach: the events do not run yet.
func (s *Session) Attach() error {
	s.ring.Start()
	return nil
}

// Begins begins to sample.
func (s *Session) Begins() error { return s.events.EnableGroups() }

// Ends ends the sampling.
func (s *Session) Ends() { _ = s.events.DisableGroups() } // fails only on a closed descriptor

// Detach ends the sampling; what was seen waits for Collect.
func (s *Session) Detach() {
	s.Ends()
	s.ring.Stop()
}

// Collect moves the samples into the window. It comes before oncpu, which takes all stacks that
// nobody claimed.
func (s *Session) Collect(window *bpf.Window) error {
	samples, over, err := s.ring.Take()
	if err != nil {
		return err
	}
	window.Lose("cpi: samples over the limit", over)
	traces := window.TracesByThread()
	missing := int64(0)
	for i := range samples {
		sample := &samples[i]
		if int64(sample.Time) < window.StartNs || int64(sample.Time) >= window.EndNs {
			continue
		}
		trace := traces.Unclaimed(int32(sample.Tid), int64(sample.Time), int64(sample.Time)+joinWithinNs)
		if trace == nil { // it did not arrive
			missing++
		} else {
			trace.LeftCPU = true // of no sample of the clock
		}
		window.Recording.Samples = append(window.Recording.Samples, rowOf(window, sample, trace))
	}
	window.Lose("cpi: samples whose stack did not arrive", missing)
	s.misses.Take(window, "cpi", s.collection)
	return window.TakeLosses(s.collection.Maps["losses"], "cpi: samples dropped", "cpi: samples without an unwinder")
}

// rowOf is a sample as it is recorded; without a stack where none arrived, so that sums stay whole.
func rowOf(window *bpf.Window, sample *cpiSample, trace *unwind.Trace) recording.Sample {
	row := recording.Sample{Signal: recording.SignalCycles, TimeNs: window.Slice(int64(sample.Time) - window.StartNs),
		Pid: int32(sample.Tgid), Tid: int32(sample.Tid), CPU: -1, Stack: recording.NoStack, Count: 1,
		ValueNs: int64(sample.Period), Target: true, Comm: window.Comm[int32(sample.Tgid)]}
	if sample.Instructions != 0 {
		row.Signal = recording.SignalInstructions
	}
	if trace != nil {
		row.CPU, row.Comm = trace.CPU, bpf.Clean(trace.Comm)
		row.Stack = window.Stack(window.Unwinder.Frames(trace.Stack))
	}
	return row
}

// Close unloads the probe.
func (s *Session) Close() error {
	if s.events != nil {
		s.events.Close()
	}
	err := s.ring.Close()
	s.collection.Close()
	return err
}
