package code

import (
	"path"
	"slices"
	"strings"

	"culprit/recording"
)

var (
	// lockNames are parts of the names of functions that take a user-space lock.
	lockNames = words(
		// glibc and musl, libstdc++, libuv, V8, Abseil
		`pthread_mutex_lock pthread_mutex_timedlock pthread_mutex_clocklock __lll_lock_wait __lll_lock_
		lll_lock pthread_rwlock_ pthread_spin_lock mtx_lock __pthread_mutex_ std::mutex::lock
		__gthread_mutex_lock uv_mutex_lock v8::base::Mutex::Lock absl::Mutex::Lock`,
		// Go 1.9 to 1.26
		`sync.(*Mutex).Lock sync.(*Mutex).lockSlow internal/sync.(*Mutex) sync.(*RWMutex)
		sync.runtime_SemacquireMutex sync.runtime_SemacquireRWMutex
		internal/sync.runtime_SemacquireMutex runtime.semacquire1 runtime.lock2`,
		// HotSpot and the class library of JDK 8 to 25
		`ObjectMonitor::enter ObjectMonitor::EnterI ObjectMonitor::TrySpin ObjectSynchronizer::enter
		SharedRuntime::complete_monitor monitorenter Runtime1::monitorenter ReentrantLock.lock
		ReentrantLock.tryLock StampedLock. ReentrantLock$Sync.lock ReentrantReadWriteLock`,
		// CPython 3.8 to 3.14, see IsGIL
		`take_gil PyEval_RestoreThread PyEval_AcquireThread PyMutex_Lock _PyMutex_Lock
		_PyParkingLot_Park`,
		// Rust 1.62 and later ("<…::Mutex>::lock_contended" by some), parking_lot 0.12
		`futex::Mutex::lock lock_contended read_contended write_contended
		parking_lot::raw_mutex parking_lot::raw_rwlock`,
		// Ruby 2.5 to 3.4
		`rb_mutex_lock do_mutex_lock gvl_acquire rb_mutex_synchronize`,
	)
	// eventNames wait for an event and never for a lock: in C and C++, Rust and CPython,
	// the JVM, Go.
	eventNames = words(`pthread_join pthread_timedjoin pthread_clockjoin pthread_barrier_wait
		std::condition_variable std::__future_base std::__basic_future std::latch`,
		`std::sync::mpsc::Receiver std::sync::mpmc:: std::sync::barrier _queue_SimpleQueue_get`,
		`ObjectMonitor::wait Object.wait ConditionObject.await Thread.sleep Thread.join
		CountDownLatch.await`, `sync.runtime_notifyListWait sync.(*WaitGroup)`)
	// semaphoreNames wait for an event, or for what some programs lock with: who wakes whom must
	// tell.
	semaphoreNames = words(`sem_wait sem_timedwait sem_clockwait`)
	// conditionNames wait for an event unless a runtime built its locks on them (JVM monitors,
	// CPython's take_gil).
	conditionNames = append(words(`pthread_cond_ futex::Condvar thread_parking::`), semaphoreNames...)
	// parkNames are the JVM's ways to wait for anything but a monitor.
	parkNames = words(`LockSupport.park Unsafe.park SynchronousQueue Reference`)
	// synchronizers are what java.util.concurrent makes locks, latches and semaphores of.
	synchronizers = "java.util.concurrent.locks."
	// gilNames take the lock of CPython's interpreter.
	gilNames = words(`take_gil PyEval_RestoreThread PyEval_AcquireThread`)
)

// IsLockFunction reports whether a function takes a user-space lock.
func IsLockFunction(name string) bool { return containsAny(name, lockNames) }

// SpinsForLock reports whether a function takes or gives back a lock that nobody sleeps for.
func SpinsForLock(name string) bool { return strings.HasPrefix(name, "pthread_spin_") }

// freeNames are the functions of Go that take and give a lock which nobody else wants, as long as
// none of its slow ways stands below them: they are inlined wherever they are called.
var freeNames = wordSet(`sync.(*Mutex).Lock sync.(*Mutex).Unlock sync.(*Mutex).TryLock
	internal/sync.(*Mutex).Lock internal/sync.(*Mutex).Unlock internal/sync.(*Mutex).TryLock
	sync.(*RWMutex).RLock sync.(*RWMutex).RUnlock`)

// FightsForLock reports whether CPU time in a function says that a lock is fought for.
func FightsForLock(name string) bool { return IsLockFunction(name) && !freeNames[name] }

// cpuWaits are functions of Linux 4.18 to 6.12 that spin for what another CPU holds, or wait for
// all others to answer.
var cpuWaits = words(`queued_spin_lock_slowpath queued_read_lock_slowpath queued_write_lock_slowpath osq_lock
	rwsem_spin_on_owner rwsem_optimistic_spin mutex_spin_on_owner smp_call_function_many_cond`)

