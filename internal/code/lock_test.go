package code

import (
	"testing"

	"culprit/recording"
)

// A thread of Java that parks waits for a lock where a lock of java.util.concurrent had it parked,
// for an event where a latch, a queue, a semaphore or nobody known did.
func TestWaitsForOfParkedThreads(t *testing.T) {
	const locks = "java.util.concurrent.locks."
	park := []string{locks + "AbstractQueuedSynchronizer.acquire", locks + "LockSupport.park",
		"jdk.internal.misc.Unsafe.park"}
	for _, test := range []struct {
		by   []string
		want Waiting
	}{
		{[]string{"Orders.book", locks + "ReentrantLock.lock", locks + "ReentrantLock$Sync.lock"}, WaitLock},
		{[]string{"Orders.book", locks + "ReentrantReadWriteLock$WriteLock.lock"}, WaitLock},
		{[]string{"Orders.book", "java.util.concurrent.CountDownLatch.await"}, WaitEvent},
		{[]string{"Orders.book", "java.util.concurrent.Semaphore.acquire"}, WaitEvent},
		{[]string{"java.util.concurrent.LinkedBlockingQueue.take", locks +
			"AbstractQueuedSynchronizer$ConditionObject.await"}, WaitEvent},
		{[]string{locks + "ReentrantLock.lock", "Orders.book"}, WaitEvent}, // what runs with the lock
		{[]string{"Orders.book"}, WaitEvent},
		{nil, WaitEvent},
	} {
		var frames []recording.Frame
		for _, name := range append(append([]string{}, test.by...), park...) {
			frames = append(frames, recording.Frame{Name: name, Kind: recording.KindJVM})
		}
		frames = append(frames, recording.Frame{Name: "pthread_cond_wait", Kind: recording.KindNative, Module: "libc.so.6"},
			recording.Frame{Name: "futex_wait", Kind: recording.KindKernel})
		if got := WaitsFor(frames); got != test.want {
			t.Errorf("%v: %v, want %v", test.by, got, test.want)
		}
	}
}

// Waits for what another thread brings are none for a lock, however a library makes them.
func TestWaitsForOfEvents(t *testing.T) {
	native, python := recording.KindNative, recording.KindPython
	for _, test := range []struct {
		name   string
		frames []recording.Frame
		want   Waiting
	}{
		{"a future of libstdc++", []recording.Frame{{Name: "serve", Kind: native},
			{Name: "std::__future_base::_State_baseV2::wait", Kind: native},
			{Name: "std::__atomic_futex_unsigned_base::_M_futex_wait_until", Kind: native}}, WaitEvent},
		{"a channel of Rust", []recording.Frame{{Name: "std::sync::mpsc::Receiver<T>::recv", Kind: native},
			{Name: "<std::sys::sync::thread_parking::futex::Parker>::park", Kind: native}}, WaitEvent},
		{"a condition of Rust", []recording.Frame{{Name: "<std::sys::sync::condvar::futex::Condvar>::wait", Kind: native}},
			WaitEvent},
		{"a mutex of Rust", []recording.Frame{{Name: "<std::sys::sync::mutex::futex::Mutex>::lock_contended", Kind: native}},
			WaitLock},
		{"a worker of an executor of Python, stripped", []recording.Frame{
			{Name: "_worker", Kind: python, File: "/usr/lib/python3.11/concurrent/futures/thread.py"},
			{Name: "PyThread_acquire_lock_timed", Kind: native}}, WaitEvent},
		{"a queue of Python", []recording.Frame{{Name: "serve", Kind: python, File: "/srv/app.py"},
			{Name: "_queue_SimpleQueue_get_impl", Kind: native}, {Name: "PyThread_acquire_lock_timed", Kind: native}},
			WaitEvent},
		{"a lock of Python", []recording.Frame{{Name: "_worker", Kind: python, File: "/srv/app.py"},
			{Name: "PyThread_acquire_lock_timed", Kind: native}}, WaitLock},
	} {
		if got := WaitsFor(test.frames); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// Go inlines the functions that take and give a lock which is free: CPU time in them is no fight
// for one, as it is in their slow ways. Who waits in them waits for a lock all the same.
func TestFightsForLock(t *testing.T) {
	for name, fights := range map[string]bool{
		"sync.(*Mutex).Lock": false, "internal/sync.(*Mutex).Unlock": false, "sync.(*RWMutex).RLock": false,
		"internal/sync.(*Mutex).lockSlow": true, "sync.(*RWMutex).rUnlockSlow": true, "sync.(*RWMutex).Lock": true,
		"pthread_mutex_lock": true, "main.lock": false,
	} {
		if got := FightsForLock(name); got != fights {
			t.Errorf("%s: %v", name, got)
		}
		frame := recording.Frame{Name: name, Kind: recording.KindGo}
		if queues := QueuesForLock(frame); queues && !fights {
			t.Errorf("%s: queues for a lock", name)
		}
	}
	if !IsLockFunction("sync.(*Mutex).Lock") {
		t.Error("who waits in sync.(*Mutex).Lock waits for a lock")
	}
}
