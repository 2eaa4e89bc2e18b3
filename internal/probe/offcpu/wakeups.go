package offcpu

import (
	"cmp"
	"fmt"
	"slices"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/syscalls"
	"culprit/recording"
)

const (
	// fewestIntervals of a place: below that it has no rhythm to tell of.
	fewestIntervals = 4
	// intervalUnitNs is INTERVAL_UNIT_NS of stays.h.
	intervalUnitNs = 16
)

// takeRhythms reads what is known of the wake-ups at each place.
func (s *Session) takeRhythms() (map[offcpuTotalKey]*offcpuRhythm, error) {
	rhythms := map[offcpuTotalKey]*offcpuRhythm{}
	err := bpf.Drain(s.collection.Maps["rhythms"], func(key offcpuTotalKey, rhythm *offcpuRhythm) {
		copied := *rhythm
		rhythms[key] = &copied
	})
	if err != nil {
		return nil, fmt.Errorf("read rhythms: %w", err)
	}
	return rhythms, nil
}

// addWakeups moves the rhythm of each place where a thread slept again and again into the table of
// wake-ups.
func (c *collection) addWakeups() {
	comms := map[int32]string{}
	for i := range c.window.Recording.Threads {
		comms[c.window.Recording.Threads[i].Tid] = c.window.Recording.Threads[i].Comm
	}
	var rows []recording.Wakeup
	for key, rhythm := range c.rhythms {
		if rhythm.Seen >= fewestIntervals {
			rows = append(rows, c.wakeup(&key, rhythm, comms[int32(key.Tid)]))
		}
	}
	slices.SortFunc(rows, func(a, b recording.Wakeup) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Tid, b.Tid), cmp.Compare(a.Syscall, b.Syscall))
	})
	c.window.Recording.Wakeups = append(c.window.Recording.Wakeups, rows...)
}

func (c *collection) wakeup(key *offcpuTotalKey, rhythm *offcpuRhythm, comm string) recording.Wakeup {
	intervals := slices.Clone(rhythm.Interval[:min(rhythm.Seen, uint64(len(rhythm.Interval)))])
	slices.Sort(intervals)
	quarter := func(quarters int) int64 {
		return int64(intervals[(len(intervals)-1)*quarters/4]) * intervalUnitNs
	}
	kernel := c.kernelFrames(rhythm.Stack)
	return recording.Wakeup{
		Pid: int32(key.Tgid), Tid: int32(key.Tid), Comm: comm, Syscall: syscalls.Name(key.Call),
		WakerKind: c.kindOfMost(rhythm), Count: int64(rhythm.Count) + 1, IntervalNs: quarter(2),
		SpreadNs: quarter(3) - quarter(1), CPUNs: int64(rhythm.AwakeNs),
		Stack: c.window.Stack(c.userOf(int32(key.Tid), key.Signature, nil), kernel),
	}
}

// kindOfMost is what most of the latest wakings at a place were.
func (c *collection) kindOfMost(rhythm *offcpuRhythm) string {
	counts := map[string]int{}
	best := recording.WakerThread
	for _, id := range rhythm.WakerStack[:min(rhythm.Seen, uint64(len(rhythm.WakerStack)))] {
		stack := c.kernelFrames(id)
		waker := uint32(len(stack)) // no stack: an idle CPU's interrupt
		kind := kindOfWaking(waker, stack)
		if counts[kind]++; counts[kind] > counts[best] {
			best = kind
		}
	}
	return best
}
