// Package watchpoint asks a processor's debug registers which threads touch which words: proof of
// what samples of the clock make likely.
//
// A hit costs the thread some 30 µs, so each watch is bounded: after the first hit the kernel
// itself takes the register back (PERF_EVENT_IOC_REFRESH), after a few milliseconds all are
// disarmed whatever happened, and all watches of a thread together may cost what its Watcher was
// told, by what a hit costs on this host. The kernel keeps them with the descriptors: when this
// process dies, by whatever, they are gone.
//
//	watcher := watchpoint.New(time.Millisecond)
//	seen, err := watcher.Watch(pid, []watchpoint.Thread{{Tid: 71, Words: words}})
//
// It refuses a process that a debugger traces, makes do with the registers that others leave, and
// gives up where they leave none. No hit proves nothing: a thread that slept meanwhile touched
// nothing.
package watchpoint

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	// Slots are the debug registers of x86.
	Slots = 4
	// MaxThreads bounds the threads of one watch: each holds descriptors and mapped pages.
	MaxThreads = 8

	// hits of one thread at one word: who was seen once is known to touch it. What follows at once
	// tells the same.
	hits   = 1
	widest = 8 // bytes that one register watches
)

// armedAtMost is how long a pass lasts.
const armedAtMost = 5 * time.Millisecond

// passes are who writes, then who touches what it was not seen to write. Nobody looks before a pass
// is over: a look takes a CPU from a thread that runs there, and the registers with it, and a
// register that had its hits is off.
var passes = [...]uint32{unixBreakpointWrite, unixBreakpointTouch}

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
	armed int // passes in which it had a register
}

// Watch watches first who writes, then who touches (x86 has no register for reads alone). Threads
// that can bear no more are left out, and so is what a thread that ended meanwhile did. An error
// that wraps ErrHeld or ErrSpent: nothing was watched.
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
	defer func() { w.charge(seen) }()
	for _, kind := range passes {
		if err := pass(seen, kind); err != nil {
			return nil, err
		}
	}
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

// pass watches for one kind of access, once. A word that was seen to be written is not looked at
// again.
func pass(seen []Seen, kind uint32) error {
	watches := newWatches(len(seen))
	defer watches.close()
	for i := range seen {
		if seen[i].Writes > 0 {
			continue
		}
		if err := watches.open(i, seen[i].Tid, watching(seen[i].Word, kind), hits); err != nil {
			return err
		}
		if watches.registers[i] != nil {
			seen[i].armed++
		}
	}
	if watches.none() {
		if slices.ContainsFunc(seen, func(one Seen) bool { return one.armed > 0 }) { // in the pass before
			return nil
		}
		return watches.held
	}
	watches.during(armedAtMost)
	for i, one := range watches.registers {
		if one != nil {
			one.take(&seen[i], kind == unixBreakpointWrite)
		}
	}
	return nil
}
