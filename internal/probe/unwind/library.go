package unwind

import (
	"time"

	"go.opentelemetry.io/ebpf-profiler/times"
)

// monitorEvery is how often the library looks for processes that nobody
// announced, and at its own counters: each look walks a large map.
const monitorEvery = time.Second

// intervals are the library's, but for how often traces are fetched, which it fixes.
type intervals struct {
	*times.Times
	poll time.Duration
}

// TracePollInterval is how often traces are fetched from the kernel.
func (i intervals) TracePollInterval() time.Duration { return i.poll }

// maxSettle bounds the wait for the last stacks of a window.
const maxSettle = 3 * time.Second

// Settle waits until the stacks taken so far have been fetched and named: the
// library polls, and naming many new interpreted frames takes a while.
func (u *Unwinder) Settle(poll time.Duration) {
	until := time.Now().Add(maxSettle)
	for before := -1; time.Now().Before(until); {
		time.Sleep(poll + poll/2)
		u.mu.Lock()
		now, busy := len(u.traces), u.busy
		u.mu.Unlock()
		if now == before && !busy {
			return
		}
		before = now
	}
}
