package compare

import "culprit/recording"

// isNap reports whether a wait is Go's run time's own, of some microseconds before it looks for work again or at its
// threads (runtime.usleep, the only caller of nanosleep there): however regular, no timer of the program's. A wait
// whose stack has no part in user space is one where the process runs Go.
func (r *run) isNap(wait *recording.Wait) bool {
	if wait.Syscall != "nanosleep" {
		return false
	}
	kind, known := r.lastUserKind(r.stackOf(wait.Stack))
	if !known {
		return r.runsGo(wait.Pid)
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

// runsGo reports whether code of Go was seen to run in a process.
func (r *run) runsGo(pid int32) bool {
	if r.golang == nil {
		r.golang = map[int32]bool{}
		for _, t := range r.thread {
			for _, sample := range t.cpu {
				if kind, known := r.lastUserKind(r.stackOf(sample.Stack)); known && kind == recording.KindGo {
					r.golang[t.pid] = true
					break
				}
			}
		}
	}
	return r.golang[pid]
}
