package cause

import (
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/blame"
	"culprit/recording"
)

// findLock claims waiting for user-space locks, and on the CPU metric what
// taking, spinning and handing over costs.
func findLock(s *scene) []finding {
	contended, fought := s.contended(), s.ofLocks()
	bears := s.bearing(fought)
	return []finding{{cause: LockContended, tell: func(c *claim) { s.tellLock(c, fought, bears) },
		match: func(i int) bool {
			path := &s.paths[i]
			if path.Kind != compare.Running {
				return s.forLock(path) || s.sleeps.inTurn[i] || s.inQueue(i)
			}
			// Uncontended locking is user code alone; contended locking goes to the kernel or
			// spins.
			return contended && s.traits[i].lock || s.inQueue(i) ||
				slices.ContainsFunc(fought, func(line *compare.SharedLine) bool { return s.fightsFor(i, line, bears) })
		},
		stands: func(*claim) string {
			if !contended && len(fought) == 0 && s.metric == compare.MetricCPU {
				return "no longer waits for locks than before, and no more futex calls"
			}
			return ""
		}}}
}

// contended reports whether threads wait longer for locks, or come to the kernel for them more
// often. Taking a lock that nobody else has costs CPU time as well: that is code.
func (s *scene) contended() bool {
	waited, _ := s.overWaits(s.isLockWait)
	futex := s.countOf("syscall.futex.count")
	taking := s.grew(s.all(func(i int) bool { return s.traits[i].lock && isRunning(&s.paths[i]) }))
	return waited.more() > 0 && waited.more() >= waitedPart*taking ||
		futex.grew(manyTimes, fewestCalls) && handedOver*futex.more() >= waitedPart*taking
}

const (
	// waitedPart is by how much longer, beside what taking locks costs more, threads wait where
	// they fight for one: each waiter waits for as long as the holder has it. Chosen.
	waitedPart = 0.1
	// handedOver is what a call of futex may stand for, in seconds: it, a switch to who is woken,
	// and what that one does until it has the lock. Some hundred calls say nothing of a second in
	// which readers take a lock that lets them all in.
	handedOver = 50e-6
	// lockAround is the part of its function's growth from which a lock takes the rest of it.
	// Chosen: more than for calls, as what a lock guards is work of its own.
	lockAround = 0.8
)

func (s *scene) tellLock(c *claim, fought []*compare.SharedLine, bears bearing) {
	c.absorbs = lockAround
	if s.sleeps.queue != nil {
		s.describeQueue(c)
	}
	if s.sleeps.byTurn {
		c.doubt(DoubtUnseen, lockUnnamed)
	}
	s.locateLock(c)
	s.holders(c)
	seconds, waits := s.overWaits(s.isLockWait)
	c.add("offcpu", "waits for locks, all threads", waits, "waits/run")
	c.add("offcpu", "seconds waited for locks, all threads", seconds, "s/run")
	s.addFutexCalls(c)
	for _, line := range fought {
		if slices.ContainsFunc(c.members, func(i int) bool { return s.fightsFor(i, line, bears) }) {
			s.describeFought(c, line, bears)
			break // they are in order: the most sampled one
		}
	}
}

// describeFought tells of the lock's own word, which compiled code takes without a call, or of what
// the lock guards.
func (s *scene) describeFought(c *claim, line *compare.SharedLine, bears bearing) {
	word := "words that are handed on with the lock"
	if line.Monitor {
		word = "the lock's own word"
		c.at(Place{Kind: InLock, Name: line.Name})
	}
	c.line = Drawn(line)
	if line.Confirmed {
		c.note("lines", "threads at "+word+", confirmed by "+s.confirmedBy())
	}
	c.add("lines", "samples whose operand is "+word, means(line.A, line.B), "samples/run")
	c.add("lines", "time of the samples of its code in shared lines, all threads", borneBy(line, bears), "s/run")
}

// lockUnnamed is what a lock leaves open that only shows in who waits for whom.
const lockUnnamed = "no function that takes a lock was seen: who waits is woken by who slept meanwhile, and wakes it " +
	"in turn"

// forLock reports whether a path waits for a lock.
func (s *scene) forLock(path *compare.Path) bool { return path.Lock || s.sleeps.byTurn && path.Turn }

func (s *scene) isLockWait(wait *compare.Wait) bool { return s.forLock(&wait.Path) }

func (s *scene) addFutexCalls(c *claim) {
	c.add("syscalls", "futex calls", s.countOf("syscall.futex.count"), "calls/run")
}

// taking is the part of a stack up to the function that takes a lock of a database, which is the
// server's own code.
func taking(frames []recording.Frame) []recording.Frame {
	at := slices.IndexFunc(frames, func(frame recording.Frame) bool { return code.IsDatabaseLock(frame.Name) })
	if at > 0 {
		return frames[:at]
	}
	return frames
}

// locateLock puts first the function that takes the lock. Where threads sleep with the lock most of
// its time is spent in the sleeper, which holds it: then the waits of all threads tell who takes
// it.
func (s *scene) locateLock(c *claim) {
	if len(s.sleeps.inTurn) > 0 {
		grown, stacks := s.waitedAt(false, func(wait *compare.Wait) []recording.Frame {
			if !s.forLock(&wait.Path) {
				return nil
			}
			return taking(wait.Frames)
		})
		c.place = stacks[longest(grown)]
		c.at(inCode(longest(grown)))
	}
	if len(c.places) == 0 {
		s.locate(c, "")
	}
}

