package tail

import (
	"sort"

	"culprit/recording"
)

const (
	// poolLeast is how many syncs of a pool must have been kept whole to say when they happen.
	// Chosen.
	poolLeast = 10
	// poolWithin is the part of their time that lies in slow requests where these wait for them; a
	// pool that syncs for somebody else does so at any time. Chosen: twice what chance gives is
	// needed as well.
	poolWithin, timesChance = 0.5, 2
)

// poolSyncsOf finds event loops whose requests wait for a pool of threads that forces data to disk,
// with the longest sync. Waits of a loop that are too short to be kept whole have no
// call and no waker; of the pool's own waits the longer ones are kept, and tell whether it syncs
// for slow requests.
func poolSyncsOf(rec *recording.Recording, loops map[int32]bool) map[int32]poolSync {
	waited := map[int32]int64{}
	for i := range rec.Requests {
		if row := &rec.Requests[i]; row.Side == recording.SideServer && loops[row.Pid] {
			waited[row.Pid] += row.NetNs
		}
	}
	found := map[int32]poolSync{}
	for pid, ns := range waited {
		pool := poolOf(rec, pid)
		if ns == 0 || pool.synced(rec) <= ns/2 {
			continue
		}
		if longest, syncs := pool.syncs(rec); syncs {
			found[pid] = longest
		}
	}
	return found
}

// isSum tells a stretch of waits that were too short to be kept whole.
func isSum(part *recording.RequestPart) bool {
	return part.Stack == recording.NoStack && part.Syscall == "" && !part.Before
}

// pool are the threads of a process that read and answer no requests, and when slow ones were in
// hand.
type pool struct {
	pid  int32
	asks map[int32]bool // threads of the loop
	slow []inHandFor
}

// inHandFor is from when until when requests were in hand, in ns of the recording.
type inHandFor struct{ from, to int64 }

func poolOf(rec *recording.Recording, pid int32) *pool {
	p := &pool{pid: pid, asks: map[int32]bool{}}
	for i := range rec.SlowRequests {
		one := &rec.SlowRequests[i]
		if one.Pid != pid {
			continue
		}
		p.asks[one.Tid], p.asks[one.WriterTid] = true, true
		if one.Slow {
			p.slow = append(p.slow, inHandFor{one.TimeNs, one.TimeNs + one.LatencyNs})
		}
	}
	p.slow = joined(p.slow)
	return p
}

// joined puts spans in order and makes one of those that overlap.
func joined(spans []inHandFor) (list []inHandFor) {
	sort.Slice(spans, func(i, j int) bool { return spans[i].from < spans[j].from })
	for _, one := range spans {
		if last := len(list) - 1; last >= 0 && one.from <= list[last].to {
			list[last].to = max(list[last].to, one.to)
			continue
		}
		list = append(list, one)
	}
	return list
}

// synced is the time in its calls that force data to disk.
func (p *pool) synced(rec *recording.Recording) (ns int64) {
	for i := range rec.Syscalls {
		if call := &rec.Syscalls[i]; call.Pid == p.pid && !p.asks[call.Tid] && syncCalls[call.Name] {
			ns += call.TotalNs
		}
	}
	return ns
}

// poolSync is one call that forces data to disk, or a wait in it, in ns of the recording.
type poolSync struct {
	from, to int64
	stack    int32
	call     string
}

// kept are the syncs of a pool that took long enough to be kept: the calls, or what they slept for
// where that is more. On a quick disk most of a call is work.
func (p *pool) kept(rec *recording.Recording) []poolSync {
	var calls, waits []poolSync
	for i := range rec.Slow {
		if call := &rec.Slow[i]; call.Pid == p.pid && !p.asks[call.Tid] && syncCalls[call.Name] {
			calls = append(calls, poolSync{call.TimeNs, call.TimeNs + call.DurationNs, call.Stack, call.Name})
		}
	}
	for i := range rec.Waits {
		if wait := &rec.Waits[i]; wait.Pid == p.pid && !p.asks[wait.Tid] && syncCalls[wait.Syscall] {
			waits = append(waits, poolSync{wait.TimeNs, wait.WokenNs(), wait.Stack, wait.Syscall})
		}
	}
	if len(calls) > len(waits) {
		return calls
	}
	return waits
}

// syncs tells whether it forces data to disk while slow requests are in hand, and not at any time;
// and the longest of these syncs, of which a stack is known where that is known of any.
func (p *pool) syncs(rec *recording.Recording) (longest poolSync, found bool) {
	longest.stack = recording.NoStack
	all, within := int64(0), int64(0)
	kept := p.kept(rec)
	for _, one := range kept {
		length := one.to - one.from
		all += length
		within += p.common(one.from, one.to)
		known, better := longest.stack != recording.NoStack, one.stack != recording.NoStack
		if better && !known || better == known && length > longest.to-longest.from {
			longest = one
		}
	}
	covered := p.common(0, rec.Manifest.WindowNs)
	chance := float64(covered) / float64(max(1, rec.Manifest.WindowNs))
	part := float64(within) / float64(max(1, all))
	return longest, len(kept) >= poolLeast && part >= poolWithin && part >= timesChance*chance
}

// common is the time between two moments in which slow requests were in hand.
func (p *pool) common(from, to int64) (ns int64) {
	i := sort.Search(len(p.slow), func(i int) bool { return p.slow[i].to > from })
	for ; i < len(p.slow) && p.slow[i].from < to; i++ {
		ns += min(to, p.slow[i].to) - max(from, p.slow[i].from)
	}
	return ns
}
