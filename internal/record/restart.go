package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"culprit/recording"
)

const (
	// RootEvery is how often it is looked whether the process that stands for a service is there.
	RootEvery = 200 * time.Millisecond
	// findLeast and findMost are the pauses between two searches for a service that is gone, and
	// findShare is the part of the time that searches may take: on a host with very many processes
	// each is long.
	findLeast = 100 * time.Millisecond
	findMost  = 2 * time.Second
	findShare = 0.05
	// checkEvery is how often a search looks whether another process than the one that still lives
	// has taken a port over.
	checkEvery = 5 * time.Second
	checkShare = 0.002
	// SaidAfter is how long a service may be away until that is said.
	SaidAfter = time.Second
	// heirLimit is how long after the end of a cgroup's eldest process one that comes in is taken
	// for its successor.
	heirLimit = 30 * time.Second
	// restartsSaid is how many restarts are said as they come.
	restartsSaid = 10
)

// service is what is known of a target that can be other processes later: a port, a unit, a cgroup.
type service struct {
	root      Process   // stands for it: who listens on the port, the eldest of a cgroup
	rootEnded time.Time // when that was found to be gone, while others of the target were left
	strangers []int     // processes of the cgroup that nobody followed at the last look
	checkAt   time.Time // when it is searched for next
}

func newService(target Target) *service {
	if !target.ComesBack() {
		return nil
	}
	s := &service{root: target.Eldest(), checkAt: time.Now().Add(checkEvery)}
	if target.isPort() {
		s.root = processAt(target.Pid)
	}
	return s
}

// find looks for a service as it is now; the zero Process: it is not there. pause is how long to
// wait until the next search, so that searches take a share of the time.
func (t Target) find(share float64) (found Target, root Process, pause time.Duration) {
	began := time.Now()
	found, err := t.Find() // of a cgroup without another name it is what it was
	switch {
	case err != nil:
		found = t
	case found.isPort():
		root = processAt(found.Pid)
	default:
		root = found.Eldest()
	}
	return found, root, time.Duration(float64(time.Since(began)) / share)
}

// waitOn lets time go by, of a service until its process is found to be gone; false when there is
// no more to come.
func (r *Run) waitOn(ctx context.Context, length time.Duration) bool {
	s := r.service
	if s == nil || !s.rootEnded.IsZero() {
		return r.wait(ctx, length)
	}
	for until := time.Now().Add(length); ; {
		left := time.Until(until)
		if left <= 0 {
			return true
		}
		if !r.wait(ctx, min(RootEvery, left)) {
			return false
		}
		if !s.root.Lives() {
			return true
		}
	}
}