// WaitsForCPUs reports whether a stack waits for other CPUs within the kernel, without giving its
// own away.
func WaitsForCPUs(frames []recording.Frame) bool {
	return slices.ContainsFunc(frames, func(frame recording.Frame) bool {
		return frame.Kind == recording.KindKernel && containsAny(frame.Name, cpuWaits)
	})
}

// Waiting is what the functions of a stack say that it waits for.
type Waiting uint8

// What a stack may wait for.
const (
	WaitUnknown Waiting = iota
	WaitLock            // one that the program takes on purpose
	WaitEvent           // anything but a lock
	WaitMonitor         // a lock of the JVM, unless the VM's own thread ended the wait
)

// WaitsFor tells by names what a stack waits for: the deepest function that says anything decides,
// conditions only when nothing above them does.
func WaitsFor(frames []recording.Frame) Waiting {
	condition, semaphore, python, parked := false, false, false, false
	for i := len(frames) - 1; i >= 0; i-- {
		frame := &frames[i]
		switch {
		case frame.Kind == recording.KindKernel:
		case containsAny(frame.Name, eventNames):
			return WaitEvent
		case IsLockFunction(frame.Name), IsDatabaseLock(frame.Name), takesGIL(frames, i):
			return WaitLock
		case containsAny(frame.Name, conditionNames):
			condition, semaphore = true, semaphore || containsAny(frame.Name, semaphoreNames)
		case strings.Contains(frame.Name, pythonAcquire):
			python = true
		case frame.Kind == recording.KindRuby && condition:
			return WaitEvent // what it runs with a lock, in Mutex#synchronize, is not taking it
		case python && frame.Kind == recording.KindPython && isPythonEvent(frame):
			return WaitEvent
		case python && frame.Kind == recording.KindPython:
			return WaitLock
		case frame.Kind == recording.KindJVM && condition && containsAny(frame.Name, parkNames),
			parked && strings.Contains(frame.Name, synchronizers):
			parked = true // who asked for it tells whether it was for a lock
		case parked && frame.Kind == recording.KindJVM:
			return WaitEvent
		case frame.Kind == recording.KindJVM && condition:
			// A method that waits inside the JVM without parking enters a monitor, or stops for the
			// VM's own work.
			return WaitMonitor
		case frame.Kind == recording.KindRuby, frame.Kind == recording.KindJVM:
			return WaitUnknown
		}
	}
	if condition && !semaphore {
		return WaitEvent
	}
	return WaitUnknown
}

// RetriesLock reports whether a stack that a timer woke waits for a lock all the same: some wake up
// now and then to look again (CPython's take_gil each switch interval, a monitor of HotSpot,
// PostgreSQL for deadlocks), or by nothing else (a busy database of SQLite).
func RetriesLock(frames []recording.Frame) bool {
	if AtDatabaseLock(frames) {
		return true
	}
	for i := len(frames) - 1; i >= 0; i-- {
		switch name := frames[i].Name; {
		case containsAny(name, eventNames):
			return false
		case IsLockFunction(name), takesGIL(frames, i):
			return true
		case frames[i].Kind == recording.KindRuby:
			return false
		}
	}
	return false
}

// IsGIL reports whether a function takes the lock of CPython's interpreter. A thread does so after
// each call that it let the lock go for, whoever else wants it: only waiting in it says that the
// lock is contended.
func IsGIL(name string) bool { return containsAny(name, gilNames) }

// AwaitsGIL reports whether a stack waits for the lock of CPython's interpreter.
func AwaitsGIL(frames []recording.Frame) bool {
	for i := range frames {
		if IsGIL(frames[i].Name) || takesGIL(frames, i) {
			return true
		}
	}
	return false
}

// takesGIL reports whether a frame of a stack is CPython waiting for the lock of its interpreter,
// where a stripped build does not name take_gil: nothing else in it waits for a condition
// (Python/ceval_gil.h; locks are semaphores).
func takesGIL(frames []recording.Frame, at int) bool {
	return at > 0 && strings.Contains(frames[at].Name, "pthread_cond_") &&
		isPython(path.Base(frames[at-1].Module))
}

// pythonAcquire takes a threading.Lock, out of which CPython makes its conditions, events, queues
// and joins as well.
const pythonAcquire = "PyThread_acquire_lock"

// pythonEvents are the functions of threading.py that wait by a lock which somebody else will
// release on purpose.
var pythonEvents = words(`wait _wait_for_tstate_lock join`)

// isPythonEvent tells those, and the function in which a worker of an executor waits for work: what
// it calls is built into the interpreter, and nameless where that is stripped.
func isPythonEvent(frame *recording.Frame) bool {
	name := bare(frame.Name)
	name = name[strings.LastIndexByte(name, '.')+1:]
	return strings.HasSuffix(frame.File, "threading.py") && slices.Contains(pythonEvents, name) ||
		strings.HasSuffix(frame.File, "/concurrent/futures/thread.py") && name == "_worker"
}