// serialPart is the part of a function's growth in wall time from which more CPU time in it
// explains the growth.
const serialPart = 0.3

// serialised reports whether a function grew on the critical path without using more CPU time:
// then less of it ran in parallel.
func (s *scene) serialised(c *claim, blamed *blame.Blame) bool {
	if s.metric != compare.MetricWall || s.in.CPU == nil || s.oneSided {
		return false
	}
	frame := blamed.Frame()
	cpu := over(s.cpu, func(path *compare.Path) bool { return depthOf(frame, path.Frames) >= 0 })
	// Waiting for a CPU has no CPU time, whoever runs it.
	wall, _ := s.parted(c, func(i int) bool { return s.paths[i].Kind == compare.Running })
	return wall > 0 && cpu.more() < serialPart*wall
}

// suspectLock turns code that ran in parallel no more into a lock that
// prevents it, where the program is seen to take or hand over one: a runtime that parks its own
// tasks (Go) shows no thread waiting for it. Where a lock taken on the way to this code has a claim
// already, the code is what it is held in, and joins it. Where another lock's waits have been
// counted, this is something else.
func (l *ledger) suspectLock(c *claim, blamed *blame.Blame) (joined bool) {
	lock := l.of(LockContended)
	if lock != nil && l.onTheWay(lock.place, blamed.Stack) {
		l.move("held in code", lock, c.members, "the code ran as long, but one thread at a time: the lock is held in it")
		lock.at(inCode(route(blamed.Stack)).as(HeldIn))
		lock.note("cpu", "the code ran as long, but one thread at a time")
		return true
	}
	process := l.busiestProcess(c.members)
	if lock != nil || !l.mayWait(c, process) {
		c.doubt(DoubtUnseen, lessParallel)
		return false
	}
	its := slices.DeleteFunc(slices.Clone(l.cpu), func(path compare.Path) bool { return path.Process != process })
	taker := callerOf(its, func(frame recording.Frame) bool {
		return code.FightsForLock(frame.Name) && !code.IsGIL(frame.Name)
	})
	if taker == "" && handsOver(its) {
		taker = route(blamed.Stack) // taking a free lock is too quick to be sampled; giving it to a waiter is not
	}
	if taker == "" {
		c.doubt(DoubtUnseen, lessParallel)
		return false
	}
	c.cause, c.places = LockContended, nil
	c.at(inCode(taker))
	c.at(inCode(route(blamed.Stack)).as(HeldIn))
	c.note("cpu", "the code ran as long, but one thread at a time; tasks queue for a lock in "+taker)
	return false
}

// lessParallel is what code leaves open that takes longer by the clock alone.
const lessParallel = "its CPU time did not grow: less of it ran in parallel, for a reason not seen"

// mayWait reports whether somebody in a process may be waiting for a lock: threads are seen to,
// tasks that a run time parks itself (Go's, virtual threads) are not.
func (l *ledger) mayWait(c *claim, process string) bool {
	waited, _ := l.overWaits(func(wait *compare.Wait) bool { return wait.Process == process && l.forLock(&wait.Path) })
	return waited.more() >= serialPart*l.grew(c) || slices.ContainsFunc(c.place, code.IsOfTask)
}

// nearestTakers is how many of the program's own functions next to a lock are taken for those that
// hold it.
const nearestTakers = 2

// onTheWay reports whether one of the innermost functions of the program's own that lead to one
// place also leads to another.
func (s *scene) onTheWay(place, stack []recording.Frame) bool {
	own, seen := s.code.Own(place), 0
	for i := len(place) - 1; i >= 0 && seen < nearestTakers; i-- {
		frame := place[i]
		if !own[i] || code.IsEntry(frame) {
			continue
		}
		seen++
		if depthOf(frame, stack) >= 0 {
			return true
		}
	}
	return false
}

// handsOver reports whether waking others out of a lock grew.
func handsOver(paths []compare.Path) bool {
	return over(paths, func(path *compare.Path) bool {
		return slices.ContainsFunc(path.Frames, code.HandsOver)
	}).more() > 0
}

// holders names what held the locks, and the lock itself.
func (s *scene) holders(c *claim) {
	held, slept, objects := map[string]float64{}, map[string]float64{}, map[string]float64{}
	note := func(path *compare.Path, grown float64) {
		if len(path.Holder) > 0 {
			// Where the holder was caught in a library, its caller is what holds.
			frames := path.Holder
			if at := s.code.Innermost(frames); at >= 0 {
				frames = frames[:at+1]
			}
			if lastFrame(frames).Kind != recording.KindKernel { // how it was given up says nothing
				held[route(frames)] += grown
			}
		}
		if path.Object != "" && path.Lock {
			objects[path.Object] += grown
		}
	}
	for _, i := range c.members {
		note(&s.paths[i], s.grown(i))
		if at := s.traits[i].place; s.sleeps.inTurn[i] && at >= 0 {
			slept[route(s.paths[i].Frames[:at+1])] += s.grown(i)
		}
	}
	for i := range s.waits {
		if s.forLock(&s.waits[i].Path) {
			note(&s.waits[i].Path, mean(s.waits[i].B)-mean(s.waits[i].A))
		}
	}
	if len(slept) > 0 {
		held = slept // says more than where a holder gave the lock up
	}
	if holder := longest(held); holder != "" {
		c.at(inCode(holder).as(HeldIn))
		c.add("offcpu", "waited while the holder was in "+holder, sides{b: held[holder]}, "s/run")
	}
	c.at(Place{Kind: InLock, Name: first(byValue(objects))})
}
