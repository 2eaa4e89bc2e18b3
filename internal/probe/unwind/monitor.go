package unwind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/perf"
	"github.com/cilium/ebpf/ringbuf"
	"go.opentelemetry.io/ebpf-profiler/kallsyms"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/process"
	"go.opentelemetry.io/ebpf-profiler/processmanager"
	"go.opentelemetry.io/ebpf-profiler/processmanager/execinfomanager"
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

// announceEvery is how often processes are looked for that nobody announced: each look walks a
// large map.
const announceEvery = time.Second

// monitor is what goes on while the unwinder is loaded.
type monitor struct {
	u       *Unwinder
	manager *processmanager.ProcessManager
	heaps   *codeHeaps
	graves  *graves
	files   *heldFiles // of lookAfter alone, but for its opener
	book    *book      // nil: processes are not booked in the kernel
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
	m := &monitor{u: u, files: newHeldFiles(), poll: poll, calm: max(beat.Length, poll), visit: firstVisit,
		hurry: make(chan struct{}, 1), asked: make(chan chan struct{}),
		early: make(chan acquaintance), unknown: make(chan libpf.PIDTID, mostYoung)}
	if options.WholeHost {
		m.calm = max(beat.Seldom, poll)
	}
	if patient {
		m.visit, m.poll = patientVisit, patientYouth
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
	if options.WholeHost {
		if err := m.hurriesLooks(); err != nil {
			return err
		}
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

// hurriesLooks has a look not wait for one process's files for long: others wait for theirs.
func (m *monitor) hurriesLooks() error {
	rules, err := fieldOf[*execinfomanager.ExecutableInfoManager](m.manager, "eim")
	if err != nil {
		return err
	}
	m.files.hurried, m.files.opener.patience = true, hostPatience
	m.files.opener.rules = func(target process.Process, path string, file *os.File) {
		m.u.bear(func() { readRules(rules, target, path, file) })
	}
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

// attendant looks at processes, one at a time.
type attendant struct {
	*monitor
	ruby  *rubies
	maps  *mapsReader
	young nursery
}

// look has the library look at a process.
func (a *attendant) look(id libpf.PIDTID) {
	a.u.looks.Add(1)
	a.files.begin()
	defer a.heaps.anew(id.PID())()
	a.u.bear(func() {
		library := func() { a.manager.SynchronizeProcess(mortal{process.New(id.PID(), id.TID()), a.files, a.maps}) }
		if a.book == nil {
			library()
		} else {
			a.book.look(id.PID(), a.files, library)
		}
	})
	a.ruby.complete(uint32(id.PID()))
	if a.files.left {
		a.files.opener.later(id)
	}
}

// meet looks at a process that may make code, which is looked at again then.
func (a *attendant) meet(id libpf.PIDTID) {
	a.look(id)
	if a.u.made.makesCode(id.PID()) {
		a.young.takes(id, time.Now(), a.visit)
	}
}

// mostMeeting is how long those who were announced at once hold up the next. Chosen: five slices.
const mostMeeting = 5 * lookSlice

// meetAnnounced meets who was announced. Where that takes long and others are announced meanwhile,
// the rest comes after these: when a recording begins there are a hundred processes of which
// nothing is known.
func (a *attendant) meetAnnounced() {
	asked, began := times.GetKTime(), time.Now()
	for _, id := range a.announced() {
		if a.book.has(id.PID(), asked) {
			continue
		}
		if a.files.hurried && len(a.news) > 0 && time.Since(began) > mostMeeting {
			a.files.opener.later(id)
			continue
		}
		a.something()
		a.meet(id)
	}
}

// introduce meets processes before a window.
func (a *attendant) introduce(them acquaintance) {
	for _, id := range them.ids {
		if a.meet(id); a.young[id.PID()] != nil {
			a.look(id) // its code is found once the run time is known
		}
	}
	close(them.done)
}

// lookAfter hands processes to the library.
func (m *monitor) lookAfter(ctx context.Context) {
	a := &attendant{monitor: m, ruby: findRubies(), maps: &mapsReader{}, young: nursery{}}
	cleaned, quiet := time.Now(), beat.After(announceEvery)
	for {
		again := m.files.opener.again
		if len(m.news) > 0 { // who begins may be gone soon
			again = nil
		}
		select {
		case <-ctx.Done():
			return
		case <-a.young.wake(time.Now()):
			for _, id := range a.young.due(time.Now()) {
				a.look(id)
			}
			continue
		case them := <-m.early:
			a.introduce(them)
			continue
		case id := <-m.unknown:
			if m.u.made.makesCode(id.PID()) {
				a.young.takes(id, time.Now(), m.visit)
			}
			continue
		case id := <-again:
			a.meet(id)
			continue
		case <-m.news:
		case <-quiet:
			quiet = beat.After(announceEvery)
		}
		a.meetAnnounced()
		m.graves.bury(time.Now(), alive)
		if time.Since(cleaned) >= cleanupEvery {
			m.cleanup()
			cleaned = time.Now()
		}
	}
}

// cleanup has the library forget processes that are gone.
func (m *monitor) cleanup() {
	if m.book == nil {
		m.manager.CleanupPIDs()
	} else {
		m.book.cleanup()
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
