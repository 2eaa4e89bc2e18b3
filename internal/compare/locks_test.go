package compare

import (
	"testing"

	"culprit/recording"
)

// waitsFor tells whether a wait that another thread of the process ended, in frames from root to leaf, is for a lock.
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
	result := comparedPair(t, MetricWall, rec, rec)
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
	result := comparedPair(t, MetricWall, rec, rec)
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
