package compare

import (
	"sort"

	"culprit/internal/code"
	"culprit/recording"
)

// aroundWithinNs is how far from a sleep a sample may lie to tell where the program went to sleep.
const aroundWithinNs = 20e6

// around tells where in the program a timed wait lies whose own stack does not
// say: runtimes that schedule their own tasks (Go, an event loop) sleep on a
// stack without the function that asked for it. What the process ran just
// before and just after have that function's callers in common.
func (r *run) around(t *thread, wait *recording.Wait) int32 {
	if wait.WakerKind != recording.WakerTimer || r.hasApplication(r.stackOf(wait.Stack)) {
		return recording.NoStack
	}
	end := wait.TimeNs + wait.BlockedNs
	before, after := r.nearest(t.pid, wait.TimeNs, false), r.nearest(t.pid, end, true)
	if before < 0 || after < 0 {
		return recording.NoStack
	}
	x, y := r.pool.stacks[before], r.pool.stacks[after]
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	// Where both were in the same innermost function, two calls of it are as likely as
	// one call with a sleep inside: its caller is what is certain.
	if inner := r.pool.application(before); n > inner && inner == r.pool.application(after) {
		n = inner
	}
	own := code.Own(r.pool.framesOf(before))
	for n > 0 && !own[n-1] {
		n--
	}
	return r.pool.stack(x[:n])
}

// nearest is the stack of the sample of a process that is next to a moment, and has code of the application's own.
func (r *run) nearest(pid int32, at int64, after bool) int32 {
	best, distance := recording.NoStack, int64(aroundWithinNs)
	for _, t := range r.threads() {
		if t.pid != pid {
			continue
		}
		i := sort.Search(len(t.cpu), func(i int) bool { return t.cpu[i].TimeNs >= at })
		step := 1
		if !after {
			i, step = i-1, -1
		}
		for ; i >= 0 && i < len(t.cpu); i += step {
			apart := (t.cpu[i].TimeNs - at) * int64(step)
			if apart >= distance {
				break
			}
			if stack := r.stackOf(t.cpu[i].Stack); r.hasApplication(stack) {
				best, distance = stack, apart
				break
			}
		}
	}
	return best
}

// hasApplication reports whether a stack shows a function of the program's own.
func (r *run) hasApplication(stack int32) bool {
	return stack >= 0 && r.pool.application(stack) >= 0
}

// application is the index of a stack's innermost frame of the program's own, -1 when there is none.
func (p *pool) application(stack int32) int {
	for len(p.own) < len(p.stacks) {
		p.own = append(p.own, code.Innermost(p.framesOf(int32(len(p.own)))))
	}
	return p.own[stack]
}
