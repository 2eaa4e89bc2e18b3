package compare

import (
	"slices"

	"culprit/recording"
)

// isNap reports whether a wait is a nap; see Path.Nap.
func (r *run) isNap(wait *recording.Wait) bool {
	return r.napsIn(wait.Pid, r.stackOf(wait.Stack), wait.Syscall)
}

// napsIn reports whether a process naps where it waits in a call. A wait whose stack has no part in user space is a nap
// where the process runs Go.
func (r *run) napsIn(pid, stack int32, call string) bool {
	if call != "nanosleep" {
		return false
	}
	kind, known := r.lastUserKind(stack)
	if !known {
		return r.runsGo(pid)
	}
	return kind == recording.KindGo
}

// lastUserKind is what the innermost function in user space is written in; false where none is known.
func (r *run) lastUserKind(stack int32) (recording.FrameKind, bool) {
	if stack < 0 {
		return "", false
	}
	frames := r.pool.stacks[stack]
	for i := len(frames) - 1; i >= 0; i-- {
		if kind := r.pool.frames[frames[i]].Kind; kind != recording.KindKernel {
			return kind, true
		}
	}
	return "", false
}

// runsGo reports whether code of Go was seen to run, or to wait, in a process.
func (r *run) runsGo(pid int32) bool {
	if r.golang == nil {
		r.golang = map[int32]bool{}
		for _, t := range r.thread {
			r.golang[t.pid] = r.golang[t.pid] || r.seenInGo(t)
		}
	}
	return r.golang[pid]
}

func (r *run) seenInGo(t *thread) bool {
	isGo := func(stack int32) bool {
		kind, known := r.lastUserKind(r.stackOf(stack))
		return known && kind == recording.KindGo
	}
	return slices.ContainsFunc(t.cpu, func(sample *recording.Sample) bool { return isGo(sample.Stack) }) ||
		slices.ContainsFunc(t.waits, func(wait *recording.Wait) bool { return isGo(wait.Stack) })
}
