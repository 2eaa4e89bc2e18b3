package requests

import (
	"slices"
	"sort"

	"culprit/internal/code"
	"culprit/recording"
)

// A task of a scheduler (a virtual thread of Java, a task of tokio) that waits leaves its thread,
// which takes up others. What brought it back is told by who ended the last sleep of the thread
// that answered: a timer, a thread that had something done, a thread that had been woken itself.

// absence is when a request's task was on no thread.
type absence struct {
	fromNs, toNs int64
	last         *recording.Wait // of the thread that went on with it; nil where that did not sleep
}

// absent finds when the task of a request was on no thread: from the first sleep of the thread that
// read it until the last sleep of the one that answered it. It is nil where that is not most of the
// time, or is too short to be looked at.
func (m *maker) absent(r *recording.SlowRequest, from, to int64) *absence {
	if !m.carries(r.Tid) || !m.carries(r.WriterTid) {
		return nil
	}
	away := &absence{fromNs: from, toNs: max(from, r.TimeNs+r.WaitNs+r.HandoverNs)}
	if slept := m.firstForTasks(r.Tid, from, to); slept != nil {
		away.fromNs = max(from, slept.TimeNs)
	} else if r.Tid == r.WriterTid {
		return nil
	}
	if away.last = m.lastForTasks(r.WriterTid, away.fromNs, to); away.last != nil {
		away.toNs = away.last.EndNs()
	}
	length := away.toNs - away.fromNs
	if length < workLeast || float64(length) < besideLeast*float64(to-from) {
		return nil
	}
	return away
}

// carries tells a thread that a scheduler has run tasks.
func (m *maker) carries(tid int32) bool {
	known, ok := m.carriers[tid]
	if !ok {
		known = slices.ContainsFunc(m.waits[tid], m.forTasks)
		m.carriers[tid] = known
	}
	return known
}

// forTasks tells the sleep of a thread of which no task is ready.
func (m *maker) forTasks(wait *recording.Wait) bool {
	return wait.BlockedNs > 0 && wait.Stack >= 0 && remembered(m, m.awaitsTasks, wait.Stack, code.AwaitsTasks)
}

func (m *maker) firstForTasks(tid int32, from, to int64) *recording.Wait {
	for _, wait := range m.waitsWithin(tid, from, to) {
		if wait.WokenNs() > from && m.forTasks(wait) {
			return wait
		}
	}
	return nil
}

func (m *maker) lastForTasks(tid int32, from, to int64) *recording.Wait {
	for _, wait := range slices.Backward(m.waitsWithin(tid, from, to)) {
		if wait.EndNs() <= to && m.forTasks(wait) {
			return wait
		}
	}
	return nil
}

// task cuts the time of a request whose task left its thread. What the threads did before and after
// that is the request's own.
func (m *maker) task(r *recording.SlowRequest, away *absence, from, to int64) {
	m.follow(r, r.Tid, from, away.fromNs, false)
	woken := away.toNs
	if away.last != nil {
		woken = max(away.fromNs, away.last.WokenNs())
	}
	rest := func(from, to int64) { m.unknown(r, from, to) }
	switch {
	case m.answered(r, away.fromNs, woken, rest):
	case away.last != nil && m.brought(r, away.last, away.fromNs, woken):
	case m.ranOut(r, away.fromNs, woken, to):
	case m.worked(r, away.fromNs, woken, rest):
	default:
		rest(away.fromNs, woken)
	}
	if away.last != nil {
		part := stretch(recording.PartQueued, woken, away.toNs-woken, r.WriterTid)
		part.RunnerComm = away.last.Runner()
		m.add(r, part)
	}
	m.follow(r, r.WriterTid, away.toNs, to, false)
}

// brought says what a task was waiting for by who ended a sleep for tasks, and reports whether that
// is known. A thread that carries tasks may only have passed on that there are some.
func (m *maker) brought(r *recording.SlowRequest, wait *recording.Wait, from, to int64) bool {
	for range chainMost {
		if wait.WakerKind == recording.WakerTimer {
			m.timed(r, wait, from, to)
			return true
		}
		if wait.WakerKind != recording.WakerThread || wait.WakerPid != r.Pid {
			return false // another process, or the network: which request it was for is not known
		}
		tid, woken := wait.WakerTid, min(to, wait.WokenNs())
		if timer := m.byTimer(tid, woken); timer != nil {
			m.timed(r, timer, from, to)
			return true
		}
		before := m.lastWait(tid, woken)
		since := from // a thread that carries tasks had others before
		if m.carries(tid) && before != nil && m.forTasks(before) {
			since = max(from, before.EndNs())
		}
		if m.letGo(r, tid, before, from, to) || m.didFor(r, tid, since, from, to) {
			return true
		}
		if before == nil || before.EndNs() <= from {
			return false
		}
		wait = before
	}
	return false
}

