package cause

import (
	"maps"
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/recording"
)

const (
	herdClaim = "threads wait for each other's user-space lock: all that wait for a condition are woken together, " +
		"queue for its lock, and most find nothing left to do"
	herdRemedy = "wake one waiter for each item where any of them will do (notify_one, notify, signal); give those who " +
		"wait for different things conditions of their own; wake them after the lock is given up"
)

const (
	// A place that waited this much less often on the other side waits for something new, not in
	// vain.
	leastWaitedBefore = 0.005
	// leastBroadcast of the growth must be waking all, which side A did for less than
	// rarelyBroadcast of that per wait.
	leastBroadcast  = 0.001
	rarelyBroadcast = 0.2
)

// findHerd claims what it costs to wake all waiters of a condition where the other side woke one:
// the waking, the switches to those woken, their queue for the lock, and their way back to sleep.
// More waits at a condition that is broadcast as before are more work, as of a barrier.
func findHerd(s *scene) []finding {
	if s.oneSided {
		return nil
	}
	woken, locks := s.wokenAtConditions()
	if woken.more() < fewestCalls || !s.broadcasts(woken) {
		return nil
	}
	return []finding{{cause: LockContended,
		match: func(i int) bool {
			names := conditionOf(s.paths[i].Frames, s.traits[i].place)
			return s.calls(i, names.Wait) || s.calls(i, names.All) || s.calls(i, names.One) ||
				locks <= woken.more() && (s.traits[i].lock || s.paths[i].Lock)
		},
		tell: func(c *claim) { s.tellHerd(c, woken) }}}
}

func (s *scene) tellHerd(c *claim, woken sides) {
	c.claim, c.remedy = herdClaim, herdRemedy
	c.at(inCode(callerOf(s.cpu, func(frame recording.Frame) bool {
		return containsAny(frame.Name, code.Conditions[frame.Kind].All)
	})))
	c.at(inCode(callerOf(s.cpu, func(frame recording.Frame) bool {
		return containsAny(frame.Name, code.Conditions[frame.Kind].Wait)
	})).as(WokenIn))
	c.add("offcpu", "waits at conditions, and for their locks on waking, all threads", woken, "waits/run")
	s.addFutexCalls(c)
}

// conditionOf are the names that tell of a stack whose own code ends at place; none where no code
// is the program's own.
func conditionOf(frames []recording.Frame, place int) (none code.Condition) {
	if place < 0 {
		return none
	}
	return code.Conditions[frames[place].Kind]
}

// calls reports whether the program's own code calls one of these functions in a path.
func (s *scene) calls(i int, names []string) bool {
	return called(s.paths[i].Frames, s.traits[i].place, names)
}

func called(frames []recording.Frame, place int, names []string) bool {
	return slices.ContainsFunc(frames[place+1:], func(f recording.Frame) bool { return containsAny(f.Name, names) })
}

// broadcasts reports whether side B wakes all waiters of a condition, in at least half of its runs,
// and side A hardly ever does for as many waits.
func (s *scene) broadcasts(woken sides) bool {
	var waking sides
	var runs []float64
	for i := range s.cpu {
		place := s.code.Innermost(s.cpu[i].Frames)
		if called(s.cpu[i].Frames, place, conditionOf(s.cpu[i].Frames, place).All) {
			waking, runs = waking.plus(means(s.cpu[i].A, s.cpu[i].B)), plus(runs, s.cpu[i].B)
		}
	}
	seen := positive(runs)
	return seen > 0 && 2*seen >= len(runs) && waking.b >= leastBroadcast*s.growth &&
		waking.a*woken.b <= rarelyBroadcast*waking.b*woken.a
}

// wokenAtConditions adds up the waits at conditions, by own function, that grew with broadcasting,
// and by how many the other waits for locks grew.
func (s *scene) wokenAtConditions() (woken sides, locks float64) {
	places := map[string]sides{}
	for i := range s.waits {
		wait := &s.waits[i]
		place := s.code.Innermost(wait.Frames)
		times := means(wait.CountA, wait.CountB)
		switch {
		case wait.Kind != compare.Blocked:
		case called(wait.Frames, place, conditionOf(wait.Frames, place).Wait):
			name := route(wait.Frames[:place+1])
			places[name] = places[name].plus(times)
		case wait.Lock:
			locks += times.more()
		}
	}
	for _, name := range slices.Sorted(maps.Keys(places)) { // a sum depends on the order
		if waits := places[name]; waits.a >= leastWaitedBefore*waits.b && waits.b >= manyTimes*waits.a {
			woken = woken.plus(waits)
		}
	}
	return woken, locks
}
