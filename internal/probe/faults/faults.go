// Package faults tells where the target's page faults come from, and how long
// its threads reclaim memory for themselves.
//
// How many faults there were is exact, by the kernel's own count of each thread.
// Their stacks are sampled: every fault that waited for a disk and every 61st of
// the others, within a budget per CPU (one taken stands for those left out before
// it), and scaled to the exact count.
package faults

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"culprit/internal/probe/bpf"
)

//go:generate ../bpf/generate.sh faults -type sample -type remaining -type total -type reclaim_key -type reclaim

// minorPeriod is how many minor faults of a CPU make a sample: one costs some
// tenths of a microsecond as a fault does, so they add below 2 %. A prime, not to beat with loops.
const minorPeriod = 61

// maxSamples bounds what is kept between two collections: half an hour at the budget of two CPUs.
const maxSamples = 1_000_000

// Session is the loaded probe.
type Session struct {
	misses       bpf.Misses
	collection   *ebpf.Collection
	ring         *bpf.Ring[faultsSample]
	minor, major *bpf.PerfEvents // nil without an unwinder
	links        []link.Link
	remaining    []faultsRemaining // threads that were there when the window ended
	failed       error             // what was to be done at the end
}

// Start loads the probe.
func Start(shared *bpf.Shared) (*Session, error) {
	spec, err := loadFaults()
	if err != nil {
		return nil, fmt.Errorf("read program of faults: %w", err)
	}
	collection, err := shared.Load(spec, nil)
	if err != nil {
		return nil, fmt.Errorf("load faults: %w", err)
	}
	s := &Session{collection: collection}
	s.ring, err = bpf.NewRing[faultsSample](collection.Maps["samples"], maxSamples, shared.Options.Pause())
	if err != nil {
		collection.Close()
		return nil, err
	}
	if shared.Unwinder != nil {
		if err := s.openUnwinding(shared.Unwinder); err != nil {
			_ = s.Close() // why it could not start is the error to tell
			return nil, err
		}
	}
	return s, nil
}

// openUnwinding puts the unwinder behind the kernel's events of page faults, which do not run yet.
func (s *Session) openUnwinding(unwinder *ebpf.Program) error {
	if err := s.collection.Maps["unwinder"].Update(uint32(0), unwinder, ebpf.UpdateAny); err != nil {
		return fmt.Errorf("give faults the unwinder: %w", err)
	}
	var err error
	s.minor, err = bpf.OpenPerf(s.collection.Programs["sample_minor"], unix.PERF_COUNT_SW_PAGE_FAULTS_MIN,
		minorPeriod, false)
	if err != nil {
		return err
	}
	s.major, err = bpf.OpenPerf(s.collection.Programs["sample_major"], unix.PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1, false)
	return err
}

// Name of the probe.
func (s *Session) Name() string { return "faults" }

// events are those that are open.
func (s *Session) events() (open []*bpf.PerfEvents) {
	for _, events := range []*bpf.PerfEvents{s.minor, s.major} {
		if events != nil {
			open = append(open, events)
		}
	}
	return open
}

// Attach attaches the programs, which see nothing yet.
func (s *Session) Attach() error {
	s.remaining, s.failed = nil, nil
	links, err := bpf.AttachTracing(s.collection, "thread_ends", "group_reclaim_ends", "group_reclaim_begins",
		"direct_reclaim_ends", "direct_reclaim_begins")
	if err != nil {
		return err
	}
	s.links = links
	s.ring.Start()
	return nil
}

// Begins takes the counts of everybody who is there, and begins to sample.
func (s *Session) Begins() error {
	if _, err := bpf.Walk[byte](s.collection, "window_begins"); err != nil {
		return err
	}
	if err := bpf.Begins(s.collection); err != nil {
		return err
	}
	for _, events := range s.events() {
		if err := events.Enable(); err != nil {
			return err
		}
	}
	return nil
}

// Ends takes the counts of everybody who is left.
func (s *Session) Ends() {
	for _, events := range s.events() {
		_ = events.Disable() // fails only on a closed descriptor
	}
	err := bpf.Ends(s.collection) // before the walk, so that nobody who ends is counted twice
	s.remaining, s.failed = bpf.Walk[faultsRemaining](s.collection, "window_ends")
	s.failed = errors.Join(err, s.failed)
}

// Detach ends the sampling; what was seen waits for Collect.
func (s *Session) Detach() {
	for _, events := range s.events() {
		_ = events.Disable() // fails only on a closed descriptor
	}
	bpf.CloseLinks(s.links)
	s.links = nil
	s.ring.Stop()
}

// Close unloads the probe.
func (s *Session) Close() error {
	s.Detach()
	for _, events := range s.events() {
		events.Close()
	}
	err := s.ring.Close()
	s.collection.Close()
	return err
}
