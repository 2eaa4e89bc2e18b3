package processes

import (
	"cmp"
	"slices"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// account is the scheduler's account of a thread at one moment.
type account struct {
	cpuNs, runDelayNs      int64
	voluntary, involuntary int64
	migrations             uint32 // counts on from zero when it is full
}

func accountOf(event *processesEvent) account {
	return account{int64(event.CpuNs), int64(event.RunDelayNs), int64(event.Voluntary), int64(event.Involuntary),
		event.Migrations}
}

// process and thread are rows in the making. Ids are used again within a
// window, so a thread knows its process, not only its id.
type process struct{ recording.Process }

type thread struct {
	recording.Thread
	process *process
	before  account // when it was first seen
	remains bool    // it was there when the window ended
}

// growth collects the rows while the events are walked in order.
type growth struct {
	window    *bpf.Window
	followed  map[int32]account  // what a thread had used when it was made a target
	processes map[int32]*process // the latest of each pid
	threads   map[int32]*thread  // the latest of each tid
	everyone  []*process
	all       []*thread
}

func newGrowth(window *bpf.Window, followed []processesEvent) *growth {
	g := &growth{window: window, followed: map[int32]account{}, processes: map[int32]*process{},
		threads: map[int32]*thread{}}
	for i := range followed {
		g.followed[int32(followed[i].Tid)] = accountOf(&followed[i])
	}
	return g
}

// fill turns the events of one window, and the walks over all threads at its
// two ends, into rows.
func (g *growth) fill(found, events, remaining []processesEvent) {
	all := make([]*processesEvent, 0, len(found)+len(events)+len(remaining))
	for _, some := range [][]processesEvent{found, events, remaining} {
		for i := range some {
			// What was before is a straggler of an earlier window, or in what the walk found.
			if int64(some[i].Time) >= g.window.StartNs {
				all = append(all, &some[i])
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *processesEvent) int { return cmp.Compare(a.Time, b.Time) })
	for _, event := range all {
		g.apply(event)
	}
	g.finish()
}

// present enters a thread that was there when the window began.
func (g *growth) present(event *processesEvent) {
	pid, tid := int32(event.Tgid), int32(event.Tid)
	if g.threads[tid] != nil {
		return // it started between the window's begin and the walk
	}
	known := g.processes[pid]
	if known == nil {
		known = g.newProcess(event, 0)
	}
	if pid == tid {
		known.Comm = bpf.Text(event.Comm[:])
	}
	g.newThread(event, known, 0)
}

func (g *growth) apply(event *processesEvent) {
	pid, tid, since := int32(event.Tgid), int32(event.Tid), g.window.Since(event.Time)
	switch event.Kind {
	case present:
		g.present(event)
	case remaining:
		g.remain(event)
	case forked:
		if pid == tid {
			g.newProcess(event, since)
		}
		g.newThread(event, g.processOf(event), since)
	case executed:
		g.takeOver(int32(event.OldTid), tid)
		t := g.threadOf(event)
		t.Comm = bpf.Text(event.Comm[:])
		t.process.Comm, t.process.Command = t.Comm, bpf.Text(event.Filename[:])
		t.process.Execs++
	case ended:
		g.end(event, g.threadOf(event), since)
	}
}

// takeOver follows an exec by another thread than the first: it gets the first
// one's id, and the first one, which ends by that, gets its.
func (g *growth) takeOver(old, tid int32) {
	if old == tid || g.threads[old] == nil {
		return
	}
	g.threads[old], g.threads[tid] = g.threads[tid], g.threads[old]
	for _, id := range []int32{old, tid} {
		if g.threads[id] == nil {
			delete(g.threads, id)
			continue
		}
		g.threads[id].Tid = id
	}
}

func (g *growth) end(event *processesEvent, t *thread, since int64) {
	t.EndNs, t.Comm = since, bpf.Text(event.Comm[:])
	t.spend(event)
	t.process.EndNs = since // the last thread's end is the process's
	if event.GroupExit == ownCall && t.process.EndedBy == 0 {
		t.process.EndedBy = t.Tid
	}
	first := t.Pid == t.Tid
	if first {
		t.process.Comm = t.Comm
	}
	if first || event.GroupExit != 0 {
		t.process.ExitCode = exitCode(event.ExitCode)
	}
}

// exitCode gives a wait status as shells and Go do: the status, or minus the signal.
func exitCode(status int32) int32 {
	if signal := status & 0x7f; signal != 0 {
		return -signal
	}
	return status >> 8 & 0xff
}

// remain enters what a thread that outlived the window has used in it.
func (g *growth) remain(event *processesEvent) {
	t := g.threadOf(event)
	if t.EndNs != 0 { // it ended between the walk and the detaching
		return
	}
	t.remains, t.Comm = true, bpf.Text(event.Comm[:])
	if t.Pid == t.Tid {
		t.process.Comm = t.Comm
	}
	t.spend(event)
}

// spend books what a thread used in the window.
func (t *thread) spend(event *processesEvent) {
	now := accountOf(event)
	t.CPUNs, t.RunqueueNs = now.cpuNs-t.before.cpuNs, now.runDelayNs-t.before.runDelayNs
	t.Voluntary, t.Involuntary = now.voluntary-t.before.voluntary, now.involuntary-t.before.involuntary
	t.Migrations = int64(now.migrations - t.before.migrations)
}

func (g *growth) newProcess(event *processesEvent, since int64) *process {
	pid := int32(event.Tgid)
	g.processes[pid] = &process{recording.Process{Pid: pid, Ppid: int32(event.ParentTgid), StartNs: since,
		Comm: bpf.Text(event.Comm[:])}}
	g.everyone = append(g.everyone, g.processes[pid])
	return g.processes[pid]
}

func (g *growth) newThread(event *processesEvent, of *process, since int64) *thread {
	tid := int32(event.Tid)
	g.threads[tid] = &thread{process: of, before: accountOf(event), Thread: recording.Thread{
		Pid: int32(event.Tgid), Tid: tid, Comm: bpf.Text(event.Comm[:]), StartNs: since}}
	g.all = append(g.all, g.threads[tid])
	return g.threads[tid]
}

// processOf and threadOf enter what is not known yet: the event of its start was lost.
func (g *growth) processOf(event *processesEvent) *process {
	if known := g.processes[int32(event.Tgid)]; known != nil {
		return known
	}
	return g.newProcess(event, 0)
}

func (g *growth) threadOf(event *processesEvent) *thread {
	known := g.threads[int32(event.Tid)]
	if known != nil && known.Pid == int32(event.Tgid) {
		return known
	}
	known = g.newThread(event, g.processOf(event), 0)
	known.before = g.followed[int32(event.Tid)] // nothing used, where it was not there yet
	return known
}

// finish adds up the processes and moves all rows into the window.
func (g *growth) finish() {
	rec := g.window.Recording
	for _, t := range g.all {
		t.process.CPUNs += t.CPUNs
		if t.remains {
			t.process.EndNs = 0
		}
	}
	for _, p := range g.everyone {
		g.window.Comm[p.Pid] = p.Comm
	}
	slices.SortStableFunc(g.everyone, func(a, b *process) int { return cmp.Compare(a.StartNs, b.StartNs) })
	slices.SortStableFunc(g.all, func(a, b *thread) int { return cmp.Compare(a.StartNs, b.StartNs) })
	rec.Processes, rec.Threads = slices.Grow(rec.Processes, len(g.everyone)), slices.Grow(rec.Threads, len(g.all))
	for _, p := range g.everyone {
		rec.Processes = append(rec.Processes, p.Process)
	}
	for _, t := range g.all {
		rec.Threads = append(rec.Threads, t.Thread)
	}
}
