// Package processes follows the target's tree: every fork, exec and end, with
// the scheduler's own account of each thread's CPU time. None is missed: 500
// processes that live a millisecond are 500 rows.
//
// The map of target tasks grows here (a child of a target becomes a target), so
// this probe is loaded with every other one.
package processes

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"culprit/internal/probe/bpf"
)

//go:generate ../bpf/generate.sh processes -type event

// maxEvents bounds what is kept between two collections.
const maxEvents = 1_000_000

// The kinds of events, as in processes.bpf.c.
const (
	forked    = 1
	executed  = 2
	ended     = 3
	present   = 4
	remaining = 5
)

// ownCall marks the end of the thread that ended the whole process, as in processes.bpf.c.
const ownCall = 2

// Session is the loaded probe.
type Session struct {
	shared     *bpf.Shared
	collection *ebpf.Collection
	ring       *bpf.Ring[processesEvent]
	links      []link.Link
	misses     bpf.Misses
	followed   []processesEvent // threads that were there when they were made targets
	found      []processesEvent // threads that were there when the window began
	remaining  []processesEvent // threads that were there when it ended
	groups     groups           // of those that were there when it began
	failed     error            // the walk at the end failed
}

// Start loads the probe; it makes the shared map of tasks when it is the first.
func Start(shared *bpf.Shared) (*Session, error) {
	spec, err := loadProcesses()
	if err != nil {
		return nil, fmt.Errorf("read program of processes: %w", err)
	}
	replace, err := shared.Announce(spec)
	if err != nil {
		return nil, err
	}
	collection, err := shared.Load(spec, replace)
	if err != nil {
		return nil, fmt.Errorf("load processes: %w", err)
	}
	ring, err := bpf.NewRing[processesEvent](collection.Maps["events"], maxEvents, shared.Options.Pause())
	if err != nil {
		collection.Close()
		return nil, err
	}
	shared.Ends = collection.Programs["process_ended"]
	return &Session{shared: shared, collection: collection, ring: ring}, nil
}

// Name of the probe.
func (s *Session) Name() string { return "processes" }

// Attach begins to follow.
func (s *Session) Attach() error {
	programs := []string{"process_forked", "process_executed"}
	if s.shared.Queue["booked_code"] != nil {
		programs = append(programs, "process_freed")
	}
	if !s.shared.EndsCalled {
		programs = append(programs, "process_ended")
	}
	links, err := bpf.AttachTracing(s.collection, programs...)
	if err != nil {
		return err
	}
	s.links = links
	s.ring.Start()
	return nil
}

// Forget makes nobody a target.
func (s *Session) Forget() error {
	s.followed, s.found, s.remaining, s.failed = nil, nil, nil, nil
	_, err := bpf.Walk[processesEvent](s.collection, "forget")
	return errors.Join(err, s.shared.ForgetEntries())
}

// Follow makes the threads of processes targets and returns how many there were.
func (s *Session) Follow(pids []int) (threads int, err error) {
	roots := s.collection.Maps["roots"]
	for _, pid := range pids {
		if err := roots.Update(uint32(pid), uint8(1), ebpf.UpdateAny); err != nil {
			return 0, fmt.Errorf("follow process %d: %w", pid, err)
		}
	}
	found, err := bpf.Walk[processesEvent](s.collection, "follow")
	for _, pid := range pids {
		if err := roots.Delete(uint32(pid)); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
			return 0, fmt.Errorf("follow process %d: %w", pid, err)
		}
	}
	s.followed = append(s.followed, found...)
	return len(found), err
}

// Begins takes the account of everybody who is there.
func (s *Session) Begins() (err error) {
	s.found, err = bpf.Walk[processesEvent](s.collection, "remain")
	for i := range s.found {
		s.found[i].Kind = present // the walk is the same at both ends
	}
	s.groups = groupsOf(s.found)
	return err
}

// Ends takes the account of everybody who is left.
func (s *Session) Ends() {
	s.remaining, s.failed = bpf.Walk[processesEvent](s.collection, "remain")
}

// Left lists the processes of the target that are there now.
func (s *Session) Left() (pids []int, err error) {
	left, err := bpf.Walk[processesEvent](s.collection, "remain")
	known := map[uint32]bool{}
	for i := range left {
		if of := left[i].Tgid; !known[of] {
			known[of] = true
			pids = append(pids, int(of))
		}
	}
	return pids, err
}

// Detach ends the following; what was seen waits for Collect.
func (s *Session) Detach() {
	bpf.CloseLinks(s.links)
	s.links = nil
	s.ring.Stop()
}

// Collect moves what was seen into the window's tables of processes and threads.
func (s *Session) Collect(window *bpf.Window) error {
	events, over, err := s.ring.Take()
	if err = errors.Join(err, s.failed); err != nil {
		return err
	}
	window.Lose("processes: events over the limit", over)
	err = window.TakeLosses(s.collection.Maps["losses"], "processes: events dropped",
		"processes: threads that could not be followed")
	if err != nil {
		return err
	}
	s.misses.Take(window, "processes", s.collection)
	g := newGrowth(window, s.followed)
	g.fill(s.found, events, s.remaining)
	s.groups.fill(window.Recording.Processes)
	return nil
}

// Close unloads the probe.
func (s *Session) Close() error {
	s.Detach()
	err := s.ring.Close()
	s.collection.Close()
	return err
}
