// Package requests follows the requests of the target's services on their sockets, without the
// services' help: TCP and unix sockets, any protocol whose ends take turns. A request lasts from
// the moment its first data is ready on the socket, whether anybody reads it or not, to the last
// byte sent before the next one is read. What the target asks of other services is followed the
// same way from its end.
//
// The first bytes name the protocol and the kind (head.go). Latencies are counted in the kernel; in
// full it hands over those that are slow for their kind, and a random sample of the others.
// Connections that carry several streams (HTTP/2, gRPC) are followed by their frames, which turns
// say nothing of (streams.h).
package requests

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"

	"culprit/internal/probe/bpf"
)

//go:generate ../bpf/generate.sh requests -type request_event -type waiting -type limit -type kind_sums -type kind

// maxEvents bounds the requests kept in full between two collections.
const maxEvents = 200_000

// Session is the loaded probe.
type Session struct {
	shared     *bpf.Shared
	collection *ebpf.Collection
	source     source
	missing    []string // hooks that the kernel lacks
	ring       *bpf.Ring[requestsRequestEvent]
	links      []link.Link
	misses     bpf.Misses
	epoch      uint32
	watch      *watch
	unanswered []requestsRequestEvent
	failed     error // the window could not be begun or ended as it should
	era        uint32
	going      bool     // sockets are followed on from the last window
	carried    *carried // from that window; nil: nothing
	share      float64  // of the time that is watched; 0 and 1: all of it
}

// carried is what a window that goes on with another has to know: what was counted is never taken
// back in between.
type carried struct {
	kinds map[uint32]tally
	toNs  int64 // so far it was told
	aside map[uint32]aside
}

// aside is what a service counts beside its requests.
type aside struct{ pushes, pipelined, multiplexed uint64 }

// Start loads the probe.
func Start(shared *bpf.Shared) (*Session, error) {
	spec, err := loadRequests()
	if err != nil {
		return nil, fmt.Errorf("read program of requests: %w", err)
	}
	s := &Session{shared: shared, source: byHooks}
	if s.missing, err = missingHooks(); err != nil {
		return nil, err
	}
	if len(s.missing) > 0 || shared.Options.ByCalls {
		s.source = byCalls
	}
	if shared.Options.WalkFiles || !s.source.walksMaps() {
		s.source = s.source.walkingFiles()
	}
	if err := s.source.choose(spec); err != nil {
		return nil, err
	}
	collection, err := shared.Load(spec, nil)
	if err != nil {
		return nil, fmt.Errorf("load requests: %w", lacks(err))
	}
	s.collection = collection
	s.ring, err = bpf.NewRing[requestsRequestEvent](collection.Maps["requests"], maxEvents, bpf.DrainEvery)
	if err != nil {
		collection.Close()
		return nil, err
	}
	return s, nil
}

// lacks tells a kernel that has not what the programs need.
func lacks(err error) error {
	if errors.Is(err, btf.ErrNotFound) || errors.Is(err, ebpf.ErrNotSupported) {
		return fmt.Errorf("%w: following requests takes Linux 5.17 (%v)", bpf.ErrNotSupported, err)
	}
	return err
}

// Name of the probe.
func (s *Session) Name() string { return "requests" }

// Attach begins to follow sockets that are opened.
func (s *Session) Attach() (err error) {
	s.unanswered, s.failed = nil, nil
	s.era++
	if err := s.collection.Variables["era"].Set(s.era); err != nil {
		return fmt.Errorf("begin to follow requests: %w", err)
	}
	if s.going {
		return nil
	}
	err = s.follow()
	s.ring.Start()
	return err
}

// follow has the programs look at sockets; what they know from before is void.
func (s *Session) follow() (err error) {
	s.epoch++
	for name, value := range map[string]uint32{"epoch": s.epoch, "over": 1} {
		if err := s.collection.Variables[name].Set(value); err != nil {
			return fmt.Errorf("begin to follow requests: %w", err)
		}
	}
	if err := errors.Join(bpf.NotBegun(s.collection), s.source.empty(s.collection)); err != nil {
		return err
	}
	s.links, err = bpf.AttachTracing(s.collection, s.source.attached...)
	return err
}

