package requests

import (
	"slices"
	"sort"
	"strings"

	"culprit/recording"
)

// waitingPackages are those whose functions wait for others.
var waitingPackages = []string{"runtime.", "sync.", "internal/sync.", "internal/poll."}

// withoutWaiting are the functions of a goroutine that waits, leaf first, from the one on that is
// to wait. user is root first.
func withoutWaiting(user []*recording.Frame) (functions []string) {
	for _, frame := range slices.Backward(user) {
		waits := slices.ContainsFunc(waitingPackages, func(of string) bool { return strings.HasPrefix(frame.Name, of) })
		if waits && functions == nil {
			continue
		}
		functions = append(functions, frame.Name)
	}
	return functions
}

// overlapsOf bounds the requests that are looked through for the one that holds a lock.
const overlapsOf = 128

// heldByRequest finds the request whose goroutine was in the function that takes the lock, and past
// taking it, for most of a wait: it waited there for something else.
func (m *maker) heldByRequest(r *recording.SlowRequest, at parked, part *recording.RequestPart) {
	if len(at.functions) == 0 {
		return
	}
	from, to := part.TimeNs, part.TimeNs+part.LengthNs
	all := m.window.Recording.SlowRequests // in order of their first data
	last := sort.Search(len(all), func(i int) bool { return all[i].TimeNs >= to })
	near := all[max(0, last-overlapsOf):last]
	for i := range near {
		other := &near[i]
		if other.ID == r.ID || other.Pid != r.Pid || other.TimeNs+other.LatencyNs <= from {
			continue
		}
		if stack, ok := m.waitsIn(other, at.functions[0], from, to); ok {
			m.notes(r.Pid, other.Tid, stack, part)
			return
		}
	}
}

// waitsIn tells where a request's goroutine waited for anything but a lock, below a function, for
// most of a time.
func (m *maker) waitsIn(r *recording.SlowRequest, function string, from, to int64) (stack int32, ok bool) {
	for _, s := range m.staysOf(r, r.TimeNs, r.TimeNs+r.LatencyNs) {
		common := min(to, s.toNs) - max(from, s.fromNs)
		if s.tid != 0 || s.runnable || float64(common) < besideLeast*float64(to-from) {
			continue
		}
		at := m.parkedAt(r.Pid, s.stack)
		if at.class != recording.PartLock && slices.Contains(at.functions, function) {
			return at.stack, true
		}
	}
	return 0, false
}

// chainMost bounds the holders that are followed: who held the lock may itself have waited for
// another.
const chainMost = 4

// handedOver tells waits that another thread ended by giving something up: a futex, or a lock of
// the kernel.
func handedOver(wait *recording.Wait) bool {
	return wait.WakerKind == recording.WakerThread && (wait.State == "D" || lockCalls[wait.Syscall])
}

// holderOf is the stack of whoever kept a thread from a lock: what it ran meanwhile, where it ran
// for half of the wait, else where it gave the lock up. That of a lock inside the kernel has the
// kernel's functions alone: as such a lock is held within one call, the call's place in the program
// is that of what was run.
func (m *maker) holderOf(wait *recording.Wait) int32 {
	ran := m.ranHolding(wait)
	if ran == recording.NoStack {
		return wait.WakerStack
	}
	if wait.State != "D" {
		return ran
	}
	return m.window.Builder.Called(ran, wait.WakerStack)
}

// ranHolding is what the thread ran that kept others from a lock, where it ran for half of the
// wait; NoStack where it did not.
func (m *maker) ranHolding(wait *recording.Wait) int32 {
	from, to, tid := wait.TimeNs, wait.WokenNs(), wait.WakerTid
	if to-from < workLeast || tid == 0 {
		return recording.NoStack
	}
	for range chainMost {
		slept, longest := int64(0), (*recording.Wait)(nil)
		for _, its := range m.waitsWithin(tid, from, to) {
			slept += min(to, its.WokenNs()) - max(from, its.TimeNs)
			if longest == nil || its.BlockedNs > longest.BlockedNs {
				longest = its
			}
		}
		if 2*slept < to-from {
			return m.mostSeen(tid, from, to)
		}
		if !handedOver(longest) || longest.WakerTid == 0 || longest.WakerTid == tid {
			return recording.NoStack
		}
		tid = longest.WakerTid
	}
	return recording.NoStack
}
