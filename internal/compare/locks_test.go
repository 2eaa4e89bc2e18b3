package compare_test

import (
	"testing"

	"culprit/internal/compare"
	"culprit/internal/stat"
	"culprit/recording"
)

// waitsFor tells whether a wait that another thread of the process ended, in frames from root to
// leaf, is for a lock.
func waitsFor(t *testing.T, frames ...recording.Frame) bool {
	t.Helper()
	rec := small(func(rec *recording.Recording) {
		rec.Frames, rec.Stacks = frames, []recording.Stack{{}}
		for i := range frames {
			rec.Stacks[0].Frames = append(rec.Stacks[0].Frames, int32(i))
		}
		rec.Waits = []recording.Wait{{Pid: 7, Tid: 7, TimeNs: 1e8, BlockedNs: 2e8, Syscall: "futex", Object: 0x10,
			WakerKind: recording.WakerThread, WakerPid: 7, WakerTid: 8}}
	})
	result := comparedPair(t, compare.MetricWall, rec, rec)
	if len(result.Waits) != 1 {
		t.Fatalf("%d waits, want 1", len(result.Waits))
	}
	return result.Waits[0].Lock
}

func TestLockByStack(t *testing.T) {
	native := func(name string) recording.Frame { return recording.Frame{Name: name, Kind: recording.KindNative} }
	python := func(name, file string) recording.Frame {
		return recording.Frame{Name: name, File: file, Kind: recording.KindPython}
	}
	const library = "/usr/lib/python3.11/threading.py"
	acquire, wait := native("PyThread_acquire_lock_timed"), native("sem_wait")
	for _, one := range []struct {
		name   string
		frames []recording.Frame
		want   bool
	}{
		{"a lock of Python", []recording.Frame{python("store", "/srv/shop.py"), acquire, wait}, true},
		{"a condition of Python", []recording.Frame{python("take", "/srv/shop.py"), python("Condition.wait", library),
			acquire, wait}, false},
		{"a join of Python", []recording.Frame{python("Thread._wait_for_tstate_lock", library), acquire, wait}, false},
		{"a program's own wait", []recording.Frame{python("wait", "/srv/shop.py"), acquire, wait}, true},
		{"a semaphore of C", []recording.Frame{native("main"), native("fetch"), wait}, false},
		{"a read-write lock of Rust", []recording.Frame{native("main"),
			native("std::sys::sync::rwlock::futex::RwLock::write_contended")}, true},
		{"Mutex#synchronize, of a stripped Ruby", []recording.Frame{{Name: "block in fetch", Kind: recording.KindRuby},
			native("rb_mutex_synchronize"), native("libruby-3.1.so+0x213a2e"), native("pthread_cond_wait")}, true},
		{"a wait inside Mutex#synchronize", []recording.Frame{native("rb_mutex_synchronize"), native("rb_yield"),
			{Name: "block in fetch", Kind: recording.KindRuby}, native("pthread_cond_wait")}, false},
		{"the interpreter's lock, of a stripped Python", []recording.Frame{python("score", "/srv/shop.py"),
			{Name: "python3.11+0x4f92c0()", Module: "/usr/bin/python3.11", Kind: recording.KindNative},
			native("pthread_cond_timedwait")}, true},
		{"a condition of an extension of Python", []recording.Frame{python("score", "/srv/shop.py"),
			{Name: "Queue_take", Module: "/usr/lib/python3/queue.so", Kind: recording.KindNative},
			native("pthread_cond_timedwait")}, false},
		{"a mutex of Ruby", []recording.Frame{native("main"), native("rb_mutex_lock"), native("pthread_cond_wait")}, true},
	} {
		if got := waitsFor(t, one.frames...); got != one.want {
			t.Errorf("%s: lock %v, want %v", one.name, got, one.want)
		}
	}
}

