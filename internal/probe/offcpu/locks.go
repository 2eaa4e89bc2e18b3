package offcpu

import (
	"cmp"
	"fmt"
	"slices"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// futexOf is a futex of one process.
type futexOf struct {
	pid     int32
	address uint64
}

// release is the end of a wait for a futex by a thread.
type release struct {
	futexOf
	by int32
}

// contended is a futex while its waiters are added up.
type contended struct {
	row      recording.Lock
	mostNs   int64
	votes    map[int32]int64 // who released it, by thread
	releaser map[int32]*offcpuFutex
}

// joinRelease remembers the user stack of who ended a long wait for a futex, where it was unwound.
func (c *collection) joinRelease(event *offcpuWaitEvent) {
	if !isFutex(event.Call) || event.WakerTid == 0 || event.BlockedNs == 0 {
		return
	}
	woken := int64(event.Start + event.BlockedNs)
	trace := c.traces.Unclaimed(int32(event.WakerTid), woken, woken+joinWithinNs)
	if trace == nil {
		return
	}
	user, kernel := c.window.Unwinder.Frames(trace.Stack)
	if !slices.ContainsFunc(kernel, isHook) {
		return // the clock's
	}
	trace.LeftCPU = true
	c.keepRelease(release{futexOf{int32(event.Tgid), event.Object}, int32(event.WakerTid)}, user)
}

// keepRelease keeps where a thread releases a futex. The first stacks of a new process are broken,
// until its mappings are known: they do not take the place of a whole one.
func (c *collection) keepRelease(by release, user []*recording.Frame) {
	if !isBroken(user) || c.releases[by] == nil {
		c.releases[by] = user
	}
}

// isFutex tells the calls futex and futex_wait, as in stays.h.
func isFutex(call int32) bool { return call == 202 || call == 455 }

// takeLocks adds up the waits for each futex into the table of locks.
func (s *Session) takeLocks(c *collection) error {
	locks := map[futexOf]*contended{}
	err := bpf.Drain(s.collection.Maps["futexes"], func(key offcpuFutexKey, futex *offcpuFutex) {
		of := futexOf{int32(key.Tgid), key.Address}
		if locks[of] == nil {
			locks[of] = &contended{votes: map[int32]int64{}, releaser: map[int32]*offcpuFutex{}, row: recording.Lock{
				Kind: recording.LockFutex, Address: key.Address, Pid: of.pid,
				WaiterStack: recording.NoStack, HolderStack: recording.NoStack}}
		}
		copied := *futex
		locks[of].add(c, int32(key.Tid), &copied)
	})
	if err != nil {
		return fmt.Errorf("read futexes: %w", err)
	}
	var rows []recording.Lock
	for of, lock := range locks {
		lock.hold(c, of)
		rows = append(rows, lock.row)
	}
	slices.SortFunc(rows, func(a, b recording.Lock) int {
		return cmp.Or(cmp.Compare(b.TotalNs, a.TotalNs), cmp.Compare(a.Pid, b.Pid), cmp.Compare(a.Address, b.Address))
	})
	c.window.Recording.Locks = append(c.window.Recording.Locks, rows...)
	return nil
}

// add enters what one thread waited.
func (l *contended) add(c *collection, tid int32, futex *offcpuFutex) {
	l.row.Waits += int64(futex.Count)
	l.row.TotalNs += int64(futex.Ns)
	l.row.MaxNs = max(l.row.MaxNs, int64(futex.MaxNs))
	l.row.Waiters++
	if int64(futex.Ns) > l.mostNs {
		l.mostNs = int64(futex.Ns)
		l.row.WaiterStack = c.window.Stack(c.userOf(tid, futex.Signature, nil), c.kernelFrames(futex.Stack))
	}
	waker := int32(futex.WakerTid)
	if kindOfWaking(futex.WakerTid, c.kernelFrames(futex.WakerStack)) != recording.WakerThread {
		return // a time-out
	}
	l.votes[waker] += int64(futex.Votes)
	l.releaser[waker] = futex
}

// hold names who released it most often, and where.
func (l *contended) hold(c *collection, of futexOf) {
	most := int64(-1)
	for tid, votes := range l.votes {
		if votes < most || votes == most && tid > l.row.HolderTid {
			continue
		}
		futex := l.releaser[tid]
		most = votes
		l.row.HolderTid, l.row.HolderPid = tid, int32(futex.WakerTgid)
		l.row.HolderComm = bpf.Text(futex.WakerComm[:])
		l.row.HolderStack = c.window.Stack(c.releases[release{of, tid}], c.kernelFrames(futex.WakerStack))
	}
}
