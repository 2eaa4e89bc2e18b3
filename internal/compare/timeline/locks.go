package timeline

import (
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare/names"
	"culprit/internal/compare/perrun"
	"culprit/recording"
)

// lockObject is a futex of one process.
type lockObject struct {
	pid    int32
	object uint64
}

// lockObjects finds futexes that behave like locks: threads that wait for them also wake others
// from them. A condition or a join has wakers that never wait. It is what remains when stacks are
// unknown or libraries stripped, and for semaphores, which serve as locks and as events. What
// processes share has no pid.
func lockObjects(rec *recording.Recording) map[lockObject]bool {
	handed := handed[lockObject]{}
	for i := range rec.Waits {
		wait := &rec.Waits[i]
		if object, may := objectOf(wait); may && wait.WakerKind == recording.WakerThread {
			handed.on(object, wait)
		}
	}
	return handed.passedOn()
}

// handed tells who waits at a place, and who ends the waits there.
type handed[K comparable] map[K]*struct{ waiters, wakers map[int32]bool }

// on notes a wait that a thread ended.
func (h handed[K]) on(place K, wait *recording.Wait) {
	if h[place] == nil {
		h[place] = &struct{ waiters, wakers map[int32]bool }{map[int32]bool{}, map[int32]bool{}}
	}
	h[place].waiters[wait.Tid], h[place].wakers[wait.WakerTid] = true, true
}

// passedOn tells the places that have an owner, who passes them on: at least two threads wait there
// and end others' waits as well.
func (h handed[K]) passedOn() map[K]bool {
	places := map[K]bool{}
	for place, threads := range h {
		both := 0
		for tid := range threads.waiters {
			if threads.wakers[tid] {
				both++
			}
		}
		places[place] = both >= 2
	}
	return places
}

// SemaphoreCalls wait for a System V semaphore. Which is not recorded: all count as one.
var SemaphoreCalls = []string{"semop", "semtimedop"}

// objectOf is what a wait is for, where that can be a lock.
func objectOf(wait *recording.Wait) (object lockObject, may bool) {
	switch {
	case slices.Contains(SemaphoreCalls, wait.Syscall):
		return lockObject{}, true
	case wait.Syscall != "futex" || wait.Object == 0:
		return lockObject{}, false
	case wait.WakerPid != wait.Pid:
		return lockObject{0, wait.Object}, true // shared memory, at the same address in forked processes
	}
	return lockObject{wait.Pid, wait.Object}, true
}

// releases finds where the holder of each lock gave it up: it may be too quick to be sampled.
func (r *Run) releases() map[lockObject]int32 {
	found := map[lockObject]int32{}
	for i := range r.Recording.Locks {
		lock := &r.Recording.Locks[i]
		if at := r.Stack(lock.HolderStack); lock.Kind == recording.LockFutex && at != names.None {
			found[lockObject{lock.Pid, lock.Address}] = at
		}
	}
	return found
}

// HeldIn is the stack in which a wait's lock was held: where the thread that gave it up ran most
// meanwhile. Of a wait that a timer ended, and of one for an interpreter, which goes from thread to
// thread meanwhile, it is whoever else ran most. Where neither was seen to run it is where the lock
// was mostly given up, or for an interpreter, which is given up to sleep or to read after the work,
// where the others run most in all; names.None for none.
func (r *Run) HeldIn(t *Thread, wait *recording.Wait) int32 {
	from, to := wait.TimeNs, wait.WokenNs()
	holder, interpreter := r.Thread(wait.WakerTid), r.Names.Locks(r.Stack(wait.Stack)).GIL
	if wait.WakerKind == recording.WakerTimer || interpreter {
		holder = r.meanwhile(t, from, to)
	}
	if holder != nil && holder != t {
		if seen := r.TopStack(holder, from, to); seen != names.None {
			return seen
		}
	}
	if interpreter {
		if most := r.othersRunIn(t); most != names.None {
			return most
		}
	}
	return r.released[lockObject{wait.Pid, wait.Object}]
}

// othersRunIn is the stack that the other threads of a thread's process were seen in most,
// names.None for none.
func (r *Run) othersRunIn(t *Thread) int32 {
	if most, known := r.others[t.Tid]; known {
		return most
	}
	seen := map[int32]int64{}
	for _, other := range r.Threads {
		if other.Pid != t.Pid || other == t {
			continue
		}
		for _, sample := range other.CPU {
			seen[r.Stack(sample.Stack)] += sample.ValueNs
		}
	}
	delete(seen, names.None)
	r.others[t.Tid], _ = perrun.Largest(seen)
	return r.others[t.Tid]
}

// FileLockCalls wait for nothing but a lock of a file when another thread ends the wait (F_SETLKW).
var FileLockCalls = []string{"flock", "fcntl"}

// IsLock reports whether a wait was for a lock that the program takes on purpose: in user space, or
// one that the kernel keeps for it.
func (r *Run) IsLock(wait *recording.Wait) bool {
	if wait.WakerKind != recording.WakerTimer && wait.WakerKind != recording.WakerThread {
		return false
	}
	object, may := objectOf(wait)
	told := r.Names.Locks(r.Stack(wait.Stack))
	switch {
	case wait.WakerKind == recording.WakerTimer:
		return told.Retries
	case slices.Contains(FileLockCalls, wait.Syscall):
		return r.thread[wait.WakerTid] != nil // a stranger's is no contention of the program's own
	case slices.Contains(SemaphoreCalls, wait.Syscall):
		return r.locks[object] || told.Database
	case wait.Syscall != "" && wait.Syscall != "futex":
		return told.Database
	}
	switch told.Waits {
	case code.WaitLock:
		return true
	case code.WaitEvent:
		return false
	case code.WaitMonitor:
		return wait.WakerComm != "VM Thread" // else the thread stopped for the VM's own work
	}
	return may && r.locks[object]
}

// IsShortLock tells by names whether a wait for a lock is one that was too short to be kept whole.
func (r *Run) IsShortLock(stack int32, call string) bool {
	waits := r.Names.Locks(stack).Waits
	return (waits == code.WaitLock || waits == code.WaitMonitor) && (call == "futex" || call == "")
}

// kernelLockNames are kernel functions that sleep until another thread gives a lock up.
var kernelLockNames = []string{"rwsem_down_", "__mutex_lock", "percpu_down_write",
	"percpu_rwsem_wait", "__down_"}

// kernelUnlockNames wake whoever waits for a lock. They stand on the waker's stack, and tell more:
// on Linux 6.18 the sleeper's stack was seen to end at the caller of the lock's functions.
var kernelUnlockNames = []string{"rwsem_wake", "__mutex_unlock", "percpu_up_write", "__up_write",
	"__up_read"}

// IsKernelLock reports whether a wait was for a lock inside the kernel that another thread of the
// target gave up: an inode's, a directory's, the address space's. As with user-space locks, what
// the holder did meanwhile is the time; it did not hand on any work.
func (r *Run) IsKernelLock(wait *recording.Wait) bool {
	return wait.WakerKind == recording.WakerThread &&
		(code.InKernel(r.Frames(wait.WakerStack), kernelUnlockNames...) ||
			code.InKernel(r.Frames(wait.Stack), kernelLockNames...))
}

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
	user := names.LastUser(r.Names.Frames(stack)) + 1
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
