package timeline

import (
	"slices"

	"culprit/recording"
)

const (
	// exitNs is how long before its process is gone a thread may have woken somebody by ending.
	// Chosen: no verdict of the corpus changes between 1.5 and 2.5 ms.
	exitNs = 2e6
	// reapNs is how long at most somebody waits for the end of a process that it has just killed.
	// Chosen: no verdict of the corpus changes between 75 and 125 ms.
	reapNs = 100e6
	// lastNs is how far back from its end a process is searched for the thread that ran it to the
	// end; where no samples are there, lastTimes as far, and so on. Chosen: no verdict of the
	// corpus changes between 15 and 20 ms, two do at 25.
	lastNs    = 20e6
	lastTimes = 10
	lastSteps = 3
)

// AtExit replaces a waker that woke by exiting: which thread of a process is the last to go is
// chance; the one that ran it to its end is what counts.
func (r *Run) AtExit(waker *Thread, at int64) *Thread {
	if r.process[waker.Pid].endsAt(at) {
		return r.LastThread(waker.Pid, at, waker)
	}
	return waker
}

// Reaped reports whether a wait was for the end of a process that somebody killed just before: what
// that did in the background all the while held nobody up.
func (r *Run) Reaped(waker *Thread, since, at int64) bool {
	p := r.process[waker.Pid]
	return p.killed && at-since < reapNs && p.endsAt(at)
}

// endsAt reports whether a process is gone about a moment.
func (p *Process) endsAt(at int64) bool {
	return p.endNs != 0 && at >= p.endNs-exitNs && at <= p.endNs+exitNs
}

// LastThread is the thread that ran a process to its end: the one that ended it, where the recorder
// saw that; else the one that is thought to, when it was awake shortly before; else the one with
// the most CPU time before, else the last to come out of a wait. Being awake is no proof: a signal
// (a child's end) wakes the first thread of a Go program whose main goroutine runs on another.
// Threads that merely tick (a JVM's periodic thread, Go's monitor) do not end programs.
func (r *Run) LastThread(pid int32, at int64, thought *Thread) *Thread {
	if ender := r.ender(pid, at); ender != nil {
		return ender
	}
	if thought == nil {
		thought = &Thread{Pid: pid, Tid: pid}
	}
	if !thought.Ticking && !r.Monitors(thought) && thought.awake(at-lastNs, at) {
		return thought
	}
	if busiest := r.Busiest(pid, at); busiest != nil {
		return busiest
	}
	last := int64(0)
	for _, t := range r.Threads {
		if wait := t.WaitBefore(at); wait != nil && wait.EndNs() > last && r.mayEnd(t, pid) {
			thought, last = t, wait.EndNs()
		}
	}
	return thought
}

// ender is the thread that ended a process about a moment, nil when that was not seen.
func (r *Run) ender(pid int32, at int64) *Thread {
	p := r.process[pid]
	if p == nil || p.endedBy == 0 || !p.endsAt(at) {
		return nil
	}
	return r.thread[p.endedBy]
}

// Busiest is the thread of a process with the most CPU time just before a moment.
func (r *Run) Busiest(pid int32, at int64) *Thread {
	back := int64(lastNs)
	for range lastSteps {
		busiest := r.mostRun(func(t *Thread) bool { return r.mayEnd(t, pid) }, at-back, at, 0)
		if busiest != nil {
			return busiest
		}
		back *= lastTimes
	}
	return nil
}

// mayEnd reports whether a thread may run a process to its end.
func (r *Run) mayEnd(t *Thread, pid int32) bool {
	return t.Pid == pid && !t.Ticking && !r.Monitors(t)
}

// meanwhile is the other thread of a process that ran most within a stretch, nil when none did.
func (r *Run) meanwhile(t *Thread, from, to int64) *Thread {
	return r.mostRun(func(other *Thread) bool { return other.Pid == t.Pid && other != t }, from, to, 0)
}

// childCalls are the system calls that wait for the end of a child.
var childCalls = []string{"wait4", "waitid"}

// Awaited is the thread that a wait for a child goes on with where no thread is known to have ended
// it: the window ended before the child did, or the kernel let go of its last thread in an
// interrupt. It is the one that ran most meanwhile in the children that lived until then; nil for
// any other wait, and when no child lived.
func (r *Run) Awaited(t *Thread, wait *recording.Wait) *Thread {
	if wait.WakerKind != recording.WakerPending && wait.WakerKind != recording.WakerInterrupt ||
		!slices.Contains(childCalls, wait.Syscall) {
		return nil
	}
	woken := r.EndNs
	if wait.WakerKind == recording.WakerInterrupt {
		woken = wait.WokenNs()
	}
	child := func(other *Thread) bool {
		p := r.process[other.Pid]
		return p.ppid == t.Pid && p.Pid != t.Pid && p.StartNs < woken &&
			(p.endNs == 0 || wait.WakerKind == recording.WakerInterrupt && p.endNs >= woken-exitNs)
	}
	return r.mostRun(child, wait.TimeNs, woken, -1) // also one that has not run yet
}
