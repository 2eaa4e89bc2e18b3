package record

import (
	"slices"
	"time"

	"culprit/recording"
)

// Service is a target that can be other processes later, for who looks at it in one window after
// the other.
//
//	s := record.NewService(target) // nil: it cannot
//	target, restart, pause := s.Find() // before each window; no target: it is away, look again after the pause
type Service struct {
	service
	target Target
	known  []int // processes of it at the last look
}

// NewService returns nil for a target that ends with its process.
func NewService(target Target) *Service {
	first := newService(target)
	if first == nil {
		return nil
	}
	s := &Service{service: *first, target: target}
	s.known, _ = target.Pids() // of what is gone there are none
	return s
}

// Due tells whether it is time to look where the service is: its process has ended, or was long not
// looked after.
func (s *Service) Due() bool { return s.isDue() }

// Ended tells that the process that stood for the service at the last look is gone, which nobody
// knew before.
func (s *Service) Ended() bool { return s.rootEnded.IsZero() && !s.root.Lives() }

// Find looks where the service is. restart is nil where it is as it was. Of a cgroup whose eldest
// process ended while others of it stay it is also nil, until one that none of them started comes
// in its place.
func (s *Service) Find() (target Target, restart *recording.Restart, pause time.Duration) {
	found, root, pause := s.target.find(findShare)
	pause = min(max(pause, findLeast), findMost)
	if root.Pid == 0 {
		s.rootMayHaveEnded()
		return Target{}, nil, pause
	}
	s.target.MoveTo(found)
	pids, _ := s.target.Pids() // who has just ended is found out by the next look
	if !found.isPort() {
		root = s.heirAmong(pids, root)
	}
	if root.Pid == 0 {
		return s.target, nil, pause
	}
	if root != s.root && (found.isPort() || !slices.Contains(s.known, root.Pid)) {
		s.rootMayHaveEnded()
		one := s.restart(root)
		restart = &one
	}
	s.took(root)
	s.known = pids
	return s.target, restart, pause
}

// heirAmong is the process that stands for a cgroup from now on: as before while that lives; who
// came in its place, or the eldest of all where nobody known before is left, or nobody came for
// long; the zero Process: nobody yet.
func (s *Service) heirAmong(pids []int, oldest Process) Process {
	if s.root.Lives() {
		return s.root // one that is older and was put into it later is no successor
	}
	isKnown := func(pid int) bool { return slices.Contains(s.known, pid) }
	if !slices.ContainsFunc(pids, isKnown) {
		return oldest
	}
	s.rootMayHaveEnded()
	strangers := slices.DeleteFunc(slices.Clone(pids), func(pid int) bool {
		return slices.ContainsFunc(s.known, func(known int) bool { return pid == known || isBelow(pid, known) })
	})
	next := eldest(strangers)
	if next.Pid == 0 && time.Since(s.rootEnded) > heirLimit { // only one of many, then
		return oldest
	}
	s.checkAt = time.Now() // the next look looks again
	return next
}
