package unwind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/perf"
	"github.com/cilium/ebpf/ringbuf"
	"go.opentelemetry.io/ebpf-profiler/kallsyms"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/process"
	"go.opentelemetry.io/ebpf-profiler/processmanager"
	"go.opentelemetry.io/ebpf-profiler/support"
	"go.opentelemetry.io/ebpf-profiler/times"
	"go.opentelemetry.io/ebpf-profiler/tracer"

	"culprit/internal/probe/beat"
)

// The library fetches stacks, and hears of processes, in eight goroutines, each with a ticker or a
// deadline of its own, and reads a hundred of its own counters a second: 40 wakings a second of a
// process with nothing to do. So both are done here, out of the same two maps: stacks are fetched
// on the beat, and a process that is announced is looked at at once. As in the library, what was
// announced without a word (its limit of rates) is found once a second.

// youth is how long after something new, a process or a stack, stacks are fetched as often as
// Options.Poll says: interpreted frames are named by reading the live process, and a short one is
// not to be gone by then.
const youth = time.Second

// A recorder that stays fetches stacks this often, whatever its Poll says: each time wakes the
// process, and Go's monitor. A process that ends within patientYouth may take the names of
// interpreted frames along that are seen then for the first time. The rings hold 2,500 stacks of
// each CPU.
const (
	patientYouth = 200 * time.Millisecond
	patientPoll  = 500 * time.Millisecond
)

// announceEvery is how often processes are looked for that nobody announced: each look walks a
// large map.
const announceEvery = time.Second

// monitor is what goes on while the unwinder is loaded.
type monitor struct {
	u       *Unwinder
	manager *processmanager.ProcessManager
	heaps   *codeHeaps
	graves  *graves
	book    *book // nil: processes are not booked in the kernel
	stacks  *ringbuf.Reader
	events  *perf.Reader
	poll    time.Duration
	calm    time.Duration      // poll where nothing is new
	visit   time.Duration      // after which a process with made code is looked at again
	news    chan struct{}      // a process was announced; nil: they are found once a second
	hurry   chan struct{}      // so that stacks are fetched soon
	asked   chan chan struct{} // by Settle
	early   chan acquaintance  // by Know
	unknown chan libpf.PIDTID  // a stack of it ended at unknown code
	newest  atomic.Int64       // when something was new, as Unix time in ns
	oldest  times.KTime        // of the stacks fetched last
}

// watch begins to fetch stacks and to hear of processes, until ctx ends.
func (u *Unwinder) watch(ctx context.Context, options *Options) error {
	poll, patient := options.Poll, options.Patient
	kernel, err := fieldOf[*kallsyms.Symbolizer](u.tracer, "kernelSymbolizer")
	if err != nil {
		return err
	}
	cpus, err := onlineCPUs()
	if err != nil {
		return err
	}
	_ = kernel.StartMonitor(ctx, cpus) // without it, code that the kernel gets from now on has no names
	m := &monitor{u: u, poll: poll, calm: max(beat.Length, poll), visit: firstVisit,
		hurry: make(chan struct{}, 1), asked: make(chan chan struct{}),
		early: make(chan acquaintance), unknown: make(chan libpf.PIDTID, mostYoung)}
	if patient {
		m.visit, m.poll, m.calm = patientVisit, patientYouth, patientPoll
	} else {
		m.news = make(chan struct{}, 1)
	}
	if m.manager, err = managerOf(u.tracer); err != nil {
		return err
	}
	if m.heaps, err = findCodeHeaps(m.manager, u.loader.maps["pid_page_to_mapping_info"]); err != nil {
		return err
	}
	if m.graves, err = newGraves(m.manager, m.heaps); err != nil {
		return err
	}
	if options.WholeHost && !patient { // a command starts few processes, and its recording is to begin soon
		m.book, _ = newBook(m.manager, u.loader.maps) // without it all are announced
	}
	if m.events, err = perf.NewReader(u.loader.maps["report_events"], os.Getpagesize()); err != nil {
		return fmt.Errorf("hear of processes: %w", err)
	}
	if m.stacks, err = ringbuf.NewReader(u.loader.maps["trace_events"]); err != nil {
		_ = m.events.Close() // nothing is attached to it yet
		return fmt.Errorf("read the ring of stacks: %w", err)
	}
	m.stacks.SetDeadline(time.Unix(1, 0)) // it never waits
	u.monitor = m
	context.AfterFunc(ctx, func() { _ = m.events.Close() }) // ends hear
	go m.hear()
	go m.lookAfter(ctx)
	go m.fetch(ctx)
	return nil
}

