// Package syscalls sees the target's system calls: how often each thread made
// each, how many failed and with what error, how many bytes, how long by powers
// of two; and whole, on what and with which waits, those that took
// Options.Wait and longer.
//
// Counts are added up in the kernel; only slow calls reach user space one by
// one. What is timed and what is estimated: syscalls.bpf.c and estimate.
package syscalls

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/slow"
)

//go:generate ../bpf/generate.sh syscalls -type slow_event
//go:generate ./names.sh

// maxSlow bounds the slow calls kept between two collections: 27 MB.
const maxSlow = 128 << 10

// Session is the loaded probe.
type Session struct {
	misses     bpf.Misses
	collection *ebpf.Collection
	ring       *bpf.Ring[syscallsSlowEvent]
	links      []link.Link
	uring      uring
}

// Start loads the probe.
func Start(shared *bpf.Shared) (*Session, error) {
	spec, err := loadSyscalls()
	if err != nil {
		return nil, fmt.Errorf("read program of syscalls: %w", err)
	}
	replace, err := shared.Announce(spec)
	if err != nil {
		return nil, err
	}
	values := map[string]any{"slow_ns": uint64(shared.Options.Wait), "arguments": arguments()}
	if err := bpf.Set(spec, values); err != nil {
		return nil, err
	}
	uring := startUring(shared, spec)
	collection, err := shared.Load(spec, replace)
	if err != nil {
		uring.close()
		return nil, fmt.Errorf("load syscalls: %w", err)
	}
	s := &Session{collection: collection, uring: uring}
	if s.ring, err = bpf.NewRing[syscallsSlowEvent](collection.Maps["slow"], maxSlow, shared.Options.Pause()); err != nil {
		uring.close()
		collection.Close()
		return nil, err
	}
	return s, nil
}

// Name of the probe.
func (s *Session) Name() string { return "syscalls" }

// Attach begins to count.
func (s *Session) Attach() error {
	links, err := bpf.AttachTracing(s.collection, "call_entered", "call_left")
	if err != nil {
		return err
	}
	s.links = links
	s.ring.Start()
	return s.uring.attach()
}

// Detach ends the counting.
func (s *Session) Detach() {
	bpf.CloseLinks(s.links)
	s.links = nil
	s.uring.detach()
	s.ring.Stop()
}

// Collect moves counts, errors and slow calls into the window's tables and clears them. The waits
// of the window must have been collected: slow calls are joined with them.
func (s *Session) Collect(window *bpf.Window) error {
	err := errors.Join(s.collectCounts(window), s.collectErrors(window), s.collectOpened(window),
		s.uring.collect(window))
	if err != nil {
		return err
	}
	events, over, err := s.ring.Take()
	if err != nil {
		return err
	}
	window.Lose("syscalls: slow calls over the limit", over)
	paths, err := s.takePaths()
	if err != nil {
		return err
	}
	window.Recording.Slow = slow.Join(slowCalls(events, paths, window), window.Recording.Waits)
	s.misses.Take(window, "syscalls", s.collection)
	return window.TakeLosses(s.collection.Maps["losses"], "syscalls: calls of threads that did not fit",
		"syscalls: slow calls dropped", "syscalls: names of files that did not fit", "syscalls: errors that did not fit",
		"syscalls: opened files that did not fit")
}

// Close unloads the probe.
func (s *Session) Close() error {
	s.Detach()
	s.uring.close()
	err := s.ring.Close()
	s.collection.Close()
	return err
}
