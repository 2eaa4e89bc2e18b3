package requests

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"culprit/internal/code"
	"culprit/internal/probe/bpf"
	"culprit/internal/probe/unwind"
	"culprit/recording"
)

// maxParts bounds the rows of parts; those of slow requests come first.
const maxParts = 400_000

// maker cuts requests into parts by what their threads did.
type maker struct {
	window *bpf.Window
	waits  map[int32][]*recording.Wait // by thread, in order of time
	traces bpf.ThreadTraces            // taken on a CPU
	slow   map[int32][]*recording.Slow // system calls
	turns  map[int32][]*recording.SlowRequest
	asked  map[int32][]asked // by process
	moves  map[int32]bool    // processes whose run time moves requests between threads
	period int64             // of a CPU's samples, in ns
	tids   map[int32][]int32 // by process: threads of which anything is known
	born   map[int32]int64   // by thread: when it was started; 0 of those that were there
	works  map[int32][]work  // by thread
	usual  map[int32]float64 // by process: the part of the window in which a thread was at work
	looked *goroutines       // nil: nobody looked
	parked map[parkedAs]parked
	// byThread as in collection.
	byThread map[int64]recording.Spent
	starts   map[int]string         // by stack: see startOf
	waitFor  map[int32]code.Waiting // by stack
	carriers map[int32]bool         // by thread: a scheduler has it run tasks
	// awaitsTasks, by stack: a thread sleeps there for want of tasks.
	awaitsTasks map[int32]bool
	places      map[int32]bool               // by stack: a function of the program's own is in it
	timers      map[int32][]int64            // by process: when timers ran out
	usualKinds  map[int32]map[string]float64 // by process
	parts       []recording.RequestPart
}

// addParts says of the requests in full where their time went.
func (c *collection) addParts() {
	rec := c.window.Recording
	m := &maker{window: c.window, waits: map[int32][]*recording.Wait{}, traces: c.window.SampledByThread(),
		slow: map[int32][]*recording.Slow{}, turns: map[int32][]*recording.SlowRequest{}, asked: c.asked, moves: c.moves,
		period: int64(time.Second) / int64(max(1, c.hz)), works: map[int32][]work{}, usual: map[int32]float64{},
		looked: c.looked, parked: map[parkedAs]parked{}, byThread: c.byThread,
		starts: map[int]string{}, waitFor: map[int32]code.Waiting{}, usualKinds: map[int32]map[string]float64{},
		carriers: map[int32]bool{}, awaitsTasks: map[int32]bool{}, places: map[int32]bool{}, timers: map[int32][]int64{}}
	for i := range rec.Waits {
		m.waits[rec.Waits[i].Tid] = append(m.waits[rec.Waits[i].Tid], &rec.Waits[i])
	}
	for i := range rec.Slow {
		m.slow[rec.Slow[i].Tid] = append(m.slow[rec.Slow[i].Tid], &rec.Slow[i])
	}
	m.findThreads()
	m.born = map[int32]int64{}
	for i := range rec.Threads {
		m.born[rec.Threads[i].Tid] = rec.Threads[i].StartNs
	}
	for i := range rec.SlowRequests {
		m.turns[rec.SlowRequests[i].Tid] = append(m.turns[rec.SlowRequests[i].Tid], &rec.SlowRequests[i])
	}
	for _, slow := range []bool{true, false} {
		for i := range rec.SlowRequests {
			request := &rec.SlowRequests[i]
			if request.Slow != slow || request.InProgress {
				continue
			}
			if len(m.parts) >= maxParts {
				c.window.Lose("requests: those whose parts did not fit", 1)
				continue
			}
			m.cut(request)
		}
	}
	rec.RequestParts = m.parts
}

