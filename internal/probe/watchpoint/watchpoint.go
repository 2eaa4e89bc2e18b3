// Package watchpoint asks a processor's debug registers which threads touch which words: proof of
// what samples of the clock make likely.
//
// A hit costs the thread 20 to 40 µs, so each watch is bounded: after a few hits the kernel itself
// takes the registers back (PERF_EVENT_IOC_REFRESH), after a few milliseconds they are disarmed
// whatever happened, and all watches of a thread together may cost what its Watcher was told, by what
// a hit costs on this host. The kernel keeps them with the descriptors: when this process dies, by
// whatever, they are gone.
//
//	watcher := watchpoint.New(time.Millisecond)
//	seen, err := watcher.Watch(pid, []watchpoint.Thread{{Tid: 71, Words: words}})
//
// It refuses a process that a debugger traces, makes do with the registers that others leave, and
// gives up where they leave none. No hit proves nothing: a thread that slept meanwhile touched nothing.
package watchpoint

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// Slots are the debug registers of x86.
	Slots = 4
	// MaxThreads bounds the threads of one watch: each holds descriptors and mapped pages.
	MaxThreads = 8

	hitsOfPass  = 4 // of one thread in one of the two passes
	armedAtMost = 5 * time.Millisecond
	armedStep   = time.Millisecond // after which it is over when all have had their hits
	widest      = 8                // bytes that one register watches
)

// ErrSpent says that no thread can bear another watch.
var ErrSpent = errors.New("the threads have been watched for as long as they may")

// ErrHeld says that a debugger, or another program, has the debug registers.
var ErrHeld = errors.New("the debug registers are held by another program")

// Word is what to watch.
type Word struct {
	Address uint64
	Size    int
}

// Thread is a thread and the words to watch in it, Slots of them at most.
type Thread struct {
	Tid   int32
	Words []Word
}

// bounded is a thread as it is watched.
type bounded struct {
	Thread
	hits int // of each word in a pass
}

// Seen is what a thread did with one word while it was watched.
type Seen struct {
	Tid     int32
	Word    Word
	Writes  int64
	Touches int64 // reads, and writes
	Watched time.Duration
	// ForWrites is the part of Watched in which writes alone were looked for: a thread that did not
	// run then has no Writes, and may write.
	ForWrites time.Duration
	// Tasks counts the hits by what was in the register where Go keeps its task.
	Tasks map[uint64]int64
}

// Watch watches first who writes, then who touches (x86 has no register for reads alone). Threads that
// can bear no more are left out, and so is what a thread that ended meanwhile did. An error that wraps
// ErrHeld or ErrSpent: nothing was watched.
func (w *Watcher) Watch(pid int, threads []Thread) ([]Seen, error) {
	if len(threads) > MaxThreads {
		return nil, fmt.Errorf("watch %d threads: at most %d at once", len(threads), MaxThreads)
	}
	if err := Free(pid); err != nil {
		return nil, err
	}
	bearable := w.bearable(threads)
	if len(bearable) == 0 {
		return nil, ErrSpent
	}
	var seen []Seen
	for _, thread := range bearable {
		for _, word := range thread.Words[:min(len(thread.Words), Slots)] {
			seen = append(seen, Seen{Tid: thread.Tid, Word: word, Tasks: map[uint64]int64{}})
		}
	}
	for _, kind := range []uint32{unixBreakpointWrite, unixBreakpointTouch} {
		if err := pass(seen, kind, bearable); err != nil {
			return nil, err
		}
	}
	w.charge(seen)
	return seen, nil
}

// Free refuses a process that is traced: its debugger may be about to set registers of its own.
func Free(pid int) error {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return fmt.Errorf("watch process %d: %w", pid, err)
	}
	for line := range strings.Lines(string(status)) {
		if tracer, ok := strings.CutPrefix(line, "TracerPid:"); ok && strings.TrimSpace(tracer) != "0" {
			return fmt.Errorf("watch process %d: process %s traces it: %w", pid, strings.TrimSpace(tracer), ErrHeld)
		}
	}
	return nil
}

// pass arms all registers for one kind of access, once.
func pass(seen []Seen, kind uint32, threads []bounded) error {
	hits := map[int32]int{} // of each word of a thread
	for _, thread := range threads {
		hits[thread.Tid] = thread.hits
	}
	armed := make([]*register, len(seen))
	defer func() {
		for _, one := range armed {
			one.close()
		}
	}()
	var held error
	for i := range seen {
		one, err := open(&seen[i], kind)
		switch {
		case errors.Is(err, unix.ESRCH): // it has ended
		case errors.Is(err, ErrHeld): // some are: the first words of a thread are those to know of
			held = err
		case err != nil:
			return err
		}
		armed[i] = one
	}
	if held != nil && !slices.ContainsFunc(armed, func(one *register) bool { return one != nil }) {
		return held
	}
	start := time.Now()
	for i, one := range armed {
		one.arm(hits[seen[i].Tid])
	}
	for time.Since(start) < armedAtMost && !allSpent(armed, seen, hits) {
		time.Sleep(armedStep)
	}
	for _, one := range armed {
		one.disarm()
	}
	for i, one := range armed {
		one.take(&seen[i], kind == unixBreakpointWrite)
	}
	return nil
}

// allSpent reports whether every register has had its hits.
func allSpent(armed []*register, seen []Seen, hits map[int32]int) bool {
	for i, one := range armed {
		if !one.spent(hits[seen[i].Tid]) {
			return false
		}
	}
	return true
}
