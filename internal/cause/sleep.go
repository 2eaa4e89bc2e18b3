package cause

import (
	"cmp"
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/blame"
	"culprit/internal/compare/counts"
	"culprit/recording"
)

// sleeps is what is worked out of the waits that a program asked for.
type sleeps struct {
	polling bool         // they only pass the time until other threads have done their work
	inTurn  map[int]bool // those that grew on the way only because a lock makes their threads wait for each other
	turns   bool         // over all threads they are as long as before: they go one after the other
	byTurn  bool         // what threads wait for each other at counts as a lock, though no function says so
	queue   *queue       // the lock that parked tasks wait for, nil: none is seen
	channel *queue       // the channel that they queue at, where it is no lock
	open    string       // what is not seen of them
}

// lookAtSleeps works out whether sleeps on the way are the program's choice, or follow from a lock,
// a queue or a poll.
func (s *scene) lookAtSleeps() (known sleeps) {
	if s.metric != compare.MetricWall {
		return known
	}
	known.queue = s.queueOfNaps()
	c := s.all(s.sleepsOnPurpose)
	if s.grew(c) < smallest*s.growth {
		return known
	}
	if known.polling = s.polling(c); known.polling {
		return known
	}
	locked := false
	known.turns, locked, known.byTurn = s.byTurns(c)
	if !locked {
		var lock *queue
		lock, known.channel, known.open = s.queueOf(c, known.turns)
		known.queue, locked = cmp.Or(lock, known.queue), lock != nil
	}
	if locked {
		known.inTurn = map[int]bool{}
		for _, i := range c.members {
			known.inTurn[i] = true
		}
	}
	return known
}

// sleepsOnPurpose reports whether a path is a wait that the program asked for: under a sleep, ended
// by a timer.
func (s *scene) sleepsOnPurpose(i int) bool {
	path := &s.paths[i]
	return path.Kind == compare.Blocked && path.WakerKind == recording.WakerTimer && !path.Lock &&
		sleepsIn(path.Syscall) && !path.Nap &&
		!slices.ContainsFunc(path.Frames, func(frame recording.Frame) bool { return containsAny(frame.Name, kernelDelays) })
}

// findSleep claims waiting that the program asked for.
func findSleep(s *scene) []finding {
	if s.metric != compare.MetricWall || s.sleeps.polling || s.sleeps.inTurn != nil {
		return nil
	}
	return []finding{{cause: SleepDeliberate, match: s.sleepsOnPurpose, tell: s.tellSleep}}
}

func (s *scene) tellSleep(c *claim) {
	turns := s.sleeps.turns
	s.tellQueue(c)
	if turns {
		s.tellTurns(c)
	}
	s.locateSleep(c)
	s.tellAwaiting(c, turns)
	s.adviseTurns(c)
	_, times := s.overWaits(func(wait *compare.Wait) bool {
		return wait.WakerKind == recording.WakerTimer && sleepsIn(wait.Syscall)
	})
	c.add("offcpu", "waits that a timer ended, all threads", times, "waits/run")
	for _, call := range s.callsOf(c) {
		c.add("syscalls", call+" calls", s.count(counts.Call(call, "count"), ""), "calls/run")
	}
	if held, _ := s.parted(c, func(i int) bool { return len(s.paths[i].For) > 0 }); held > 0 {
		c.add("offcpu", "of it slept while another thread waited for a lock that the sleeper held", sides{b: held}, "s/run")
	}
}

// adviseTurns says what helps as well where each sleep is as long as before, of tasks that have no
// stack: that they go one after the other now is as likely as that there are more of them.
func (s *scene) adviseTurns(c *claim) {
	if entry, known := Lookup(c.cause); known && c.doubts(DoubtTasks) && c.remedy == "" && s.sleepsAsBefore(c) {
		c.remedy = entry.Remedy + "; each sleep is as long as before: if it is the same ones that go one after the other " +
			"now, take the lock after the sleep, or " + byTurnsRemedy
	}
}

// locateSleep names the function that sleeps; a runtime that parks its threads
// elsewhere (Go, Node) shows it in CPU samples only.
func (s *scene) locateSleep(c *claim) {
	if s.mostly(c, s.inLoop) {
		c.at(inCode(callerOf(s.cpu, code.Sleeps))) // the loop itself says nothing of who sleeps
	}
	if slices.ContainsFunc(c.members, func(i int) bool { return s.traits[i].place >= 0 }) {
		s.locate(c, "")
	}
	accept := map[string]bool{}
	for _, i := range c.members {
		accept[s.paths[i].Process] = true
	}
	s.timerPlaces(c, func(wait *compare.Wait) bool { return len(c.places) == 0 && accept[wait.Process] })
	s.locateAround(c)
	if len(c.places) == 0 {
		if s.locate(c, ""); len(c.places) == 0 {
			s.locateProcess(c)
		}
		return
	}
	if c.place == nil { // told by who sets timers: say as well where the thread slept
		c.at(inCode(s.below(c.members, "")))
	}
}

// locateAround puts first the function that what ran before and after the sleeps
// has in common, where the sleeps' own stacks do not show it.
func (s *scene) locateAround(c *claim) {
	c.atFirst(inCode(longest(s.tally(c.members, func(i int) string {
		if s.traits[i].place >= 0 {
			return ""
		}
		return route(s.paths[i].Around)
	}))))
}

const (
	// Sleeps that both sides make, growing by as much as the CPU time grew, only wait for work to
	// be done.
	pollingBefore = 0.2
	pollingWork   = 0.7
)

// polling reports whether the sleeps only pass the time until other threads have done their work.
// Work on the way itself is none that anybody slept for.
func (s *scene) polling(c *claim) bool {
	if s.in.CPU == nil || s.oneSided {
		return false
	}
	elsewhere := s.cpuGrowth - over(s.paths, isRunning).more()
	slept := s.total(c)
	return slept.a >= pollingBefore*slept.b && elsewhere >= pollingWork*slept.more()
}

// findPolledWork claims the sleeps of a poll loop for the code that it waits for.
func findPolledWork(s *scene) []finding {
	if !s.sleeps.polling {
		return nil
	}
	blamed := blame.New(s.cpu, s.code.Own).Find(nil)
	if blamed == nil {
		return nil
	}
	return []finding{{cause: codeCause(blamed),
		match: func(i int) bool {
			return s.paths[i].Kind == compare.Blocked && s.paths[i].WakerKind == recording.WakerTimer && !s.paths[i].Lock
		},
		tell: func(c *claim) {
			s.describeCode(c, blamed, s.cpu)
			c.doubt(DoubtUnconfirmed, "seen through a thread that sleeps and looks again until this code is done")
		}}}
}
