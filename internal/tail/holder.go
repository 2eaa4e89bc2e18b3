package tail

import (
	"sort"

	"culprit/internal/cause"
	"culprit/internal/code"
	"culprit/internal/compare/perrun"
	"culprit/recording"
)

// holder is who ended a wait for a lock, and what it was at meanwhile.
type holder struct {
	comm  string
	place string          // where it slept or ran for most of that time; "" when that is not known
	stops bool            // it stopped the world, or waited for who did
	stack int32           // of that place; recording.NoStack where it is not known
	wait  *recording.Wait // there; nil where it ran
}

// chainMost bounds the holders that are followed: who held the lock may itself have waited for
// another.
const chainMost = 4

// jvmStopper is the thread of a JVM that stops all others.
const jvmStopper = "VM Thread"

// holding follows who kept a thread from a lock.
func (r *reader) holding(part *recording.RequestPart) holder {
	if part.WakerTid == 0 || !r.own[part.WakerPid] || !r.waitsForLock(part) {
		return holder{stack: recording.NoStack}
	}
	if known, ok := r.holders[part]; ok {
		return known
	}
	from, to := part.TimeNs, part.TimeNs+part.LengthNs
	found := holder{comm: part.WakerComm, stack: part.WakerStack}
	if part.WakerKind == recording.WakerBeside {
		frames := r.stack(part.WakerStack)
		found.place, found.stops = placeOf(frames), collects(frames)
		return found
	}
	tid := part.WakerTid
	for range chainMost {
		if found.comm == jvmStopper || code.IsCollector(found.comm) {
			found.stops = true
			break
		}
		longest := r.longest(tid, from, to)
		if longest == nil { // it ran: where, its samples told
			found.stack, found.wait = part.WakerStack, nil
			found.place = placeOf(r.stack(found.stack))
			break
		}
		frames := r.stack(longest.Stack)
		found.stops = found.stops || stopped(frames) || collects(frames)
		found.place, found.stack, found.wait = placeOf(frames), longest.Stack, longest
		if !r.passesOn(longest) || longest.WakerTid == 0 || longest.WakerTid == tid || !r.own[longest.WakerPid] {
			break
		}
		found.comm, tid = longest.WakerComm, longest.WakerTid
	}
	r.holders[part] = found
	return found
}

// passesOn tells a wait of a holder for a lock, which whoever has that one keeps it from.
func (r *reader) passesOn(wait *recording.Wait) bool {
	frames := r.stack(wait.Stack)
	return lockCalls[wait.Syscall] || code.AwaitsPipe(frames) || isKernelLock(frames, r.stack(wait.WakerStack))
}

// waitsForLock tells a wait that another thread ended by letting something go.
func (r *reader) waitsForLock(part *recording.RequestPart) bool {
	switch {
	case part.Class == recording.PartLock || part.WakerKind == recording.WakerBeside || fileLocks[part.Syscall]:
		return true
	case part.Class == recording.PartNet:
		frames := r.stack(part.Stack)
		return code.AtDatabaseLock(frames) || code.AwaitsPipe(frames)
	}
	return r.waitsInKernel(part)
}

// waitsInKernel tells a wait for one of the kernel's own locks.
func (r *reader) waitsInKernel(part *recording.RequestPart) bool {
	asleep := part.Class == recording.PartDisk || part.Class == recording.PartFault
	return asleep && isKernelLock(r.stack(part.Stack), r.stack(part.WakerStack))
}

func isKernelLock(frames, waker []recording.Frame) bool {
	stall, _ := cause.StallOf(frames, waker)
	return stall == cause.MemoryMapLock || stall == cause.FileInodeLock
}

// lockCalls are the system calls that wait for a futex, or for a lock on a file.
var lockCalls = map[string]bool{"futex": true, "futex_waitv": true, "futex_wait": true, "flock": true, "fcntl": true}

// waitsOf are the waits of a thread, in order of time.
func (r *reader) waitsOf(tid int32) []*recording.Wait {
	if r.waits == nil {
		r.waits = map[int32][]*recording.Wait{}
		for i := range r.rec.Waits {
			r.waits[r.rec.Waits[i].Tid] = append(r.waits[r.rec.Waits[i].Tid], &r.rec.Waits[i])
		}
	}
	return r.waits[tid]
}

// longest is the place where a thread waited for most of a time, by one wait of it; nil when it ran
// for half of it.
func (r *reader) longest(tid int32, from, to int64) *recording.Wait {
	waits := r.waitsOf(tid)
	byStack, of, all := map[int32]int64{}, map[int32]*recording.Wait{}, int64(0)
	i := sort.Search(len(waits), func(i int) bool { return waits[i].EndNs() > from })
	for ; i < len(waits) && waits[i].TimeNs < to; i++ {
		common := min(to, waits[i].EndNs()) - max(from, waits[i].TimeNs)
		all += common
		byStack[waits[i].Stack] += common
		if best := of[waits[i].Stack]; best == nil || waits[i].BlockedNs > best.BlockedNs {
			of[waits[i].Stack] = waits[i]
		}
	}
	if all < (to-from)/2 {
		return nil
	}
	var most *recording.Wait
	for stack, ns := range byStack {
		if most == nil || ns > byStack[most.Stack] || ns == byStack[most.Stack] && stack < most.Stack {
			most = of[stack]
		}
	}
	return most
}

// holderOf finds what those did meanwhile who ended the waits for a lock, or who were at work while
// a request waited for another goroutine.
func holderOf(parts []held) string {
	at := map[string]int64{}
	for _, part := range parts {
		if part.Before { // its place is what the reader waited for
			continue
		}
		if by := part.reader.holding(part.RequestPart); by.comm != "" {
			name := by.place
			if name == "" {
				name = by.comm
			}
			at[name] += part.LengthNs
		}
	}
	best, _ := perrun.Largest(at)
	return best
}
