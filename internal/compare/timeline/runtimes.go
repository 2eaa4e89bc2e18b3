package timeline

import (
	"slices"
	"strings"

	"culprit/internal/compare/names"
	"culprit/recording"
)

// Monitors reports whether a thread is a runtime's own monitor: its stacks begin there.
func (r *Run) Monitors(t *Thread) bool {
	if t.monitor != nil {
		return *t.monitor
	}
	yes, all := 0, 0
	count := func(stack int32) {
		if stack = r.Stack(stack); stack != names.None {
			all++
			if r.monitorStack(stack) {
				yes++
			}
		}
	}
	for _, wait := range t.Waits {
		count(wait.Stack)
	}
	for _, sample := range t.CPU {
		count(sample.Stack)
	}
	found := 2*yes > all // most, not any: a stack may have been joined to the wrong thread
	t.monitor = &found
	return found
}

// monitorStack tells the stacks of Go's monitor and of HotSpot's.
func (r *Run) monitorStack(stack int32) bool {
	starts, naps, other := false, false, false
	for _, frame := range r.Names.Up(stack) {
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
	// Go's monitor seen without its own frame: no other thread of a Go program naps where it
	// started.
	return starts && naps && !other
}

// IsNap reports whether a wait is one of Go's run time's own, of some microseconds (runtime.usleep,
// the only caller of nanosleep there): however regular, no timer of the program's.
func (r *Run) IsNap(wait *recording.Wait) bool {
	return r.NapsIn(wait.Pid, r.Stack(wait.Stack), wait.Syscall)
}

// NapsIn reports whether a process naps where it waits in a call. A wait without a stack in user
// space is a nap where the process runs Go.
func (r *Run) NapsIn(pid, stack int32, call string) bool {
	if call != "nanosleep" {
		return false
	}
	frames := r.Names.Frames(stack)
	at := names.LastUser(frames)
	if at < 0 {
		return r.runsGo(pid)
	}
	// C that is linked into it, as the race detector, is read by the same table.
	return frames[at].Kind == recording.KindGo && strings.HasPrefix(frames[at].Name, "runtime.")
}

// userKind is what the innermost function in user space is written in; "" where none is known.
func (r *Run) userKind(stack int32) recording.FrameKind {
	frames := r.Names.Frames(stack)
	if at := names.LastUser(frames); at >= 0 {
		return frames[at].Kind
	}
	return ""
}

// runsGo reports whether code of Go was seen to run, or to wait, in a process.
func (r *Run) runsGo(pid int32) bool {
	if r.golang == nil {
		isGo := func(stack int32) bool { return r.userKind(r.Stack(stack)) == recording.KindGo }
		r.golang = map[int32]bool{}
		for _, t := range r.Threads {
			r.golang[t.Pid] = r.golang[t.Pid] ||
				slices.ContainsFunc(t.CPU, func(sample *recording.Sample) bool { return isGo(sample.Stack) }) ||
				slices.ContainsFunc(t.Waits, func(wait *recording.Wait) bool { return isGo(wait.Stack) })
		}
	}
	return r.golang[pid]
}
