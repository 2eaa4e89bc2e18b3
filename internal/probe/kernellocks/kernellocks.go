// Package kernellocks times how long the target's threads wait for locks inside
// the kernel: per lock and place, how often, how long, and who held it at the
// longest wait where the lock knows its holder (mutexes, and rwsems held for
// writing). The hooks are in the slow paths: a lock that is free costs nothing.
//
// Where the holder slept when the wait began, its kernel stack says what for. A holder
// that ran shows none, nor does any before Linux 6.2.
//
// Waits below 2 µs are counted without their place. Locks in the sense of this
// probe are mutexes, rwsems, spinlocks and their kin; a wait for a page, a
// buffer or a journal's transaction is none, and is seen as time off the CPU.
package kernellocks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

//go:generate ../bpf/generate.sh kernellocks -type total_key -type total

// Session is the loaded probe.
type Session struct {
	misses     bpf.Misses
	collection *ebpf.Collection
	links      []link.Link
	failed     error // the window could not be ended
}

// Start loads the probe.
func Start(shared *bpf.Shared) (*Session, error) {
	spec, err := loadKernellocks()
	if err != nil {
		return nil, fmt.Errorf("read program of kernellocks: %w", err)
	}
	collection, err := shared.Load(spec, nil)
	if err != nil {
		return nil, fmt.Errorf("load kernellocks: %w", err)
	}
	return &Session{collection: collection}, nil
}

// Name of the probe.
func (s *Session) Name() string { return "kernellocks" }

// Attach attaches the programs, which see nothing yet.
func (s *Session) Attach() error {
	links, err := bpf.AttachTracing(s.collection, "wait_ends", "wait_begins")
	s.links = links
	return err
}

// Begins lets it time.
func (s *Session) Begins() error { return bpf.Begins(s.collection) }

// Ends lets it time no more; a wait that is not over is seen as time off the CPU.
func (s *Session) Ends() { s.failed = bpf.Ends(s.collection) }

// Detach ends the timing.
func (s *Session) Detach() {
	bpf.CloseLinks(s.links)
	s.links = nil
}

// place is a lock and where it is waited for: one row.
type place struct {
	lock  uint64
	kind  uint32
	stack int32
}

// row is a row in the making.
type row struct {
	recording.Lock
	threads map[uint32]bool
	holder  []uint64 // its stack at the longest wait, leaf first
}

// Collect moves the totals into the window's table of locks, one row per lock and place.
func (s *Session) Collect(window *bpf.Window) error {
	if s.failed != nil {
		return s.failed
	}
	rows := map[place]*row{}
	err := bpf.Drain(s.collection.Maps["totals"], func(key kernellocksTotalKey, total *kernellocksTotal) {
		at := place{key.Lock, key.Kind, key.Stack}
		if rows[at] == nil {
			rows[at] = &row{Lock: recording.Lock{Kind: kinds[key.Kind], Address: key.Lock,
				HolderStack: recording.NoStack}, threads: map[uint32]bool{}}
		}
		rows[at].add(key.Tid, total)
	})
	if err != nil {
		return fmt.Errorf("read totals: %w", err)
	}
	stacks, err := bpf.TakeKernelStacks(s.collection)
	if err != nil {
		return err
	}
	var locks []recording.Lock
	for at, row := range rows {
		row.WaiterStack = stackOf(window, withoutHook(window.KernelFrames(stacks[at.stack])))
		row.Waiters = int32(len(row.threads))
		row.HolderStack = holderStack(window, row.holder)
		locks = append(locks, row.Lock)
	}
	slices.SortFunc(locks, func(a, b recording.Lock) int {
		return cmp.Or(cmp.Compare(b.TotalNs, a.TotalNs), cmp.Compare(a.Address, b.Address),
			cmp.Compare(a.WaiterStack, b.WaiterStack))
	})
	window.Recording.Locks = append(window.Recording.Locks, locks...)
	s.misses.Take(window, "kernellocks", s.collection)
	return window.TakeLosses(s.collection.Maps["losses"], "kernellocks: waits that could not be followed",
		"kernellocks: totals that did not fit", "kernellocks: stacks that did not fit")
}

// add adds what one thread waited.
func (r *row) add(tid uint32, part *kernellocksTotal) {
	r.threads[tid] = true
	r.Waits += int64(part.Count)
	r.TotalNs += int64(part.TotalNs)
	if int64(part.MaxNs) > r.MaxNs {
		r.MaxNs = int64(part.MaxNs)
		r.HolderPid, r.HolderTid = int32(part.Holder.Tgid), int32(part.Holder.Tid)
		r.HolderComm = bpf.Text(part.Holder.Comm[:])
		r.holder = slices.Clone(bpf.UntilZero(part.Holder.Stack[:]))
	}
}

// holderStack names what a holder slept in, without the switch itself.
func holderStack(window *bpf.Window, addresses []uint64) int32 {
	frames := window.KernelFrames(addresses)
	for len(frames) > 0 && frames[len(frames)-1].Name == "__schedule" {
		frames = frames[:len(frames)-1]
	}
	return stackOf(window, frames)
}

// stackOf is the stack of a kernel's frames. There are none of a wait whose place was not looked
// for, did not fit, or came while the window before was collected.
func stackOf(window *bpf.Window, frames []*recording.Frame) int32 {
	if len(frames) == 0 {
		return recording.NoStack
	}
	return window.Stack(nil, frames)
}

// kinds are the names of the kinds of kernellocks.bpf.c.
var kinds = map[uint32]string{1: recording.LockMutex, 2: recording.LockRWSem, 3: recording.LockRWSem,
	4: recording.LockSpin, 5: recording.LockOther}

// withoutHook leaves out the call that brought the probe there, once somebody else is on the same
// tracepoint.
func withoutHook(frames []*recording.Frame) []*recording.Frame {
	if last := len(frames) - 1; last >= 0 && strings.HasPrefix(frames[last].Name, "__traceiter_contention_") {
		return frames[:last]
	}
	return frames
}

// Close unloads the probe.
func (s *Session) Close() error {
	s.Detach()
	s.collection.Close()
	return nil
}