// cut makes the parts of one request.
func (m *maker) cut(r *recording.SlowRequest) {
	first := len(m.parts)
	read := r.TimeNs + r.WaitNs
	m.unread(r, read)
	if m.moves[r.Pid] {
		m.unreadByAny(r, first)
	}
	m.behind(r, m.parts[first:])
	taken := read + r.UploadNs
	m.add(r, stretch(recording.PartUpload, read, r.UploadNs, r.Tid))
	end := r.TimeNs + r.LatencyNs
	if away := m.absent(r, taken, end); away != nil {
		m.task(r, away, taken, end)
		return
	}
	switch {
	case r.Unfollowed:
		m.unfollowed(r, taken, end)
	case r.Tid != r.WriterTid:
		up := max(taken, read+r.HandoverNs)
		m.add(r, stretch(recording.PartHandover, taken, up-taken, r.WriterTid))
		m.serve(r, r.WriterTid, up, end)
	default:
		m.serve(r, r.Tid, taken, end)
	}
}

// unread cuts the time before the first read by what the thread that read was at; before that one
// was started, by what the first one of its process was, which takes connections up and starts
// others. Before the process was there nobody was.
func (m *maker) unread(r *recording.SlowRequest, read int64) {
	there := min(max(r.TimeNs, m.born[r.Pid]), read)
	if there > r.TimeNs {
		part := stretch(recording.PartUnknown, r.TimeNs, there-r.TimeNs, r.Pid)
		part.Before = true
		m.add(r, part)
	}
	born := min(max(there, m.born[r.Tid]), read)
	m.follow(r, r.Pid, there, born, true)
	m.follow(r, r.Tid, born, read, true)
}

func (m *maker) add(r *recording.SlowRequest, part recording.RequestPart) {
	if part.LengthNs <= 0 {
		return
	}
	part.Request = r.ID
	m.parts = append(m.parts, part)
}

// serve cuts the time from the last read to the last byte. The kernel's sums tell also of waits too
// short to be kept whole: what they have more is taken from the time on a CPU.
func (m *maker) serve(r *recording.SlowRequest, tid int32, from, to int64) {
	first := len(m.parts)
	m.follow(r, tid, from, to, false)
	m.downstream(r, m.parts[first:])
	answered := m.passedOn(r, m.parts[first:]) + m.awaited(r, first)
	found, slept := m.elsewhere(r, first, from, to), int64(0)
	if found == 0 {
		slept = m.whileAsleep(r, tid, first)
	}
	seen, ran := m.seen(tid, first), int64(0)
	ran = seen[recording.PartCPU]
	missing := int64(0)
	for _, class := range classesOf(&r.Spent) {
		switch class.name {
		case recording.PartLock:
			class.ns -= answered
		case recording.PartNet:
			class.ns -= slept
		}
		more := min(int64(float64(class.ns)*(1-found))-seen[class.name], ran-missing)
		if more <= 0 {
			continue
		}
		missing += more
		part := stretch(class.name, from, more, tid)
		part.Where = whereOf(r, class.name)
		m.add(r, part)
	}
	if missing == 0 {
		return
	}
	left, before := missing, ran
	for i := first; i < len(m.parts) && before > 0; i++ { // each gives its share; the last one the rest
		part := &m.parts[i]
		if (part.Class == recording.PartCPU || part.StoodStill()) && part.Tid == tid {
			take := left * part.LengthNs / before
			before -= part.LengthNs
			left -= take
			part.LengthNs -= take
		}
	}
}

// stretch is a part of which nothing else is known.
func stretch(class string, from, lengthNs int64, tid int32) recording.RequestPart {
	return recording.RequestPart{Class: class, TimeNs: from, LengthNs: lengthNs, Tid: tid, Stack: recording.NoStack,
		WakerStack: recording.NoStack, HopStack: recording.NoStack}
}

type classTime struct {
	name string
	ns   int64
}

func classesOf(s *recording.Spent) []classTime {
	return []classTime{{recording.PartQueued, s.QueuedNs}, {recording.PartLock, s.LockNs},
		{recording.PartSleep, s.SleepNs}, {recording.PartDisk, s.DiskNs}, {recording.PartFault, s.FaultNs},
		{recording.PartDownstream, s.DownstreamNs}, {recording.PartNet, s.NetNs}, {recording.PartOther, s.OtherNs}}
}

func whereOf(r *recording.SlowRequest, class string) string {
	if class == recording.PartDownstream {
		return r.Downstream
	}
	return ""
}

