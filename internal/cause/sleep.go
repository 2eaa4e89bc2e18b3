package cause

import (
	"slices"

	"culprit/internal/compare"
	"culprit/recording"
)

// findSleep claims waiting that the program asked for: under a sleep, ended by a timer.
func findSleep(s *scene) []*claim {
	if s.metric != compare.MetricWall {
		return nil
	}
	s.queueOfNaps()
	c := s.take("sleep.deliberate", func(i int) bool {
		path := &s.paths[i]
		if path.Kind != compare.Blocked || path.WakerKind != recording.WakerTimer || path.Lock ||
			!sleepCalls[path.Syscall] || path.Nap {
			return false
		}
		for _, frame := range path.Frames {
			if containsAny(frame.Name, kernelDelays) {
				return false
			}
		}
		return true
	})
	if c == nil {
		return nil
	}
	if s.polling(c) {
		s.release(c)
		return []*claim{s.polledWork()}
	}
	turns, locked := s.byTurns(c)
	switch {
	case locked || s.queued(c, turns):
		s.markInTurn(c)
		return nil
	case turns:
		s.tellTurns(c)
	}
	s.locateSleep(c)
	s.tellAwaiting(c, turns)
	s.adviseTurns(c)
	countA, countB, held := 0.0, 0.0, 0.0
	for i := range s.waits {
		if s.waits[i].WakerKind == recording.WakerTimer && sleepCalls[s.waits[i].Syscall] {
			countA += mean(s.waits[i].CountA)
			countB += mean(s.waits[i].CountB)
		}
	}
	c.add("offcpu", "waits that a timer ended, all threads", countA, countB, "waits/run")
	for _, call := range s.callsOf(c) {
		a, b := s.count("syscall."+call+".count", "")
		c.add("syscalls", call+" calls", a, b, "calls/run")
	}
	for _, i := range c.members {
		if len(s.paths[i].For) > 0 {
			held += s.grown(i)
		}
	}
	if held > 0 {
		c.add("offcpu", "of it slept while another thread waited for a lock that the sleeper held", 0, held, "s/run")
	}
	return []*claim{c}
}

// adviseTurns says what helps as well where each sleep is as long as before, of tasks that have no stack: that they go
// one after the other now is as likely as that there are more of them.
func (s *scene) adviseTurns(c *claim) {
	open := slices.Contains(c.against, unseenInLoop) || slices.Contains(c.against, s.unseenTasks())
	if entry, known := Lookup(c.id); known && open && c.remedy == "" && s.sleepsAsBefore(c) {
		c.remedy = entry.Remedy + "; each sleep is as long as before: if it is the same ones that go one after the other " +
			"now, take the lock after the sleep, or " + byTurnsRemedy
	}
}

// locateSleep names the function that sleeps; a runtime that parks its threads
// elsewhere (Go, Node) shows it in CPU samples only.
func (s *scene) locateSleep(c *claim) {
	if looped, all := s.parted(c, s.inLoop); looped >= mostOf*all {
		c.at(callerOf(s.cpu, isSleep)) // the loop itself says nothing of who sleeps
	}
	for _, i := range c.members {
		if s.traits[i].place >= 0 {
			s.locate(c, "")
			break
		}
	}
	accept := map[string]bool{}
	for _, i := range c.members {
		accept[s.paths[i].Process] = true
	}
	s.timerPlaces(c, func(wait *compare.Wait) bool { return len(c.where) == 0 && accept[wait.Process] })
	s.locateAround(c)
	if len(c.where) == 0 {
		s.locate(c, "")
		if len(c.where) == 0 || c.where[0] == "" {
			s.locateProcess(c)
		}
		return
	}
	if c.place.Frames == nil { // told by who sets timers: say as well where the thread slept
		if slept := s.below(c.members, ""); slept != "" {
			c.at(slept)
		}
	}
}

// locateAround puts first the function that what ran before and after the sleeps
// has in common, where the sleeps' own stacks do not show it.
func (s *scene) locateAround(c *claim) {
	grown := map[string]float64{}
	for _, i := range c.members {
		if path := &s.paths[i]; len(path.Around) > 0 && s.traits[i].place < 0 {
			grown[route(path.Around)] += s.grown(i)
		}
	}
	if places := byValue(grown); len(places) > 0 && grown[places[0]] > 0 && places[0] != "" {
		c.where = append([]string{places[0]}, slices.DeleteFunc(c.where, func(w string) bool { return w == places[0] })...)
	}
}

const (
	// Sleeps that both sides make, growing by as much as the CPU time grew, only wait for work to be done.
	pollingBefore = 0.2
	pollingWork   = 0.7
)

// polling reports whether the sleeps only pass the time until other threads have done their work. Work on the way
// itself is none that anybody slept for.
func (s *scene) polling(c *claim) bool {
	if s.in.CPU == nil || s.oneSided {
		return false
	}
	elsewhere := s.cpuGrowth
	for i := range s.paths {
		if s.paths[i].Kind == compare.Running {
			elsewhere -= s.grown(i)
		}
	}
	a, b := s.seconds(c)
	return mean(a) >= pollingBefore*mean(b) && elsewhere >= pollingWork*(mean(b)-mean(a))
}

// polledWork claims the sleeps of a poll loop for the code that it waits for.
func (s *scene) polledWork() *claim {
	blame := compare.FindBlame(s.cpu, nil)
	if blame == nil {
		return nil
	}
	c := s.take(codeCause(blame), func(i int) bool {
		return s.paths[i].Kind == compare.Blocked && s.paths[i].WakerKind == recording.WakerTimer && !s.paths[i].Lock
	})
	if c == nil {
		return nil
	}
	s.describeCode(c, blame, s.cpu)
	c.against = append(c.against, "seen through a thread that sleeps and looks again until this code is done")
	return c
}
