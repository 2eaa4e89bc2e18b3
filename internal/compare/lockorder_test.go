package compare_test

import (
	"testing"

	"culprit/internal/compare"
	"culprit/internal/stat"
	"culprit/recording"
)

// pair is two threads that wait for each other by turns: each waits 90 ms, from its own moment,
// while the other sleeps for its last 80 ms. The stacks are those that each waits with.
func pair(syscall string, asleep bool, first, second string) *made {
	m := newMade(0.6, 0.1).process(20, 10, 0, 600*ms, "prog").threadFrom(20, 20, 0)
	for turn := range int64(6) {
		waiter, holder, stack := int32(10), int32(20), first
		if turn%2 == 1 {
			waiter, holder, stack = 20, 10, second
		}
		from := turn * 100 * ms
		m.waits(recording.Wait{TimeNs: from, BlockedNs: 90 * ms, Pid: waiter, Tid: waiter, Syscall: syscall, Object: 3,
			WakerKind: recording.WakerThread, WakerPid: holder, WakerTid: holder}, stack)
		if asleep {
			m.waits(recording.Wait{TimeNs: from + 5*ms, BlockedNs: 80 * ms, Pid: holder, Tid: holder,
				Syscall: "clock_nanosleep", WakerKind: recording.WakerTimer}, "main;teller;nap;k:__x64_sys_clock_nanosleep")
		}
	}
	return m
}

func TestTurns(t *testing.T) {
	const take, serve = "main;teller;take;k:__x64_sys_read", "main;serve;accept_job;k:__x64_sys_read"
	for _, one := range []struct {
		name          string
		syscall       string
		asleep        bool
		first, second string
		want          bool
	}{
		{"a lock made of a pipe", "read", true, take, take, true},
		{"a lock made of an event", "epoll_wait", true, take, take, true},
		{"who wakes the other has worked meanwhile", "read", false, take, take, false},
		{"a server and its client", "read", true, take, serve, false},
		{"stacks of the kernel alone", "read", true, "k:__x64_sys_read;pipe_read", "k:__x64_sys_read;pipe_read", false},
		{"a futex, which lockObjects tells", "futex", true, take, take, false},
		{"a process that waits for another's end", "wait4", true, take, take, false},
	} {
		m := pair(one.syscall, one.asleep, one.first, one.second)
		for _, wait := range comparedPair(t, compare.MetricWall, m.rec, m.rec).Waits {
			if got := wait.Turn; got != (one.want && wait.WakerKind == recording.WakerThread) {
				t.Errorf("%s: %s waits for a turn: %v, want %v", one.name, wait.Syscall, got, one.want)
			}
		}
	}
}

// A backend of PostgreSQL waits for a row at its latch; what the holder of the lock does meanwhile
// is told with it.
func TestLocksOfDatabases(t *testing.T) {
	const row = "main;PostgresMain;heap_update;XactLockTableWait;LockAcquire;ProcSleep;WaitLatch;k:__x64_sys_epoll_wait"
	m := pair("epoll_wait", true, row, row)
	held := 0.0
	for _, path := range comparedPair(t, compare.MetricWall, m.rec, m.rec).Paths {
		if path.Lock && path.Turn {
			t.Errorf("a lock that is known counts as a turn as well: %v", path.Frames)
		}
		if has("nap")(&path) && len(path.For) > 0 {
			held += stat.Average(path.A)
		}
	}
	if held < 0.2 {
		t.Errorf("slept %v s with the lock that the other waited for, want 0.24 or more", held)
	}
	const sqlite, python = "/usr/lib/libsqlite3.so.0.8.6", "/usr/bin/python3.11"
	native := func(name, module string) recording.Frame {
		return recording.Frame{Name: name, Module: module, Kind: recording.KindNative}
	}
	for _, one := range []struct {
		name   string
		frames []recording.Frame
		want   bool
	}{
		{"InnoDB waits for a row", []recording.Frame{native("row_search_mvcc", "mariadbd"), native("lock_wait", "mariadbd"),
			native("pthread_cond_timedwait", "libc.so.6")}, true},
		{"a server that waits for work", []recording.Frame{native("handle_slave", "mariadbd"),
			native("block_wait", "mariadbd"), native("pthread_cond_timedwait", "libc.so.6")}, false},
		{"a busy database of SQLite", []recording.Frame{native("_sqlite3.so+0x1()", python), native("sqlite3_step", sqlite),
			native("libsqlite3.so.0.8.6+0x100()", sqlite), native("usleep", "libc.so.6"),
			native("clock_nanosleep", "libc.so.6")}, true},
		{"a sleep that SQLite was asked for", []recording.Frame{native("shell", python), native("sqlite3_sleep", sqlite),
			native("libsqlite3.so.0.8.6+0x100()", sqlite), native("usleep", "libc.so.6")}, false},
		{"a sleep in a function that SQLite calls", []recording.Frame{native("sqlite3_step", sqlite),
			native("time_sleep", python), native("clock_nanosleep", "libc.so.6")}, false},
	} {
		if got := looksAgainFor(t, one.frames); got != one.want {
			t.Errorf("%s: lock %v, want %v", one.name, got, one.want)
		}
	}
}

// looksAgainFor tells whether a sleep that a timer ended is for a lock that the thread looks at
// again then.
func looksAgainFor(t *testing.T, frames []recording.Frame) bool {
	t.Helper()
	rec := small(func(rec *recording.Recording) {
		rec.Frames, rec.Stacks = frames, []recording.Stack{{}}
		for i := range frames {
			rec.Stacks[0].Frames = append(rec.Stacks[0].Frames, int32(i))
		}
		rec.Waits = []recording.Wait{{Pid: 7, Tid: 7, TimeNs: 1e8, BlockedNs: 5e6, Syscall: "clock_nanosleep",
			WakerKind: recording.WakerTimer, WakerStack: recording.NoStack}}
	})
	result := comparedPair(t, compare.MetricWall, rec, rec)
	if len(result.Waits) != 1 {
		t.Fatalf("%d waits, want 1", len(result.Waits))
	}
	return result.Waits[0].Lock
}