// Begins finds the sockets that are open, and counts from now on.
func (s *Session) Begins() error {
	if err := errors.Join(s.source.between(s.collection, false), s.findSockets()); err != nil {
		return err
	}
	if !s.going {
		if err := bpf.Begins(s.collection); err != nil {
			return err
		}
	}
	s.watch = s.newWatch(s.carried)
	return nil
}

// findSockets finds those that are open.
func (s *Session) findSockets() error {
	for _, listenersOnly := range []uint32{1, 0} { // which of the others are a service's is known by its listener
		if err := s.collection.Variables["listeners_only"].Set(listenersOnly); err != nil {
			return fmt.Errorf("find open sockets: %w", err)
		}
		if _, err := bpf.Walk[byte](s.collection, "open_sockets"); err != nil {
			return err
		}
		// From here on sockets are adopted as they are used: before, that of a service would look
		// like one that asks.
		if err := s.collection.Variables["over"].Set(uint32(0)); err != nil {
			return fmt.Errorf("find open sockets: %w", err)
		}
	}
	return nil
}

// Carry goes on following: Collect tells what was counted up to then, and what comes until the next
// window begins is that one's.
func (s *Session) Carry() {
	if s.links == nil || s.failed != nil || s.isSliced() {
		s.Ends()
		s.Detach()
		return
	}
	s.going = true
	if s.watch != nil {
		s.watch.stop()
	}
	s.failed = s.source.between(s.collection, true)
}

// Ends takes what is not over.
func (s *Session) Ends() {
	s.going = false
	if s.watch != nil {
		s.watch.stop()
	}
	if s.isSliced() && s.watch != nil && !s.watch.on {
		return // nothing has been watched since the last slice
	}
	if s.watch != nil {
		s.watch.endedNs = bpf.Now()
	}
	s.unanswered, s.failed = s.stopCounting()
}

// stopCounting takes what is over, and returns the requests that have no answer.
func (s *Session) stopCounting() ([]requestsRequestEvent, error) {
	failed := s.collection.Variables["over"].Set(uint32(1))
	open, err := s.sweep()
	streams, unread := s.walk(s.source.sweepStreams, s.source.connections)
	return append(open, streams...), errors.Join(failed, err, unread, bpf.Ends(s.collection))
}

// sweep ends answers that are long over; at the window's end all, and shows the requests that have
// none.
func (s *Session) sweep() ([]requestsRequestEvent, error) {
	shown, err := s.walk(s.source.sweep, s.source.turns)
	return shown, errors.Join(err, s.source.forgetClosed(s.collection))
}

// walk runs a program over what is known of sockets, and returns the requests that it shows.
func (s *Session) walk(program, over string) ([]requestsRequestEvent, error) {
	if !s.source.overFiles {
		return bpf.WalkMap[requestsRequestEvent](s.collection, program, s.collection.Maps[over])
	}
	shown, err := bpf.Walk[requestsRequestEvent](s.collection, program)
	met := map[requestsRequestEvent]bool{} // a socket that several processes hold is met in each
	return slices.DeleteFunc(shown, func(event requestsRequestEvent) bool {
		again := met[event]
		met[event] = true
		return again
	}), err
}

// Detach ends the following; what was seen waits for Collect.
func (s *Session) Detach() {
	if s.watch != nil {
		s.watch.stop() // it attaches and detaches by itself where time is watched in slices
	}
	bpf.CloseLinks(s.links)
	s.links = nil
	s.ring.Stop()
	if s.going { // and is not to go on now
		s.going = false
		s.failed = errors.Join(s.failed, s.forget())
	}
}

// Close unloads the probe.
func (s *Session) Close() error {
	s.Detach()
	if s.watch != nil {
		s.watch.stop()
	}
	err := s.ring.Close()
	s.collection.Close()
	return err
}

// watch looks at what was counted once in a while: it cuts the window into slices and sets what is
// slow.
type watch struct {
	session *Session
	done    chan struct{}
	ended   chan struct{}
	once    sync.Once
	beganNs int64
	slices  []slice
	before  map[uint32]tally // of each kind at the end of the last slice
	failed  error
	endedNs int64 // when the window ended
	sliced
	goroutines *goroutines
}
