package slow

import (
	"cmp"
	"slices"

	"culprit/recording"
)

// thing is what calls can wait for together.
type thing struct {
	kind, name string // of an object
	tid        int32  // or who wakes them
	pid        int32  // of a lock: its address is one of this process
}

// groups joins calls by index: a forest, as of Tarjan's union-find.
type groups []int

func (g groups) root(i int) int {
	for g[i] != i {
		g[i] = g[g[i]]
		i = g[i]
	}
	return i
}

func (g groups) join(a, b int) { g[g.root(a)] = g.root(b) }

// number gives every call its stall.
func number(calls []recording.Slow) {
	g := make(groups, len(calls))
	for i := range g {
		g[i] = i
	}
	joinThings(calls, g)
	joinHolders(calls, g)
	stalls := map[int]bool{} // groups with a call that is a stall by itself
	for i := range calls {
		if !calls[i].Idle() && slept(&calls[i]) {
			stalls[g.root(i)] = true
		}
	}
	numbers := map[int]int32{}
	for i := range calls {
		root := g.root(i)
		if !stalls[root] || !canStall(&calls[i]) || !slept(&calls[i]) {
			calls[i].Stall = 0
			continue
		}
		if numbers[root] == 0 {
			numbers[root] = int32(len(numbers)) + 1
		}
		calls[i].Stall = numbers[root]
	}
}

// joinThings joins calls that overlap and are on the same object, or were woken by the same thread.
// Calls come in order of time: of each thing only the call that ends last can overlap with the
// next.
func joinThings(calls []recording.Slow, g groups) {
	latest := map[thing]int{}
	for i := range calls {
		for _, on := range thingsOf(&calls[i]) {
			before, known := latest[on]
			if known && end(&calls[before]) > calls[i].TimeNs {
				g.join(i, before)
			}
			if !known || end(&calls[i]) > end(&calls[before]) {
				latest[on] = i
			}
		}
	}
}

// thingsOf lists what a call waited for. Calls that wait for work have nothing in common but the
// lack of it.
func thingsOf(call *recording.Slow) []thing {
	if call.ObjectKind == recording.ObjectLock {
		return []thing{{kind: call.ObjectKind, name: call.Object, pid: call.Pid}}
	}
	if call.Idle() {
		return nil
	}
	var things []thing
	if call.Object != "" {
		things = append(things, thing{kind: call.ObjectKind, name: call.Object})
	}
	// An idle CPU's interrupt, a timer or a softirq says nothing of what was waited for.
	if call.WakerTid != 0 && (call.WakerKind == recording.WakerThread || call.WakerKind == recording.WakerKernel) {
		things = append(things, thing{tid: call.WakerTid})
	}
	return things
}

// joinHolders joins a call that was ended by another thread with the slow call which that thread
// had been in meanwhile: the holder of a lock that itself waited for the disk.
func joinHolders(calls []recording.Slow, g groups) {
	byThread := map[int32][]int{}
	for i := range calls {
		byThread[calls[i].Tid] = append(byThread[calls[i].Tid], i)
	}
	for i := range calls {
		call := &calls[i]
		if call.WakerTid == 0 || call.WakerTid == call.Tid || call.WakerKind != recording.WakerThread ||
			!canStall(call) {
			continue
		}
		held := byThread[call.WakerTid]
		// The first of the holder's calls that begins after this one's end, and back from there.
		at, _ := slices.BinarySearchFunc(held, end(call),
			func(other int, time int64) int { return cmp.Compare(calls[other].TimeNs, time) })
		for at--; at >= 0 && end(&calls[held[at]]) > call.TimeNs; at-- {
			if canStall(&calls[held[at]]) {
				g.join(i, held[at])
			}
		}
	}
}

// canStall tells the calls that can be part of a stall: a futex is one with its holder's.
func canStall(call *recording.Slow) bool {
	return !call.Idle() || call.ObjectKind == recording.ObjectLock
}

// slept tells a call that waited for something from one that computed, or waited for a CPU.
func slept(call *recording.Slow) bool { return call.BlockedNs*2 >= call.DurationNs }

func end(call *recording.Slow) int64 { return call.TimeNs + call.DurationNs }
