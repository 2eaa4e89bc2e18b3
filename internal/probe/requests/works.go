package requests

import (
	"cmp"
	"slices"
	"sort"

	"culprit/internal/code"
	"culprit/internal/probe/unwind"
	"culprit/recording"
)

// workLeast is the shortest stretch of work that is looked at, in ns; shorter waits are not kept.
const workLeast = 1_000_000

// work is a stretch in which a thread ran, or slept in a call that works: on a disk, in a page
// fault, for a lock on a file.
type work struct {
	fromNs, toNs int64
	wait         *recording.Wait // nil: it ran
	unseen       bool            // what it did is not known
}

// fileLocks are the calls that wait for a lock on a file.
var fileLocks = map[string]bool{"flock": true, "fcntl": true}

// findThreads sorts threads by process, without those of a run time that compile: no request waits
// for these.
func (m *maker) findThreads() {
	m.tids = map[int32][]int32{}
	pids := map[int32]int32{}
	for tid, waits := range m.waits {
		pids[tid] = waits[0].Pid
	}
	for tid, traces := range m.traces {
		pids[tid] = traces[0].Pid
	}
	if rec := m.window.Recording; rec != nil {
		for i := range rec.Threads {
			if code.IsCompiler(rec.Threads[i].Comm) {
				delete(pids, rec.Threads[i].Tid)
			}
		}
	}
	for _, tid := range sortedKeys(pids) {
		m.tids[pids[tid]] = append(m.tids[pids[tid]], tid)
	}
	for _, all := range m.asked {
		slices.SortFunc(all, func(a, b asked) int { return cmp.Compare(a.fromNs, b.fromNs) })
	}
}

// worksOf gives the stretches of work of a thread, in order of time.
func (m *maker) worksOf(tid int32) []work {
	if known, ok := m.works[tid]; ok {
		return known
	}
	var works []work
	at := int64(0)
	ran := func(to int64) {
		if m.mostlyRan(tid, at, to) {
			works = append(works, work{fromNs: at, toNs: to})
		}
	}
	for _, wait := range m.waits[tid] {
		if wait.BlockedNs == 0 { // it lost its CPU: it is at work
			continue
		}
		ran(wait.TimeNs)
		if class := classOf(wait); class == recording.PartDisk || class == recording.PartFault || fileLocks[wait.Syscall] {
			works = append(works, work{fromNs: wait.TimeNs, toNs: wait.WokenNs(), wait: wait})
		}
		at = wait.EndNs()
	}
	ran(m.window.EndNs - m.window.StartNs)
	m.works[tid] = works
	return works
}

// worksBetween gives those of a thread that lie between two times, at least in part.
func (m *maker) worksBetween(tid int32, from, to int64) []work {
	works := m.worksOf(tid)
	first := sort.Search(len(works), func(i int) bool { return works[i].toNs > from })
	end := sort.Search(len(works), func(i int) bool { return works[i].fromNs >= to })
	return works[min(first, end):end]
}

// mostlyRan tells by the samples that a thread without a long wait did not have many short ones
// instead. While it had lost its CPU none could meet it.
func (m *maker) mostlyRan(tid int32, from, to int64) bool {
	if to-from < workLeast {
		return false
	}
	seen := len(m.traces.Within(tid, m.window.StartNs+from, m.window.StartNs+to))
	return seen > 0 && int64(seen+1)*m.period*2 >= to-from-m.lostWithin(tid, from, to)
}

// lostWithin is how long a thread had lost its CPU in the midst of its work.
func (m *maker) lostWithin(tid int32, from, to int64) (lost int64) {
	for _, wait := range m.waitsWithin(tid, from, to) {
		if wait.BlockedNs == 0 {
			lost += min(to, wait.EndNs()) - max(from, wait.TimeNs)
		}
	}
	return lost
}

// usualWork is the part of the window in which any thread of a process was at work.
func (m *maker) usualWork(pid int32) float64 {
	if known, ok := m.usual[pid]; ok {
		return known
	}
	var all []work
	for _, tid := range m.tids[pid] {
		all = append(all, m.worksOf(tid)...)
	}
	slices.SortFunc(all, func(a, b work) int { return cmp.Compare(a.fromNs, b.fromNs) })
	sum, until := int64(0), int64(0)
	for _, w := range all {
		sum += max(0, w.toNs-max(until, w.fromNs))
		until = max(until, w.toNs)
	}
	m.usual[pid] = float64(sum) / float64(max(1, m.window.EndNs-m.window.StartNs))
	return m.usual[pid]
}

// leastWork is the part of a time that threads of a process have to be at work for, to be evidence.
func (m *maker) leastWork(pid int32) float64 { return max(besideLeast, besideRare*m.usualWork(pid)) }

// stint is work of a thread.
type stint struct {
	work
	tid int32
}

// seenAt are the samples of a thread's work between two times; without any, the one before.
func (m *maker) seenAt(w stint, from, to int64) []*unwind.Trace {
	start := m.window.StartNs
	if within := m.traces.Within(w.tid, start+from, start+to); len(within) > 0 {
		return within
	}
	before := m.traces.Within(w.tid, start+w.fromNs, start+from)
	return before[max(0, len(before)-1):]
}