// downstream gives waits on sockets their service, as far as the kernel saw that they were for its
// answers.
func (m *maker) downstream(r *recording.SlowRequest, parts []recording.RequestPart) {
	left := r.DownstreamNs
	order := make([]*recording.RequestPart, 0, len(parts))
	for i := range parts {
		if parts[i].Class == recording.PartNet {
			order = append(order, &parts[i])
		}
	}
	slices.SortFunc(order, func(a, b *recording.RequestPart) int { return cmp.Compare(b.LengthNs, a.LengthNs) })
	for _, part := range order {
		if left < part.LengthNs/2 {
			return
		}
		left -= part.LengthNs
		part.Class, part.Where = recording.PartDownstream, r.Downstream
	}
}

// follow adds what a thread did from one time to another.
func (m *maker) follow(r *recording.SlowRequest, tid int32, from, to int64, before bool) {
	waits := m.waits[tid]
	i := sort.Search(len(waits), func(i int) bool { return waits[i].EndNs() > from })
	at := from
	for ; i < len(waits) && waits[i].TimeNs < to && at < to; i++ {
		wait := waits[i]
		if wait.TimeNs > at {
			m.ran(r, tid, at, wait.TimeNs, before)
		}
		m.waited(r, wait, max(at, wait.TimeNs), min(to, wait.EndNs()), before)
		at = min(to, wait.EndNs())
	}
	if at < to {
		m.ran(r, tid, at, to, before)
	}
}

// ran shares out a stretch on a CPU among the stacks that were seen in it.
func (m *maker) ran(r *recording.SlowRequest, tid int32, from, to int64, before bool) {
	m.ranAt(r, tid, from, to, m.traces.Within(tid, m.window.StartNs+from, m.window.StartNs+to), before)
}

func (m *maker) ranAt(r *recording.SlowRequest, tid int32, from, to int64, traces []*unwind.Trace, before bool) {
	part := stretch(recording.PartCPU, from, to-from, tid)
	part.Before = before
	if len(traces) == 0 || m.window.Unwinder == nil {
		m.add(r, part)
		return
	}
	each := (to - from) / int64(len(traces))
	for n, trace := range traces {
		part.Class, part.RunnerComm = recording.PartCPU, ""
		if trace.Late {
			part.Class, part.RunnerComm = recording.PartQueued, recording.Hypervisor
		}
		part.Stack = m.window.Stack(m.window.Unwinder.Frames(trace.Stack))
		part.TimeNs, part.LengthNs = from+int64(n)*each, each
		if n == len(traces)-1 {
			part.LengthNs = to - part.TimeNs
		}
		m.add(r, part)
	}
}

// waited adds a stay off the CPU, or what of it lies within two times: asleep, then waiting for a
// CPU.
func (m *maker) waited(r *recording.SlowRequest, wait *recording.Wait, from, to int64, before bool) {
	part := recording.RequestPart{TimeNs: from, Tid: wait.Tid, Before: before, Stack: wait.Stack, Syscall: wait.Syscall,
		Object: wait.Object, WakerKind: wait.WakerKind, WakerPid: wait.WakerPid, WakerTid: wait.WakerTid,
		WakerComm: wait.WakerComm, WakerStack: wait.WakerStack, HopStack: recording.NoStack}
	if wait.HopNs > 0 {
		part.HopNs, part.HopStack, part.HopComm = wait.HopNs, wait.HopStack, wait.HopComm
	}
	part.Class = classOf(wait)
	if m.napped(wait) {
		part.Class = recording.PartSleep
	}
	if before && (part.Class == recording.PartNet || m.forTasks(wait)) { // it slept for want of work
		part.Class = recording.PartIdle
	}
	if handedOver(wait) {
		part.WakerStack = m.holderOf(wait)
	}
	part.Where = m.objectOf(wait)
	woken := min(to, max(from, wait.WokenNs()))
	part.LengthNs = woken - from
	m.add(r, part)
	part.Class, part.TimeNs, part.LengthNs, part.RunnerComm = recording.PartQueued, woken, to-woken, wait.Runner()
	m.add(r, part)
}
