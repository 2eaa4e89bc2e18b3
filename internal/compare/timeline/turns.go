package timeline

import (
	"slices"

	"culprit/recording"
)

// turnPlace is where threads of processes of one name wait: the part of a stack in user space.
type turnPlace struct {
	process string
	stack   int32
}

// noTurns are calls whose waits are told from a turn by other means: locks, events and children.
var noTurns = slices.Concat([]string{"", "futex"}, SemaphoreCalls, childCalls)

// turnPlaces finds where threads wait for each other by turns, whatever they wait in: several of
// them wait there for another that sleeps meanwhile, and several of them are waited for there. A
// lock that a program made out of a pipe, a latch or a socket looks so; a server and its clients do
// not, which wait in different functions. lockObjects tells futexes and semaphores.
func (r *Run) turnPlaces() map[turnPlace]bool {
	handed := handed[turnPlace]{}
	for i := range r.Recording.Waits {
		wait := &r.Recording.Waits[i]
		place, may := r.turnPlace(wait)
		waker := r.thread[wait.WakerTid]
		if may && wait.BlockedNs >= ShortNs && waker != nil && waker.Tid != wait.Tid &&
			r.ProcessName(waker.Pid) == place.process && waker.sleptWithin(wait) {
			handed.on(place, wait)
		}
	}
	return handed.passedOn()
}

// turnPlace is where a wait that another thread ended waits, where that can be a turn.
func (r *Run) turnPlace(wait *recording.Wait) (place turnPlace, may bool) {
	stack := r.Stack(wait.Stack)
	user := r.Names.User(stack)
	if user == 0 || wait.WakerKind != recording.WakerThread || slices.Contains(noTurns, wait.Syscall) {
		return turnPlace{}, false
	}
	return turnPlace{r.ProcessName(wait.Pid), r.Names.Outer(stack, user)}, true
}

// IsTurn reports whether a thread waited for its turn.
func (r *Run) IsTurn(wait *recording.Wait) bool {
	place, may := r.turnPlace(wait)
	return may && r.turns[place]
}
