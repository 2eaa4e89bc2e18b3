package compare

import (
	"slices"
	"strings"

	"culprit/internal/code"
	"culprit/recording"
)

// lockObject is a futex of one process.
type lockObject struct {
	pid    int32
	object uint64
}

// lockObjects finds futexes that behave like locks: threads that wait for them
// also wake others from them. A condition or a join has wakers that never wait.
// It is what remains when stacks are unknown or libraries stripped, and for
// semaphores, which serve as locks and as events. What processes share has no pid.
func lockObjects(rec *recording.Recording) map[lockObject]bool {
	handed := newHanded[lockObject]()
	for i := range rec.Waits {
		wait := &rec.Waits[i]
		if object, may := objectOf(wait); may && wait.WakerKind == recording.WakerThread {
			handed.on(object, wait)
		}
	}
	return handed.passedOn()
}

// handed tells who waits at a place, and who ends the waits there.
type handed[K comparable] struct{ waiters, wakers map[K]map[int32]bool }

func newHanded[K comparable]() *handed[K] {
	return &handed[K]{map[K]map[int32]bool{}, map[K]map[int32]bool{}}
}

// on notes a wait that a thread ended.
func (h *handed[K]) on(place K, wait *recording.Wait) {
	if h.waiters[place] == nil {
		h.waiters[place], h.wakers[place] = map[int32]bool{}, map[int32]bool{}
	}
	h.waiters[place][wait.Tid], h.wakers[place][wait.WakerTid] = true, true
}

// passedOn tells the places where at least two threads wait and end others' waits as well: what has an owner, who
// passes it on.
func (h *handed[K]) passedOn() map[K]bool {
	places := map[K]bool{}
	for place, waiting := range h.waiters {
		both := 0
		for tid := range waiting {
			if h.wakers[place][tid] {
				both++
			}
		}
		places[place] = both >= 2
	}
	return places
}

// semaphoreCalls wait for a System V semaphore. Which one is not recorded: all of a recording count as one.
var semaphoreCalls = []string{"semop", "semtimedop"}

// objectOf is what a wait is for, where that can be a lock.
func objectOf(wait *recording.Wait) (object lockObject, may bool) {
	switch {
	case slices.Contains(semaphoreCalls, wait.Syscall):
		return lockObject{}, true
	case wait.Syscall != "futex" || wait.Object == 0:
		return lockObject{}, false
	case wait.WakerPid != wait.Pid:
		return lockObject{0, wait.Object}, true // shared memory, at the same address in forked processes
	}
	return lockObject{wait.Pid, wait.Object}, true
}

// releases finds where the holder of each lock gave it up: the way to name one that was too quick to be sampled.
func (r *run) releases() map[lockObject]int32 {
	found := map[lockObject]int32{}
	for i := range r.rec.Locks {
		lock := &r.rec.Locks[i]
		if at := r.stackOf(lock.HolderStack); lock.Kind == recording.LockFutex && at != recording.NoStack {
			found[lockObject{lock.Pid, lock.Address}] = at
		}
	}
	return found
}

// fileLockCalls wait for nothing but a lock of a file when another thread ends the wait: F_SETLKW is the only fcntl
// that does.
var fileLockCalls = []string{"flock", "fcntl"}

// isLock reports whether a wait was for a lock that the program takes on purpose: in
// user space, or one that the kernel keeps for it.
func (r *run) isLock(wait *recording.Wait) bool {
	object, may := objectOf(wait)
	switch {
	case wait.WakerKind == recording.WakerTimer:
		return r.pool.lockTold(r.stackOf(wait.Stack)).retries
	case wait.WakerKind != recording.WakerThread:
		return false
	case slices.Contains(fileLockCalls, wait.Syscall):
		return r.thread[wait.WakerTid] != nil // a lock that a stranger holds is no contention of the program's own
	case slices.Contains(semaphoreCalls, wait.Syscall):
		return r.locks[object] || r.pool.lockTold(r.stackOf(wait.Stack)).database
	case wait.Syscall != "" && wait.Syscall != "futex":
		return r.pool.lockTold(r.stackOf(wait.Stack)).database
	}
	if lock, known := r.lockByStack(r.stackOf(wait.Stack), wait.WakerComm); known {
		return lock
	}
	return may && r.locks[object]
}

func containsAny(name string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

// lockByStack tells by names whether a stack waits for a lock.
func (r *run) lockByStack(stack int32, wakerComm string) (lock, known bool) {
	switch r.pool.lockTold(stack).waits {
	case code.WaitLock:
		return true, true
	case code.WaitEvent:
		return false, true
	case code.WaitMonitor:
		return wakerComm != "VM Thread", true
	}
	return false, false
}

// lockTold is what the names of a stack's functions tell of locks.
type lockTold struct {
	waits             code.Waiting
	retries, database bool // looks again for a lock whenever a timer wakes it; waits for one of a database
}

func (p *pool) lockTold(stack int32) lockTold {
	if stack < 0 {
		return lockTold{}
	}
	told, known := p.locks[stack]
	if !known {
		frames := p.framesOf(stack)
		told = lockTold{code.WaitsFor(frames), code.RetriesLock(frames), code.AtDatabaseLock(frames)}
		p.locks[stack] = told
	}
	return told
}
