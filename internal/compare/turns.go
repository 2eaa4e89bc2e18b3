package compare

import (
	"slices"
	"sort"

	"culprit/recording"
)

// turnPlace is where threads of processes of one name wait: the part of a stack in user space.
type turnPlace struct {
	process string
	stack   int32
}

// noTurns are calls whose waits are told from a turn by other means: locks, events and children.
var noTurns = slices.Concat([]string{"", "futex"}, semaphoreCalls, childCalls)

// turnPlaces finds where threads wait for each other by turns, whatever they wait in: several of them wait there for
// another that sleeps meanwhile, and several of them are waited for there. A lock that a program or a database made
// out of a pipe, a latch or a socket looks so; a server and its clients do not, which wait in different functions.
// What is a futex or a semaphore is told by lockObjects.
func (r *run) turnPlaces() map[turnPlace]bool {
	handed := newHanded[turnPlace]()
	for i := range r.rec.Waits {
		wait := &r.rec.Waits[i]
		place, may := r.turnPlace(wait)
		waker := r.thread[wait.WakerTid]
		if may && wait.BlockedNs >= shortWaitNs && waker != nil && waker.tid != wait.Tid &&
			r.processName(waker.pid) == place.process && waker.sleptWithin(wait) {
			handed.on(place, wait)
		}
	}
	return handed.passedOn()
}

// turnPlace is where a wait that another thread ended waits, where that can be a turn.
func (r *run) turnPlace(wait *recording.Wait) (place turnPlace, may bool) {
	stack := r.stackOf(wait.Stack)
	if stack < 0 || wait.WakerKind != recording.WakerThread || slices.Contains(noTurns, wait.Syscall) {
		return turnPlace{}, false
	}
	frames := r.pool.stacks[stack]
	user := 0
	for user < len(frames) && r.pool.frames[frames[user]].Kind != recording.KindKernel {
		user++
	}
	return turnPlace{r.processName(wait.Pid), r.pool.stack(frames[:user])}, user > 0
}

// isTurn reports whether a thread waited for its turn.
func (r *run) isTurn(wait *recording.Wait) bool {
	place, may := r.turnPlace(wait)
	return may && r.turns[place]
}

// sleptWithin reports whether a timer ended a wait of a thread during another's wait.
func (t *thread) sleptWithin(wait *recording.Wait) bool {
	end := wait.TimeNs + wait.BlockedNs
	for i := sort.Search(len(t.waits), func(i int) bool { return t.waits[i].TimeNs >= end }) - 1; i >= 0; i-- {
		its := t.waits[i]
		if its.TimeNs+its.BlockedNs <= wait.TimeNs {
			return false
		}
		if its.WakerKind == recording.WakerTimer {
			return true
		}
	}
	return false
}
