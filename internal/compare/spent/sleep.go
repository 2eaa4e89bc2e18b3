package spent

import (
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare/names"
	"culprit/internal/compare/timeline"
	"culprit/recording"
)

// aroundWithinNs is how far from a sleep a sample tells where the program went to sleep. Chosen.
const aroundWithinNs = 20e6

// around tells where in the program a timed wait lies whose own stack does not
// say: runtimes that schedule their own tasks (Go, an event loop) sleep on a
// stack without the function that asked for it. What the process ran just
// before and just after have that function's callers in common.
func around(r *timeline.Run, t *timeline.Thread, wait *recording.Wait) int32 {
	if wait.WakerKind != recording.WakerTimer || r.Names.Own(r.Stack(wait.Stack)) >= 0 {
		return names.None
	}
	before, after := nearest(r, t.Pid, wait.TimeNs, false), nearest(r, t.Pid, wait.WokenNs(), true)
	if before == names.None || after == names.None {
		return names.None
	}
	common := r.Names.Common(before, after)
	// Where both were in the same innermost function, two calls of it are as likely as
	// one call with a sleep inside: its caller is what is certain.
	if inner := r.Names.Own(before); common > inner && inner == r.Names.Own(after) {
		common = inner
	}
	own := code.Own(r.Names.Frames(before))
	for common > 0 && !own[common-1] {
		common--
	}
	return r.Names.Outer(before, common)
}

// nearest is the stack, with code of the application's own, that a process was sampled in next to a
// moment.
func nearest(r *timeline.Run, pid int32, at int64, after bool) int32 {
	best, distance := names.None, int64(aroundWithinNs)
	for _, t := range r.Threads {
		if t.Pid != pid {
			continue
		}
		list := timeline.Within(t.CPU, at, at+distance)
		if !after {
			list = slices.Clone(timeline.Within(t.CPU, at-distance+1, at))
			slices.Reverse(list)
		}
		for _, sample := range list {
			if stack := r.Stack(sample.Stack); r.Names.Own(stack) >= 0 {
				best, distance = stack, max(sample.TimeNs-at, at-sample.TimeNs)
				break
			}
		}
	}
	return best
}
