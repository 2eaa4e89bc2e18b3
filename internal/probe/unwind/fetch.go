package unwind

import (
	"context"
	"time"
	"unsafe"

	"github.com/cilium/ebpf/ringbuf"
	"go.opentelemetry.io/ebpf-profiler/support"
	"go.opentelemetry.io/ebpf-profiler/times"

	"culprit/internal/probe/beat"
)

// youth is how long after something new, a process or a stack, stacks are fetched as often as
// Options.Poll says: interpreted frames are named by reading the live process, and a short one is
// not to be gone by then.
const youth = time.Second

// A recorder that stays fetches them this often where something is new, whatever its Poll says. A
// process that ends within patientYouth may take the names of interpreted frames along that are
// seen then for the first time.
const patientYouth = 200 * time.Millisecond

// something new has come by.
func (m *monitor) something() {
	if before := m.newest.Swap(time.Now().UnixNano()); time.Since(time.Unix(0, before)) > youth {
		signal(m.hurry)
	}
}

// fetch takes the stacks out of the ring from time to time.
func (m *monitor) fetch(ctx context.Context) {
	defer close(m.u.done)
	defer func() { _ = m.stacks.Close() }() // the library closes the map
	// As large as a record can be, so that none is seen through a pointer to more than there is.
	record := ringbuf.Record{RawSample: make([]byte, 0, unsafe.Sizeof(support.Trace{}))}
	for used := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-m.hurry: // the pause is another one
		case <-beat.After(m.pauseAfter(used, time.Now())):
			used = m.stacks.AvailableBytes()
			m.take(&record)
		case done := <-m.asked:
			m.take(&record)
			close(done)
		}
	}
}

// pauseAfter is how long to wait for the next fetching when so much of the ring was used at the
// last one.
func (m *monitor) pauseAfter(used int, now time.Time) time.Duration {
	switch {
	case now.Sub(time.Unix(0, m.newest.Load())) < youth:
		return m.poll
	case beat.Fills(used, m.stacks.BufferSize()):
		return min(m.calm, max(beat.Length, m.poll))
	}
	return m.calm
}

// take empties the ring and lets the library forget processes that ended before the stacks that are
// through.
func (m *monitor) take(record *ringbuf.Record) {
	var oldest times.KTime
	for m.stacks.AvailableBytes() > 0 && m.stacks.ReadInto(record) == nil {
		if taken := m.u.handle(record.RawSample, m.something); taken > 0 && (oldest == 0 || taken < oldest) {
			oldest = taken
		}
	}
	// Rings of several CPUs are not in order: a time is through when all that came with it is
	// (tracer/events.go).
	switch {
	case m.oldest > 0 && oldest > 0 && oldest <= m.oldest:
		m.manager.ProcessedUntil(oldest)
		oldest = 0
	case m.oldest > 0:
		m.manager.ProcessedUntil(m.oldest)
	}
	m.oldest = oldest
}
