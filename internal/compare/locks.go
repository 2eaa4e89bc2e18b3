package compare

import (
	"path"
	"slices"
	"strings"

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

// lockNames are functions that take a user-space lock, by kind of runtime.
var lockNames = []string{
	"pthread_mutex_lock", "pthread_mutex_timedlock", "pthread_mutex_clocklock", "__lll_lock_wait", "__lll_lock_",
	"lll_lock", "pthread_rwlock_", "pthread_spin_lock", "mtx_lock", "__pthread_mutex_", // glibc, musl
	"sync.(*Mutex).Lock", "sync.(*Mutex).lockSlow", "internal/sync.(*Mutex)", "sync.(*RWMutex)",
	"sync.runtime_SemacquireMutex", "sync.runtime_SemacquireRWMutex", "internal/sync.runtime_SemacquireMutex",
	"runtime.semacquire1", "runtime.lock2", // Go
	"ObjectMonitor::enter", "ObjectMonitor::EnterI", "ObjectMonitor::TrySpin", "ObjectSynchronizer::enter",
	"SharedRuntime::complete_monitor", "monitorenter", "Runtime1::monitorenter",
	"ReentrantLock.lock", "ReentrantLock.tryLock", "StampedLock.", "ReentrantLock$Sync.lock",
	"ReentrantReadWriteLock",                                   // JVM
	"take_gil", "PyEval_RestoreThread", "PyEval_AcquireThread", // CPython, see IsGIL
	"PyMutex_Lock", "_PyMutex_Lock", "_PyParkingLot_Park",
	"futex::Mutex::lock", "Mutex::lock_contended", "RwLock::read_contended", "RwLock::write_contended",
	"parking_lot::raw_mutex", "parking_lot::raw_rwlock", // Rust
	"rb_mutex_lock", "do_mutex_lock", "gvl_acquire", "rb_mutex_synchronize", // Ruby
	"uv_mutex_lock", "v8::base::Mutex::Lock", "std::mutex::lock", "__gthread_mutex_lock", "absl::Mutex::Lock",
}

// eventNames wait for an event and never for a lock.
var eventNames = []string{
	"pthread_join", "pthread_timedjoin", "pthread_clockjoin", "pthread_barrier_wait", "ObjectMonitor::wait",
	"Object.wait", "ConditionObject.await", "Thread.sleep", "Thread.join", "CountDownLatch.await",
	"sync.runtime_notifyListWait", "sync.(*WaitGroup)", "std::condition_variable",
}

// conditionNames wait for an event unless a runtime built its locks on them (JVM monitors, CPython's take_gil).
var conditionNames = []string{"pthread_cond_", "sem_wait", "sem_timedwait", "sem_clockwait"}

// semaphoreNames are those of them that some programs lock with: who wakes whom must tell.
var semaphoreNames = []string{"sem_wait", "sem_timedwait", "sem_clockwait"}

// fileLockCalls wait for nothing but a lock of a file when another thread ends the wait: F_SETLKW is the only fcntl
// that does.
var fileLockCalls = []string{"flock", "fcntl"}

// parkNames are the JVM's ways to wait for anything but a monitor.
var parkNames = []string{"LockSupport.park", "Unsafe.park", "SynchronousQueue", "Reference"}

// IsLockFunction reports whether a function takes a user-space lock; names are
// those of C libraries, Go, the JVM, CPython and Rust.
func IsLockFunction(name string) bool { return containsAny(name, lockNames) }

func containsAny(name string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

// isLock reports whether a wait was for a lock that the program takes on purpose: in
// user space, or one that the kernel keeps for it.
func (r *run) isLock(wait *recording.Wait) bool {
	object, may := objectOf(wait)
	switch {
	case wait.WakerKind == recording.WakerTimer:
		return r.retriesLock(r.stackOf(wait.Stack))
	case wait.WakerKind != recording.WakerThread:
		return false
	case slices.Contains(fileLockCalls, wait.Syscall):
		return r.thread[wait.WakerTid] != nil // a lock that a stranger holds is no contention of the program's own
	case slices.Contains(semaphoreCalls, wait.Syscall):
		return r.locks[object] || r.atDatabaseLock(r.stackOf(wait.Stack))
	case wait.Syscall != "" && wait.Syscall != "futex":
		return r.atDatabaseLock(r.stackOf(wait.Stack))
	}
	if lock, known := r.lockByStack(r.stackOf(wait.Stack), wait.WakerComm); known {
		return lock
	}
	return may && r.locks[object]
}

// retriesLock reports whether a stack that a timer woke waits for a lock all the same: some
// wake up now and then to look again (CPython's take_gil each switch interval, a monitor of HotSpot, PostgreSQL for
// deadlocks), or by nothing else (a busy database of SQLite).
func (r *run) retriesLock(stack int32) bool {
	if stack < 0 {
		return false
	}
	if r.atDatabaseLock(stack) {
		return true
	}
	frames := r.pool.stacks[stack]
	for i := len(frames) - 1; i >= 0; i-- {
		switch name := r.pool.frames[frames[i]].Name; {
		case containsAny(name, eventNames):
			return false
		case IsLockFunction(name), r.pool.takesGIL(frames, i):
			return true
		case r.pool.frames[frames[i]].Kind == recording.KindRuby:
			return false
		}
	}
	return false
}

// lockByStack tells by names whether a stack waits for a lock: the deepest
// function that says anything decides, conditions only when nothing above them does.
func (r *run) lockByStack(stack int32, wakerComm string) (lock, known bool) {
	if stack < 0 {
		return false, false
	}
	frames := r.pool.stacks[stack]
	condition, semaphore, python := false, false, false
	for i := len(frames) - 1; i >= 0; i-- {
		frame := r.pool.frames[frames[i]]
		switch {
		case frame.Kind == recording.KindKernel:
		case containsAny(frame.Name, eventNames):
			return false, true
		case IsLockFunction(frame.Name), IsDatabaseLock(frame.Name), r.pool.takesGIL(frames, i):
			return true, true
		case containsAny(frame.Name, conditionNames):
			condition, semaphore = true, semaphore || containsAny(frame.Name, semaphoreNames)
		case strings.Contains(frame.Name, pythonAcquire):
			python = true
		case frame.Kind == recording.KindRuby:
			return false, condition // what it runs with a lock, in Mutex#synchronize, is not taking it
		case python && frame.Kind == recording.KindPython:
			return !isPythonEvent(&frame), true
		case frame.Kind == recording.KindJVM:
			// A method that waits inside the JVM without parking enters a monitor, or stops for the VM's own work.
			return condition && !containsAny(frame.Name, parkNames) && wakerComm != "VM Thread", condition
		}
	}
	return false, condition && !semaphore
}

// IsGIL reports whether a function takes the lock of CPython's interpreter. A thread does so after each call that it
// let the lock go for, whoever else wants it: only waiting in it says that the lock is contended.
func IsGIL(name string) bool {
	return containsAny(name, []string{"take_gil", "PyEval_RestoreThread", "PyEval_AcquireThread"})
}

// takesGIL reports whether a frame of a stack is CPython waiting for the lock of its interpreter, where a stripped
// build does not name take_gil: nothing else in it waits for a condition (Python/ceval_gil.h; locks are semaphores).
func (p *pool) takesGIL(stack []int32, at int) bool {
	if at == 0 || !containsAny(p.frames[stack[at]].Name, []string{"pthread_cond_"}) {
		return false
	}
	module := path.Base(p.frames[stack[at-1]].Module)
	return strings.HasPrefix(module, "python") || strings.HasPrefix(module, "libpython")
}

// pythonAcquire takes a threading.Lock, out of which CPython makes its conditions, events, queues and joins as well.
const pythonAcquire = "PyThread_acquire_lock"

// pythonEvents are the functions of threading.py that wait by a lock which somebody else will release on purpose.
var pythonEvents = []string{"wait", "_wait_for_tstate_lock", "join"}

func isPythonEvent(frame *recording.Frame) bool {
	name := frame.Name[strings.LastIndexByte(frame.Name, '.')+1:]
	return strings.HasSuffix(frame.File, "threading.py") && slices.Contains(pythonEvents, name)
}