// onlineCPUs are those that events are opened on.
func onlineCPUs() ([]int, error) {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, fmt.Errorf("list CPUs: %w", err)
	}
	return tracer.ReadCPURange(string(text))
}

// hear waits for announcements, one for any number of processes.
func (m *monitor) hear() {
	var record perf.Record
	for {
		if err := m.events.ReadInto(&record); errors.Is(err, os.ErrClosed) {
			return
		} else if err != nil && !perf.IsUnknownEvent(err) {
			time.Sleep(beat.Length) // they are found once a second all the same
			continue
		}
		signal(m.news)
	}
}

func signal(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default: // it has been told already
	}
}

// lookAfter hands processes to the library.
func (m *monitor) lookAfter(ctx context.Context) {
	ruby, files, maps := findRubies(), newHeldFiles(), &mapsReader{}
	cleaned, young := time.Now(), nursery{}
	quiet := beat.After(announceEvery)
	look := func(id libpf.PIDTID) {
		m.u.looks.Add(1)
		defer m.heaps.anew(id.PID())()
		m.u.bear(func() {
			library := func() { m.manager.SynchronizeProcess(mortal{process.New(id.PID(), id.TID()), files, maps}) }
			if m.book == nil {
				library()
			} else {
				m.book.look(id.PID(), files, library)
			}
		})
		ruby.complete(uint32(id.PID()))
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-young.wake(time.Now()):
			for _, id := range young.due(time.Now()) {
				look(id)
			}
			continue
		case them := <-m.early:
			for _, id := range them.ids {
				look(id)
				if m.u.made.makesCode(id.PID()) {
					look(id) // its code is found once the run time is known
					young.takes(id, time.Now(), m.visit)
				}
			}
			close(them.done)
			continue
		case id := <-m.unknown:
			if m.u.made.makesCode(id.PID()) {
				young.takes(id, time.Now(), m.visit)
			}
			continue
		case <-m.news:
		case <-quiet:
			quiet = beat.After(announceEvery)
		}
		for _, id := range m.announced() {
			m.something()
			look(id)
			if m.u.made.makesCode(id.PID()) {
				young.takes(id, time.Now(), m.visit)
			}
		}
		m.graves.bury(time.Now(), alive)
		if time.Since(cleaned) >= cleanupEvery {
			if m.book == nil {
				m.manager.CleanupPIDs()
			} else {
				m.book.cleanup()
			}
			cleaned = time.Now()
		}
	}
}

// announced empties the queue of processes. Announcing is allowed again first, so that none is left
// in it.
func (m *monitor) announced() (found []libpf.PIDTID) {
	_ = m.u.loader.maps["inhibit_events"].Delete(uint32(support.EventTypeGenericPID)) // there is none, or one
	keys, values := make([]uint64, 128), make([]bool, 128)
	var cursor ebpf.MapBatchCursor
	for {
		n, err := m.u.loader.maps["pid_events"].BatchLookupAndDelete(&cursor, keys, values, nil)
		for _, key := range keys[:n] {
			found = append(found, libpf.PIDTID(key))
		}
		if err != nil { // that was the last batch; what else there is stays for the next time
			return found
		}
	}
}

// endedAt is told of a stack that ended at unknown code.
func (m *monitor) endedAt(id libpf.PIDTID) {
	select {
	case m.unknown <- id:
	default: // others are waiting already; its next stack will tell it again
	}
}

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
	for {
		pause := m.calm
		if time.Since(time.Unix(0, m.newest.Load())) < youth {
			pause = m.poll
		}
		select {
		case <-ctx.Done():
			return
		case <-m.hurry: // the pause is another one
		case <-beat.After(pause):
			m.take(&record)
		case done := <-m.asked:
			m.take(&record)
			close(done)
		}
	}
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
