package compare

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"culprit/internal/code"
	"culprit/recording"
)

// blockedPiece is a part of the time that a thread was blocked in one wait.
func (r *run) blockedPiece(t *thread, wait *recording.Wait, lengthNs int64) piece {
	key := r.key(t, Blocked, r.stackOf(wait.Stack))
	key.syscall = wait.Syscall
	key.wakerKind = wait.WakerKind
	if wait.WakerKind == recording.WakerThread || wait.WakerKind == recording.WakerKernel {
		key.wakerComm = wait.WakerComm
	}
	key.wakerOwn = wait.WakerKind == recording.WakerThread && r.thread[wait.WakerTid] != nil
	key.wakerStack = r.stackOf(wait.WakerStack)
	key.lock = r.isLock(wait)
	key.turn = !key.lock && r.isTurn(wait)
	key.nap = r.isNap(wait)
	p := piece{key: key, seconds: float64(lengthNs) / 1e9, count: 1, object: objectName(wait),
		holder: recording.NoStack, around: r.around(t, wait)}
	if at, known := r.released[lockObject{wait.Pid, wait.Object}]; key.lock && known {
		p.holder = at
	}
	return p
}

func objectName(wait *recording.Wait) string {
	switch {
	case wait.Object == 0:
		return ""
	case wait.Syscall == "futex":
		return "0x" + strconv.FormatUint(wait.Object, 16)
	case slices.Contains(semaphoreCalls, wait.Syscall):
		return "semaphore set " + strconv.FormatUint(wait.Object, 10)
	default:
		return "descriptor " + strconv.FormatUint(wait.Object, 10)
	}
}

// runnablePiece is a part of the time that a thread waited for a CPU; its
// waker is then who ran meanwhile.
func (r *run) runnablePiece(t *thread, wait *recording.Wait, from, to int64) piece {
	key := r.key(t, Runnable, r.stackOf(wait.Stack))
	key.wakerComm, key.wakerOwn = r.whoRan(t, wait, from, to)
	// Handed the lock, but the CPU is still with the thread that released it: part of waiting for the lock.
	key.lock = key.wakerOwn && wait.BlockedNs > 0 && r.isLock(wait)
	return piece{key: key, seconds: float64(to-from) / 1e9, count: 1, holder: recording.NoStack}
}

// whoRan names who had the CPU that a thread waited for: as the scheduler says,
// else whoever took most samples meanwhile. Nobody is an answer: a quota, or the hypervisor.
func (r *run) whoRan(t *thread, wait *recording.Wait, from, to int64) (comm string, own bool) {
	if wait.RunnerPid != 0 || wait.RunnerComm != "" {
		if wait.RunnerPid == 0 || strings.HasPrefix(wait.RunnerComm, "swapper/") {
			return "", false
		}
		return r.runnerName(t, wait.RunnerPid, wait.RunnerComm)
	}
	type runner struct {
		comm string
		own  bool
	}
	ran := map[runner]int64{}
	// A long wait shows its runners in its first thousand slices as well.
	for at := from / r.sliceNs; at*r.sliceNs < to && at < from/r.sliceNs+1000; at++ {
		for _, i := range r.slices[at] {
			sample := &r.rec.Samples[i]
			if sample.Tid != t.tid || !sample.Target {
				comm, own := r.runnerName(t, sample.Pid, sample.Comm)
				ran[runner{comm, own}] += sample.ValueNs
			}
		}
	}
	var best runner
	var most int64
	for one, valueNs := range ran {
		if valueNs > most || valueNs == most && (one.comm < best.comm || one.comm == best.comm && one.own) {
			best, most = one, valueNs
		}
	}
	return best.comm, best.own
}

// shortKey is the key of waits that are too short to be kept whole.
func (r *run) shortKey(t *thread, sample *recording.Sample) pathKey {
	key := r.key(t, Blocked, r.stackOf(sample.Stack))
	key.syscall = syscallOf(r.pool.framesOf(key.stack))
	key.nap = r.napsIn(t.pid, key.stack, key.syscall)
	lock, known := r.lockByStack(key.stack, "")
	key.lock = lock && known && (key.syscall == "futex" || key.syscall == "")
	return key
}

// runnerName is the name of whoever ran: of the process where it is the waiting thread's own.
func (r *run) runnerName(t *thread, pid int32, comm string) (name string, own bool) {
	if other := r.thread[pid]; other != nil && r.process[pid] == nil {
		pid = other.pid
	}
	p := r.process[pid]
	if p != nil && pid == t.pid {
		return p.name, true
	}
	return comm, p != nil
}

func (r *run) unknownPiece(t *thread, lengthNs int64) piece {
	key := pathKey{kind: Running, stack: recording.NoStack, wakerStack: recording.NoStack,
		forStack: recording.NoStack}
	if t != nil {
		key = r.key(t, Running, recording.NoStack)
	}
	return piece{key: key, seconds: float64(lengthNs) / 1e9, holder: recording.NoStack}
}

// lockPieces account for a wait for a lock by what its holder did meanwhile:
// where the holder ran, the wait is for the lock; where the holder itself was
// blocked or had no CPU, that is the cost and the lock only passes it on.
func (r *run) lockPieces(t, holder *thread, wait *recording.Wait, from, to int64) []piece {
	var pieces []piece
	waiter := r.stackOf(wait.Stack)
	locked := to - from
	for i := sort.Search(len(holder.waits), func(i int) bool { return holder.waits[i].TimeNs >= to }) - 1; i >= 0; i-- {
		its := holder.waits[i]
		woken := its.TimeNs + its.BlockedNs
		end := woken + its.RunqueueNs
		if end <= from {
			break
		}
		if a, b := max(woken, from), min(end, to); b > a {
			p := r.runnablePiece(holder, its, a, b)
			p.key.forStack = waiter
			pieces = append(pieces, p)
			locked -= b - a
		}
		if a, b := max(its.TimeNs, from), min(woken, to); b > a && !r.isLock(its) && !r.isKernelLock(its) {
			p := r.blockedPiece(holder, its, b-a)
			p.key.forStack = waiter
			pieces = append(pieces, p)
			locked -= b - a
		}
	}
	if locked > 0 {
		p := r.blockedPiece(t, wait, locked)
		if seen := r.topStack(holder, from, to); seen != recording.NoStack {
			p.holder = seen // what it did with the lock says more than where it gave it up
		}
		pieces = append(pieces, p)
	}
	return pieces
}

// topStack is the stack that a thread was seen in most within a stretch.
func (r *run) topStack(t *thread, from, to int64) int32 {
	seen := map[int32]int64{}
	start := sort.Search(len(t.cpu), func(i int) bool { return t.cpu[i].TimeNs+r.sliceNs > from })
	for _, sample := range t.cpu[start:] {
		if sample.TimeNs >= to {
			break
		}
		seen[r.stackOf(sample.Stack)] += sample.ValueNs
	}
	best, most := recording.NoStack, int64(0)
	for stack, valueNs := range seen {
		if valueNs > most || valueNs == most && stack < best {
			best, most = stack, valueNs
		}
	}
	return best
}

// syscallOf names the system call that the kernel part of a stack serves, "" when it serves none.
func syscallOf(frames []recording.Frame) string {
	for i := range frames {
		if frames[i].Kind != recording.KindKernel {
			continue
		}
		if name := code.SyscallOf(frames[i].Name); name != "" {
			return name
		}
	}
	return ""
}
