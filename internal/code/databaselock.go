package code

import (
	"path"
	"slices"
	"strings"

	"culprit/recording"
)

// databaseLocks begin the names of functions in which the server of a database waits for a lock of
// its own making: on a row, a table, a page. They wait in whatever call wakes a sleeper of another
// process: PostgreSQL's backends at a latch, which is epoll_wait or poll. Taking a free lock goes
// through them as well, so they tell of waiting only.
var databaseLocks = words(
	// PostgreSQL 9.6 to 18
	`ProcSleep LWLockAcquire LWLockWaitForVar LockBufferForCleanup perform_spin_delay`,
	// MySQL 5.7 to 9, MariaDB 10.5 to 11
	`lock_wait sync_array_wait_event MDL_wait::timed_wait MDL_context::acquire_lock thr_lock
	ssux_lock_impl< srw_lock_ srw_mutex_impl<`,
	// SQLite 3, Berkeley DB 5
	`sqliteDefaultBusyCallback __lock_get __db_tas_mutex_lock __db_pthread_mutex_lock`,
)

// IsDatabaseLock reports whether a function is one of those that wait for a lock of a database.
func IsDatabaseLock(name string) bool { return beginsWithAny(name, databaseLocks) }

// AtDatabaseLock reports whether a stack waits for a lock of a database.
func AtDatabaseLock(frames []recording.Frame) bool {
	return waitsInSQLite(frames) || slices.ContainsFunc(frames, func(frame recording.Frame) bool {
		return frame.Kind == recording.KindNative && IsDatabaseLock(frame.Name)
	})
}

// DatabaseLock is the function that asked for the lock of a database that a stack waits for: of the
// functions that take locks the outermost around the wait; -1 when it waits for none. SQLite as a
// library names none.
func DatabaseLock(frames []recording.Frame) int {
	at := slices.IndexFunc(frames, func(frame recording.Frame) bool {
		return frame.Kind == recording.KindNative && IsDatabaseLock(frame.Name)
	})
	for i := at - 1; i >= 0; i-- {
		switch name := frames[i].Name; {
		case strings.Contains(name, "Lock") || strings.Contains(name, "lock"):
			at = i
		case !strings.Contains(name, "+0x"): // a name that the program has
			return at
		}
	}
	return at
}

// waitsInSQLite reports whether a stack sleeps in SQLite's library, which as a shared one names
// none of its own functions: nothing in it sleeps but the handler of a busy database, and what a
// program asks for by sqlite3_sleep.
func waitsInSQLite(frames []recording.Frame) bool {
	asleep := false
	for i := len(frames) - 1; i > 0; i-- {
		frame := &frames[i]
		if frame.Kind == recording.KindKernel {
			continue
		}
		if strings.HasPrefix(path.Base(frame.Module), "libsqlite3.") {
			return asleep && !slices.ContainsFunc(frames, func(frame recording.Frame) bool {
				return frame.Name == "sqlite3_sleep"
			})
		}
		if !strings.HasSuffix(frame.Name, "sleep") {
			return false
		}
		asleep = true
	}
	return false
}