// byTimer is the wait for a timer of a thread that keeps those of all, if it has done nothing since
// but what takes no time when it wakes another; else nil.
func (m *maker) byTimer(tid int32, wakes int64) *recording.Wait {
	before := m.lastWait(tid, wakes)
	if before == nil || wakes-before.EndNs() >= workLeast || !m.keepsTimers(before) {
		return nil
	}
	return before
}

// letGo tells that a thread which nobody had asked for anything, but a timer had begin, ran for
// most of a wait and ended it: the task waited for what that thread held.
func (m *maker) letGo(r *recording.SlowRequest, tid int32, before *recording.Wait, from, to int64) bool {
	if before == nil || before.WakerKind != recording.WakerTimer {
		return false
	}
	since := max(from, before.EndNs())
	if float64(to-since) < besideLeast*float64(to-from) || !m.mostlyRan(tid, since, to) {
		return false
	}
	part := stretch(recording.PartLock, from, to-from, r.WriterTid)
	m.notes(r.Pid, tid, m.mostSeen(tid, since, to), &part)
	part.WakerKind = recording.WakerThread // it was seen to end the wait
	m.add(r, part)
	return true
}

// didFor adds what a thread did since a time that brought a task what it waited for, where that is
// known of most of the wait.
func (m *maker) didFor(r *recording.SlowRequest, tid int32, since, from, to int64) bool {
	works, _ := m.doneBy(r, tid, since, to, chainMost)
	if !mostlySeen(works, from, to) {
		return false
	}
	m.instead(r, stretch(recording.PartUnknown, from, to-from, beside), works)
	return true
}

// byChance is how many timers of a process may run out within a time, in the mean, for one that
// does to be evidence. Chosen.
const byChance = 0.2

// ranOut adds a time that passed until a timer of the process ran out while the thread that
// answered was busy with other tasks, from when it was woken for these: it then went on with this
// one without a sleep.
func (m *maker) ranOut(r *recording.SlowRequest, from, woken, to int64) bool {
	ends := m.timersOf(r.Pid)
	first, _ := slices.BinarySearch(ends, woken)
	if first == len(ends) || ends[first] > to {
		return false
	}
	if float64(len(ends))*float64(to-woken) > byChance*float64(m.window.EndNs-m.window.StartNs) {
		return false
	}
	m.timed(r, &recording.Wait{Stack: recording.NoStack, WakerKind: recording.WakerTimer}, from, woken)
	return true
}

// timersOf are the times at which timers of a process ran out, in order.
func (m *maker) timersOf(pid int32) []int64 {
	if ends, known := m.timers[pid]; known {
		return ends
	}
	var ends []int64
	for _, tid := range m.tids[pid] {
		for _, wait := range m.waits[tid] {
			if m.keepsTimers(wait) {
				ends = append(ends, wait.WokenNs())
			}
		}
	}
	slices.Sort(ends)
	m.timers[pid] = ends
	return ends
}

// keepsTimers tells a wait that a timer ended of a thread that keeps the timers of all: none of the
// program's functions stands in its stack, or it carries tasks.
func (m *maker) keepsTimers(wait *recording.Wait) bool {
	return wait.WakerKind == recording.WakerTimer && wait.Stack >= 0 && (m.forTasks(wait) || !m.hasPlace(wait.Stack))
}

// timed adds a time that passed until a timer ended a wait.
func (m *maker) timed(r *recording.SlowRequest, wait *recording.Wait, from, to int64) {
	part := stretch(recording.PartSleep, from, to-from, wait.Tid)
	part.Syscall, part.WakerKind = wait.Syscall, wait.WakerKind
	if !m.keepsTimers(wait) {
		part.Stack = wait.Stack
	}
	m.add(r, part)
}

// hasPlace tells a stack that has functions of the program's own.
func (m *maker) hasPlace(stack int32) bool {
	return stack >= 0 && remembered(m, m.places, stack, func(frames []recording.Frame) bool {
		return code.Innermost(frames) >= 0
	})
}

// lastWait is the last stay of a thread off a CPU, asleep, that ended before a time; nil for none.
func (m *maker) lastWait(tid int32, before int64) *recording.Wait {
	waits := m.waits[tid]
	for i := sort.Search(len(waits), func(i int) bool { return waits[i].EndNs() > before }) - 1; i >= 0; i-- {
		if waits[i].BlockedNs > 0 {
			return waits[i]
		}
	}
	return nil
}
