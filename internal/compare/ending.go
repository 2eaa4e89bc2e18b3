package compare

import (
	"slices"
	"sort"
	"strings"

	"culprit/recording"
)

const (
	// exitNs is how long before its process is gone a thread may have woken somebody by ending.
	exitNs = 2e6
	// reapNs is how long at most somebody waits for the end of a process that it has just killed.
	reapNs = 100e6
	// lastNs is how far back from its end a process is searched for the thread that ran it to the
	// end; where no samples are there, lastTimes as far, and so on.
	lastNs    = 20e6
	lastTimes = 10
	lastSteps = 3
)

// atExit replaces a waker that woke by exiting: which thread of a process is
// the last to go is chance; the one that ran it to its end is what counts.
func (r *run) atExit(waker *thread, at int64) *thread {
	if p := r.process[waker.pid]; p == nil || !p.endsAt(at) {
		return waker
	}
	return r.lastThread(waker.pid, at, waker)
}

// reaped reports whether a wait was for the end of a process that somebody killed only just before: a script that
// takes away what it had in the background was not held up by what that did all the while.
func (r *run) reaped(waker *thread, since, at int64) bool {
	p := r.process[waker.pid]
	return p != nil && p.killed && at-since < reapNs && p.endsAt(at)
}

// endsAt reports whether a process is gone about a moment.
func (p *process) endsAt(at int64) bool {
	return p.endNs != 0 && at >= p.endNs-exitNs && at <= p.endNs+exitNs
}

// lastThread is the thread that ran a process to its end: the one that is thought to, when it was awake
// shortly before; else the one with the most CPU time before, else the one that came out of a wait last. Threads
// that merely tick (a JVM's periodic thread, Go's monitor) do not end programs.
func (r *run) lastThread(pid int32, at int64, thought *thread) *thread {
	if thought == nil {
		thought = &thread{pid: pid, tid: pid}
	}
	if !thought.ticking && !r.monitors(thought) && thought.awake(at-lastNs, at) {
		return thought
	}
	if busiest := r.busiest(pid, at); busiest != nil {
		return busiest
	}
	last := int64(0)
	for _, t := range r.ending(pid) {
		if wait := t.waitBefore(at); wait != nil {
			if end := wait.TimeNs + wait.BlockedNs + wait.RunqueueNs; end > last {
				thought, last = t, end
			}
		}
	}
	return thought
}

// awake reports whether a thread was seen out of a wait within a stretch.
func (t *thread) awake(from, to int64) bool {
	if t.ran(from, to) > 0 {
		return true
	}
	wait := t.waitBefore(to)
	return wait != nil && wait.TimeNs+wait.BlockedNs+wait.RunqueueNs > from
}

// busiest is the thread of a process with the most CPU time just before a moment.
func (r *run) busiest(pid int32, at int64) *thread {
	back := int64(lastNs)
	for range lastSteps {
		if busiest := mostRun(r.ending(pid), at-back, at, 0); busiest != nil {
			return busiest
		}
		back *= lastTimes
	}
	return nil
}

// meanwhile is the other thread of a thread's process that ran most within a stretch, nil when none did.
func (r *run) meanwhile(t *thread, from, to int64) *thread {
	others := slices.DeleteFunc(r.threads(), func(other *thread) bool { return other.pid != t.pid || other == t })
	return mostRun(others, from, to, 0)
}

// mostRun is the thread that ran most within a stretch, of those that ran for longer than some time; nil for none.
func mostRun(threads []*thread, from, to, longerThan int64) *thread {
	var busiest *thread
	most := longerThan
	for _, t := range threads {
		if ran := t.ran(from, to); ran > most {
			busiest, most = t, ran
		}
	}
	return busiest
}

// ending lists the threads of a process that may run it to its end.
func (r *run) ending(pid int32) []*thread {
	var list []*thread
	for _, t := range r.threads() {
		if t.pid == pid && !t.ticking && !r.monitors(t) {
			list = append(list, t)
		}
	}
	return list
}

// childCalls are the system calls that wait for the end of a child.
var childCalls = []string{"wait4", "waitid"}

// awaited is the thread that a wait for a child goes on with where no thread of the child is known to have ended it:
// the window ended before the child did, or the kernel let go of a child's last thread in an interrupt. It is the one
// that ran most meanwhile in the children that lived until then. nil for any other wait, and when no child lived.
func (r *run) awaited(t *thread, wait *recording.Wait) *thread {
	if wait.WakerKind != recording.WakerPending && wait.WakerKind != recording.WakerInterrupt ||
		!slices.Contains(childCalls, wait.Syscall) {
		return nil
	}
	woken := r.endNs
	if wait.WakerKind == recording.WakerInterrupt {
		woken = wait.TimeNs + wait.BlockedNs
	}
	children := slices.DeleteFunc(r.threads(), func(other *thread) bool {
		p := r.process[other.pid]
		return p == nil || p.ppid != t.pid || p.pid == t.pid || p.startNs >= woken ||
			p.endNs != 0 && (wait.WakerKind == recording.WakerPending || p.endNs < woken-exitNs)
	})
	return mostRun(children, wait.TimeNs, woken, -1) // one that has not run yet is waited for all the same
}

// monitors reports whether a thread is a runtime's own monitor: its stacks begin there.
func (r *run) monitors(t *thread) bool {
	if t.monitor != nil {
		return *t.monitor
	}
	yes, all := 0, 0
	count := func(stack int32) {
		if stack >= 0 {
			all++
			if r.monitorStack(stack) {
				yes++
			}
		}
	}
	for _, wait := range t.waits {
		count(r.stackOf(wait.Stack))
	}
	for _, sample := range t.cpu {
		count(r.stackOf(sample.Stack))
	}
	// Most, not any: a stack may have been joined to the wrong thread.
	found := 2*yes > all
	t.monitor = &found
	return found
}

func (r *run) monitorStack(stack int32) bool {
	if stack < 0 {
		return false
	}
	starts, naps, other := false, false, false
	for _, at := range r.pool.stacks[stack] {
		frame := &r.pool.frames[at]
		switch name := frame.Name; {
		case strings.HasPrefix(name, "runtime.sysmon"), strings.HasPrefix(name, "WatcherThread::"):
			return true
		case strings.HasPrefix(name, "runtime.mstart"):
			starts = true
		case frame.Kind == recording.KindGo && name != "runtime.usleep":
			other = true
		case frame.Kind == recording.KindKernel && strings.Contains(name, "nanosleep"):
			naps = true
		}
	}
	// Go's monitor seen without its own frame: no other thread of a Go program naps where it started.
	return starts && naps && !other
}

// ran is how much CPU time the samples of a thread show within a stretch.
func (t *thread) ran(from, to int64) int64 {
	var sum int64
	for i := sort.Search(len(t.cpu), func(i int) bool { return t.cpu[i].TimeNs >= from }); i < len(t.cpu); i++ {
		if t.cpu[i].TimeNs >= to {
			break
		}
		sum += t.cpu[i].ValueNs
	}
	return sum
}
