package unwind

import (
	"time"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/support"
)

// A run time that makes code maps its library first and makes room for its code later. When the
// library of this package looks at a JVM because libjvm.so was mapped there is no code heap yet,
// and it waits for a sample that falls into unknown code: of these it takes one after 100 ms, the
// next after 200, 400 … (pid_event_ratelimit), and none from a thread that is in made code when the
// process was last looked at before libjvm.so (refine_missing_mapping_error). Of a JVM that lives
// for half a second every other stack ended at its first Java frame, and of one whose main thread
// never left its loop all did. So a process that is marked as one with made code is looked at
// again, soon at first; and once more as soon as a stack of it ends at unknown code, however old it
// is: a busy host may take seconds to start it.

const (
	firstVisit = 10 * time.Millisecond
	// patientVisit is the only one where nothing is in a hurry: a JVM has thousands of stubs, which
	// each visit reads.
	patientVisit = time.Second
	lastVisit    = time.Second // the pause from which on it is left to the library
	mostYoung    = 64          // at a time: each visit lists a process's mappings
)

// nursery holds the processes that are to be looked at again.
type nursery map[libpf.PID]*visit

type visit struct {
	id    libpf.PIDTID
	pause time.Duration
	next  time.Time
}

// takes is told of a process that was looked at, for the first time or because something new was
// seen of it; first is how long after it the next visit is.
func (n nursery) takes(id libpf.PIDTID, now time.Time, first time.Duration) {
	if n[id.PID()] == nil && len(n) < mostYoung {
		n[id.PID()] = &visit{id: id, pause: first, next: now.Add(first)}
	}
}

// due are those whose time has come; each pause is twice the one before.
func (n nursery) due(now time.Time) (ids []libpf.PIDTID) {
	for pid, one := range n {
		if now.Before(one.next) {
			continue
		}
		ids = append(ids, one.id)
		if one.pause *= 2; one.pause > lastVisit {
			delete(n, pid)
			continue
		}
		one.next = now.Add(one.pause)
	}
	return ids
}

// wake comes when the next is due; never when there is none.
func (n nursery) wake(now time.Time) <-chan time.Time {
	var first *visit
	for _, one := range n {
		if first == nil || one.next.Before(first.next) {
			first = one
		}
	}
	if first == nil {
		return nil
	}
	return time.After(first.next.Sub(now))
}

// makesCode tells whether the library has marked a process as one whose run time makes code that it
// walks itself.
func (m *madeCode) makesCode(pid libpf.PID) bool {
	key := pidPage(pid, 0, 64)
	var mark support.PIDPageMappingInfo
	err := m.maps["pid_page_to_mapping_info"].Lookup(&key, &mark)
	return err == nil && mark.File_id&support.PIDPageMappingInfoFlagUsesAnonymousMappings != 0
}