// TestHolderOutOfTheTableOfLocks has a holder that no sample has caught.
func TestHolderOutOfTheTableOfLocks(t *testing.T) {
	rec := small(func(rec *recording.Recording) {
		rec.Frames = []recording.Frame{{Name: "store", Kind: recording.KindNative, Module: "prog"},
			{Name: "pthread_mutex_lock", Kind: recording.KindNative, Module: "libc.so.6"},
			{Name: "refill", Kind: recording.KindNative, Module: "prog"}}
		rec.Stacks = []recording.Stack{{Frames: []int32{0, 1}}, {Frames: []int32{2}}}
		rec.Waits = []recording.Wait{{Pid: 7, Tid: 7, TimeNs: 1e8, BlockedNs: 2e8, Syscall: "futex", Object: 0x10,
			WakerKind: recording.WakerThread, WakerPid: 7, WakerTid: 8}}
		rec.Locks = []recording.Lock{{Kind: recording.LockFutex, Pid: 7, Address: 0x20, HolderStack: 0},
			{Kind: recording.LockFutex, Pid: 7, Address: 0x10, HolderStack: 1}}
	})
	result := comparedPair(t, compare.MetricWall, rec, rec)
	found := 0
	for i := range result.Paths {
		if path := &result.Paths[i]; path.Lock {
			found++
			if len(path.Holder) != 1 || path.Holder[0].Name != "refill" {
				t.Errorf("holder %v, want refill", path.Holder)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d paths wait for a lock, want 1", found)
	}
}

// TestWhoRanWhileALockWasLookedAt has a wait for CPython's global lock that ended by the clock:
// another thread ran.
func TestWhoRanWhileALockWasLookedAt(t *testing.T) {
	m := newMade(0.5, 0.6).threadFrom(10, 11, 0).threadFrom(10, 12, 0)
	m.runs(10, 10, 0, 100*ms, "p:request").runs(10, 12, 100*ms, 110*ms, "p:other").runs(10, 11, 100*ms, 500*ms, "p:burn")
	m.waits(recording.Wait{Pid: 10, Tid: 10, TimeNs: 100 * ms, BlockedNs: 400 * ms, Syscall: "futex", Object: 0x10,
		WakerKind: recording.WakerTimer}, "p:request;n:take_gil;pthread_cond_timedwait")
	held := 0.0
	for _, path := range comparedPair(t, compare.MetricWall, m.rec, m.rec).Paths {
		if path.Lock && len(path.Holder) == 1 && path.Holder[0].Name == "burn" {
			held += stat.Average(path.A)
		}
	}
	if held < 0.39 || held > 0.41 {
		t.Errorf("waited %v s while the other thread ran, want 0.4", held)
	}
}

// handedOn has threads of two processes that wake each other out of the same call by turns, or only
// the one the other.
func handedOn(t *testing.T, syscall string, object uint64, both bool) bool {
	t.Helper()
	rec := small(func(rec *recording.Recording) {
		rec.Processes = append(rec.Processes, recording.Process{Pid: 8, Ppid: 7, Comm: "other"})
		rec.Threads = append(rec.Threads, recording.Thread{Pid: 8, Tid: 8, Comm: "other"})
		wait := recording.Wait{Pid: 7, Tid: 7, TimeNs: 1e8, BlockedNs: 2e8, Syscall: syscall, Object: object,
			Stack: recording.NoStack, WakerStack: recording.NoStack,
			WakerKind: recording.WakerThread, WakerPid: 8, WakerTid: 8}
		rec.Waits = []recording.Wait{wait}
		if both {
			wait.Pid, wait.Tid, wait.WakerPid, wait.WakerTid, wait.TimeNs = 8, 8, 7, 7, 4e8
			rec.Waits = append(rec.Waits, wait)
		}
	})
	result := comparedPair(t, compare.MetricWall, rec, rec)
	locks := 0
	for _, wait := range result.Waits {
		if wait.Lock {
			locks++
		}
	}
	if locks != 0 && locks != len(result.Waits) {
		t.Fatalf("%d of %d waits are for locks", locks, len(result.Waits))
	}
	return locks > 0
}

func TestLocksBetweenProcesses(t *testing.T) {
	for _, one := range []struct {
		name, syscall string
		object        uint64
		both, want    bool
	}{
		{"a lock of a file", "flock", 3, false, true},
		{"a range of a file", "fcntl", 3, false, true},
		{"a semaphore that both take and give", "semop", 0, true, true},
		{"a semaphore that one gives the other", "semop", 0, false, false},
		{"a futex in shared memory that both take and give", "futex", 0x7000, true, true},
		{"a futex in shared memory that one wakes the other at", "futex", 0x7000, false, false},
		{"a pipe", "read", 3, true, false},
	} {
		if got := handedOn(t, one.syscall, one.object, one.both); got != one.want {
			t.Errorf("%s: lock %v, want %v", one.name, got, one.want)
		}
	}
}

// TestALockThatIsLookedAtAgain has CPython's wait for its global lock, which a timer ends at each
// switch interval.
func TestALockThatIsLookedAtAgain(t *testing.T) {
	native := func(name string) recording.Frame { return recording.Frame{Name: name, Kind: recording.KindNative} }
	for name, want := range map[string]bool{"take_gil": true, "poll_queue": false, "Object.wait": false} {
		rec := small(func(rec *recording.Recording) {
			rec.Frames = []recording.Frame{native("main"), native(name), native("pthread_cond_timedwait")}
			rec.Stacks = []recording.Stack{{Frames: []int32{0, 1, 2}}}
			rec.Waits = []recording.Wait{{Pid: 7, Tid: 7, TimeNs: 1e8, BlockedNs: 5e6, Syscall: "futex", Object: 0x10,
				WakerKind: recording.WakerTimer, WakerStack: recording.NoStack}}
		})
		result := comparedPair(t, compare.MetricWall, rec, rec)
		if len(result.Waits) != 1 || result.Waits[0].Lock != want {
			t.Errorf("%s: %+v, want one wait with Lock %v", name, result.Waits, want)
		}
	}
}
