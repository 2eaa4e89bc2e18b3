package requests

import (
	"slices"
	"sort"

	"culprit/internal/code"
	"culprit/recording"
)

// sleepsAlong is the part of a request's time that one sleep of another thread covers, from begin
// to end, to be for it. Chosen: a sleep that has nothing to do with it begins and ends at any time.
const sleepsAlong = 0.8

// What another thread of the process does for a request while the request's own waits is told by
// who ended that wait: a future's or a latch's, and the sleep of an event loop that has a thread do
// what would block it.

// awaited puts in the place of waits on a futex what the thread did meanwhile that ended them, if
// they were for an event: a lock's holder works for itself, but whoever completes a future was at
// that, unless a timer had just had it do so. A thread that serves requests works for those: what
// it gives back is like a lock. It gives how much of the waits it took the place of.
func (m *maker) awaited(r *recording.SlowRequest, first int) (length int64) {
	parts := slices.Clone(m.parts[first:])
	m.parts = m.parts[:first]
	for _, part := range parts {
		from, to := part.TimeNs, part.TimeNs+part.LengthNs
		var works []stint
		var covered int64
		if part.Class == recording.PartLock && part.LengthNs >= workLeast && part.WakerKind == recording.WakerThread &&
			m.worksFor(r, part.WakerPid, part.WakerTid) && m.waitsFor(part.Stack) == code.WaitEvent {
			if m.byTimer(part.WakerTid, to) != nil {
				part.Class, part.WakerKind = recording.PartSleep, recording.WakerTimer
				m.parts = append(m.parts, part)
				length += part.LengthNs
				continue
			}
			works, covered = m.doneBy(r, part.WakerTid, from, to, chainMost)
		}
		if covered < int64(besideLeast*float64(to-from)) {
			works = nil
		}
		length += m.instead(r, part, works)
	}
	return length
}

// doneByWaker gives what the thread did between two times that woke a request's loop last. Workers
// of asyncio's executors write to a socket of the loop's own, those of libuv and Netty to an
// eventfd. What such a thread slept for, the request waited for. It is nothing where that is less
// than besideLeast of the time.
func (m *maker) doneByWaker(r *recording.SlowRequest, from, to int64) []stint {
	last := m.lastSleep(r.Tid, from, to)
	if last == nil || last.WakerKind != recording.WakerThread || !m.worksFor(r, last.WakerPid, last.WakerTid) {
		return nil
	}
	works, _ := m.doneBy(r, last.WakerTid, from, last.WokenNs(), chainMost)
	if !mostlySeen(works, from, to) {
		return nil
	}
	return works
}

// mostlySeen tells works of which is known what they were for besideLeast of a time.
func mostlySeen(works []stint, from, to int64) bool {
	seen := slices.DeleteFunc(slices.Clone(works), func(s stint) bool { return s.unseen })
	_, covered := inTurn(seen, from, to)
	return covered >= int64(besideLeast*float64(to-from))
}

// sleptBeside gives what a thread was at between two times that slept for sleepsAlong of them, with
// its own work, and seldom does: a loop that serves others meanwhile is woken by these. A thread
// that sleeps all the time is a ticker.
func (m *maker) sleptBeside(r *recording.SlowRequest, from, to int64) []stint {
	var of *recording.Wait
	least := int64(sleepsAlong * float64(to-from))
	for _, tid := range m.tids[r.Pid] {
		if !m.worksFor(r, r.Pid, tid) {
			continue
		}
		for _, wait := range m.waitsWithin(tid, from, to) {
			within := wait.TimeNs >= from && wait.WokenNs() <= to && wait.BlockedNs >= least
			if within && m.sleepsAtWork(wait) && !m.oftenAsleep(tid) && (of == nil || wait.BlockedNs > of.BlockedNs) {
				of = wait
			}
		}
	}
	if of == nil {
		return nil
	}
	works, _ := m.doneBy(r, of.Tid, from, to, chainMost)
	return works
}

// oftenAsleep tells a thread that sleeps with its own work for so much of the window that a sleep
// beside a request is no evidence.
func (m *maker) oftenAsleep(tid int32) bool {
	slept := int64(0)
	for _, wait := range m.waits[tid] {
		if m.sleepsAtWork(wait) {
			slept += wait.BlockedNs
		}
	}
	return besideRare*float64(slept) > float64(m.window.EndNs-m.window.StartNs)
}