// followService looks where the service is now. Who comes in its place is recorded from the next
// part on: probes know the beginning of a part, and not that of a process within it.
func (r *Run) followService(ctx context.Context) error {
	s := r.service
	if !s.isDue() {
		return nil
	}
	began := time.Now()
	left, err := r.Recorder.left(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	if len(left) == 0 {
		return r.awaitService(ctx)
	}
	find := r.heirOfCgroup
	if r.Target.isPort() {
		find = r.heirOfPort
	}
	next, joined := find(left)
	share, least := checkShare, checkEvery
	if !s.rootEnded.IsZero() {
		share, least = findShare, findLeast
	}
	s.checkAt = time.Now().Add(max(least, time.Duration(float64(time.Since(began))/share)))
	switch {
	case joined && time.Since(r.parts.began) >= partLeast:
		return r.renew(ctx, "processes came into the cgroup")
	case next.root.Pid == 0:
		return nil
	case slices.Contains(left, next.root.Pid): // one that it started has taken over, and is followed
		restart := s.restart(next.root)
		restart.TimeNs = int64(time.Since(r.parts.began))
		r.noteRestart(restart)
		r.parts.target.MoveTo(next.target)
		s.took(next.root)
		return nil
	}
	return r.goOnFrom(ctx, next)
}

// isDue tells whether it is to be looked where the service is: now and then, and when its process
// has ended.
func (s *service) isDue() bool {
	return !time.Now().Before(s.checkAt) || s.rootEnded.IsZero() && !s.root.Lives()
}

// heir is who came in the place of a service's process; the zero heir: nobody.
type heir struct {
	target Target
	root   Process
}

// heirOfPort finds who took a port over, of a process that is gone or drains its connections.
func (r *Run) heirOfPort([]int) (next heir, joined bool) {
	s := r.service
	target, root, _ := r.parts.target.find(findShare)
	switch {
	case root == s.root:
		return heir{}, false
	case root.Pid == 0: // what it started goes on, or two listen for a while
		s.rootMayHaveEnded()
	}
	return heir{target, root}, false
}

// heirOfCgroup finds processes that were put into a cgroup, and were not started by one that is
// followed. They joined those that are there, or came in the place of the one that was there first.
func (r *Run) heirOfCgroup(left []int) (next heir, joined bool) {
	s := r.service
	pids, err := r.parts.target.Pids()
	if err != nil {
		return heir{}, false // what has left it is followed still
	}
	strangers := slices.DeleteFunc(pids, func(pid int) bool { return slices.Contains(left, pid) })
	before := s.strangers
	s.strangers = strangers
	if s.root.Lives() {
		return heir{}, slices.ContainsFunc(strangers, func(pid int) bool { return slices.Contains(before, pid) })
	}
	s.rootMayHaveEnded()
	next = heir{r.parts.target, eldest(strangers)}
	if next.root.Pid == 0 && time.Since(s.rootEnded) > heirLimit { // only one of many, then
		s.took(eldest(left))
	}
	return next, false
}

func (s *service) rootMayHaveEnded() {
	if s.rootEnded.IsZero() && !s.root.Lives() {
		s.rootEnded = time.Now()
	}
}

// took has another process stand for the service.
func (s *service) took(root Process) {
	*s = service{root: root, checkAt: time.Now().Add(checkEvery)}
}

// restart is that of a service whose process gave way to another one.
func (s *service) restart(next Process) recording.Restart {
	restart := recording.Restart{Pid: s.root.Pid, NewPid: next.Pid}
	if !s.rootEnded.IsZero() {
		restart.AwayNs = int64(time.Since(s.rootEnded))
	}
	return restart
}

// goOnFrom ends a part and begins the next with the processes that came in the place of others.
func (r *Run) goOnFrom(ctx context.Context, next heir) error {
	restart, since := r.service.restart(next.root), time.Now()
	if err := r.parts.EndToGoOn(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	err := r.beginWith(ctx, next, restart, since)
	if errors.Is(err, ErrGone) {
		return r.awaitService(ctx)
	}
	return err
}

// beginWith begins a part with the processes of a service that were found.
func (r *Run) beginWith(ctx context.Context, next heir, restart recording.Restart, since time.Time) error {
	r.parts.target.MoveTo(next.target)
	if err := r.parts.Begin(context.WithoutCancel(ctx), "the service was restarted"); err != nil {
		return err
	}
	restart.AwayNs += int64(time.Since(since))
	r.noteRestart(restart)
	r.service.took(next.root)
	return nil
}

// MoveTo has a target be where it was found.
func (t *Target) MoveTo(found Target) { t.Kind, t.Pid, t.Cgroup = found.Kind, found.Pid, found.Cgroup }

// noteRestart notes a restart by the time since the part began that is open, and says it.
func (r *Run) noteRestart(restart recording.Restart) {
	r.parts.restarts = append(r.parts.restarts, restart)
	restart.TimeNs += r.parts.lengthNs
	switch r.said++; {
	case r.said < restartsSaid:
		r.say("%s was restarted: %s", r.Target.Name(), restart)
	case r.said == restartsSaid:
		r.say("%s was restarted once more: %s; the recording has those that follow", r.Target.Name(), restart)
	}
}

func (r *Run) say(format string, words ...any) {
	if r.Say != nil {
		r.Say(fmt.Sprintf(format, words...))
	}
}

// awaitService ends the part that is open, of a service that is gone, and begins the next when it
// is back. That the time is up before is no error.
func (r *Run) awaitService(ctx context.Context) error {
	s, since := r.service, time.Now()
	if err := r.parts.End(context.WithoutCancel(ctx)); err != nil || r.gone {
		return err
	}
	for said := false; ; {
		target, root, pause := r.parts.target.find(findShare)
		if root.Pid > 0 {
			err := r.beginWith(ctx, heir{target, root}, recording.Restart{Pid: s.root.Pid, NewPid: root.Pid}, since)
			if !errors.Is(err, ErrGone) {
				return err
			}
		}
		if !said && time.Since(since) >= SaidAfter {
			said = true
			r.say("%s: process %d has ended and none came in its place yet: waiting for up to %v", r.Target.Name(),
				s.root.Pid, time.Until(r.until).Round(time.Second))
		}
		if !r.wait(ctx, min(max(pause, findLeast), findMost)) {
			r.gone = true
			restart := recording.Restart{Pid: s.root.Pid, AwayNs: int64(time.Since(since))}
			r.parts.restarts = append(r.parts.restarts, restart)
			return nil
		}
	}
}