// worksFor tells another thread of a request's process that serves no requests of its own.
func (m *maker) worksFor(r *recording.SlowRequest, pid, tid int32) bool {
	return pid == r.Pid && tid != r.Tid && tid != r.WriterTid && len(m.turns[tid]) == 0
}

// lastSleep is the last sleep of a loop for events that ended between two times; nil without one.
func (m *maker) lastSleep(tid int32, from, to int64) *recording.Wait {
	for _, wait := range slices.Backward(m.waitsWithin(tid, from, to)) {
		if forEvents(wait.Syscall) && wait.WokenNs() <= to {
			return wait
		}
	}
	return nil
}

// doneBy gives what a thread was at between two times, in order, and how much of them it covers: it
// ran, or it slept while it had work. Where it waited for what a third thread did for it, that is
// told instead, for up to so many threads.
func (m *maker) doneBy(r *recording.SlowRequest, tid int32, from, to int64, chain int) (kept []stint, covered int64) {
	works := m.ranBetween(tid, from, to)
	for _, w := range m.worksBetween(tid, from, to) {
		if w.wait != nil {
			works = append(works, stint{w, tid})
		}
	}
	for _, wait := range m.waitsWithin(tid, from, to) {
		if wait.BlockedNs > 0 && wait.RunqueueNs > 0 { // woken, it had something to do
			works = append(works, stint{work{fromNs: wait.WokenNs(), toNs: wait.EndNs(), wait: wait}, tid})
		}
		switch {
		case m.sleepsAtWork(wait):
			works = append(works, stint{work{fromNs: wait.TimeNs, toNs: wait.WokenNs(), wait: wait}, tid})
		case chain > 1 && wait.TimeNs >= r.TimeNs+r.WaitNs && handedOver(wait) &&
			m.worksFor(r, wait.WakerPid, wait.WakerTid) && m.waitsFor(wait.Stack) == code.WaitEvent:
			of, _ := m.doneBy(r, wait.WakerTid, wait.TimeNs, wait.WokenNs(), chain-1)
			works = append(works, of...)
		}
	}
	return inTurn(works, from, to)
}

// ranBetween gives the stretches in which a thread ran, as far as they lie between two times. What
// it did before and after, in sleeps too short to be kept, does not count: a worker that is seldom
// asked runs for the length of one task. A stretch without samples is work as well, nobody knows
// which: who ends a wait for an event was at what it is for, unless it waited for work itself.
func (m *maker) ranBetween(tid int32, from, to int64) (works []stint) {
	at, began := from, int64(0)
	ran := func(until int64) {
		if until > at {
			works = append(works, stint{work{fromNs: began, toNs: until, unseen: !m.mostlyRan(tid, at, until)}, tid})
		}
	}
	waits := m.waits[tid]
	first := sort.Search(len(waits), func(i int) bool { return waits[i].EndNs() > from })
	if first > 0 {
		began = waits[first-1].EndNs()
	}
	for _, wait := range m.waitsWithin(tid, from, to) {
		if wait.BlockedNs == 0 { // it lost its CPU: it is at work
			continue
		}
		ran(max(at, wait.TimeNs))
		at, began = wait.EndNs(), wait.EndNs()
	}
	ran(to)
	return works
}

// sleepsAtWork tells waits of a thread that has work: for time to pass, for one socket or pipe, for
// a lock. What waits for several descriptors, or for an event until another thread brings it, may
// wait for work. Waits for files are among a thread's works.
func (m *maker) sleepsAtWork(wait *recording.Wait) bool {
	switch classOf(wait) {
	case recording.PartSleep:
		return true
	case recording.PartNet:
		return !forEvents(wait.Syscall)
	case recording.PartLock:
		return wait.WakerKind == recording.WakerTimer || m.waitsFor(wait.Stack) == code.WaitLock
	}
	return false
}

// waitsFor tells what the functions of a stack say that it waits for.
func (m *maker) waitsFor(stack int32) code.Waiting {
	if stack < 0 {
		return code.WaitUnknown
	}
	return remembered(m, m.waitFor, stack, code.WaitsFor)
}

// remembered is what the functions of a stack tell, asked once.
func remembered[T any](m *maker, known map[int32]T, stack int32, tell func([]recording.Frame) T) T {
	what, ok := known[stack]
	if !ok {
		what = tell(m.window.Builder.Frames(stack))
		known[stack] = what
	}
	return what
}
