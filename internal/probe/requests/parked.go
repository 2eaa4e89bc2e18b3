package requests

import (
	"slices"
	"sort"
	"time"

	"culprit/recording"
)

// parkedFor says by the function that has the run time park a goroutine what it waits for (Go 1.17
// to 1.26). What is not in it waits for another goroutine.
var parkedFor = map[string]string{
	"sync.runtime_SemacquireMutex":          recording.PartLock,
	"sync.runtime_SemacquireRWMutex":        recording.PartLock,
	"sync.runtime_SemacquireRWMutexR":       recording.PartLock,
	"internal/sync.runtime_SemacquireMutex": recording.PartLock,
	"internal/poll.runtime_Semacquire":      recording.PartLock, // of a file that others read or write
	"internal/poll.runtime_pollWait":        recording.PartNet,
	"time.Sleep":                            recording.PartSleep,
}

// parkedAs is a stack of goroutines.stacks in a process.
type parkedAs struct{ pid, number int32 }

// parked is where a goroutine waits.
type parked struct {
	stack int32
	class string
	start string // what the goroutine began with
	// functions are its stack's, leaf first, without those that only wait; the first of them takes
	// the lock.
	functions []string
}

// stay is a stretch in which the goroutine of a request was at the same, whenever it was looked at.
type stay struct {
	fromNs, toNs int64
	looked
	lookedNs []int64
}

// unfollowed says of a time whose thread is not known what the request's goroutine was at, where
// that was looked at, else what was found beside it.
func (m *maker) unfollowed(r *recording.SlowRequest, from, to int64) {
	stays, at := m.staysOf(r, from, to), from
	if spent, known := m.byThread[r.ID]; known && onlyOn(r.Tid, stays) {
		followed := *r
		followed.Spent = spent
		m.serve(&followed, r.Tid, from, to)
		return
	}
	for _, s := range stays {
		m.foundBeside(r, at, s.fromNs)
		m.stayed(r, &s)
		at = s.toNs
	}
	m.foundBeside(r, at, to)
}

// onlyOn tells that a goroutine was on one thread whenever it was looked at.
func onlyOn(tid int32, stays []stay) bool {
	return len(stays) > 0 && !slices.ContainsFunc(stays, func(s stay) bool { return s.tid != tid })
}

// reach is for how many pauses before it and behind it a look speaks, where there is no other.
const reach = 2

// staysOf makes stretches of the looks at a request.
func (m *maker) staysOf(r *recording.SlowRequest, from, to int64) (stays []stay) {
	if m.looked == nil {
		return nil
	}
	looks := m.looked.looks[inProgress{uint64(m.window.StartNs + r.TimeNs), uint32(r.Tid)}]
	for i := range looks {
		at := looks[i].atNs - m.window.StartNs
		if at < from || at >= to {
			continue
		}
		far := reach * int64(looks[i].pauseMs) * int64(time.Millisecond)
		next := stay{fromNs: max(from, at-far), toNs: min(to, at+far), looked: looks[i], lookedNs: []int64{at}}
		if n := len(stays); n > 0 {
			before := &stays[n-1]
			if last := before.lookedNs[len(before.lookedNs)-1]; before.toNs > next.fromNs {
				before.toNs = (last + at) / 2
				next.fromNs = before.toNs
			}
			if before.toNs == next.fromNs && before.alike(&next) {
				before.toNs, before.lookedNs = next.toNs, append(before.lookedNs, at)
				continue
			}
		}
		stays = append(stays, next)
	}
	return stays
}

func (s *stay) alike(next *stay) bool {
	return s.tid == next.tid && s.stack == next.stack && s.runnable == next.runnable
}

// stayed adds what a goroutine was at.
func (m *maker) stayed(r *recording.SlowRequest, s *stay) {
	switch {
	case s.tid != 0:
		m.onThread(r, s)
	case s.runnable: // all threads that run goroutines had others
		part := stretch(recording.PartQueued, s.fromNs, s.toNs-s.fromNs, 0)
		part.RunnerComm = m.window.Comm[r.Pid]
		m.heldBeside(r.Pid, &part)
		m.add(r, part)
	default:
		m.waitedAt(r, s, m.parkedAt(r.Pid, s.stack))
	}
}

// onThread adds what the thread did that a goroutine was on. While the thread waits for work, or
// for a lock, the goroutine may be elsewhere by then: it was in such a wait if it was seen there.
func (m *maker) onThread(r *recording.SlowRequest, s *stay) {
	at := s.fromNs
	for _, wait := range m.waitsWithin(s.tid, s.fromNs, s.toNs) {
		from, to := max(at, wait.TimeNs), min(s.toNs, wait.EndNs())
		if from >= to {
			continue
		}
		m.ranOn(r, s.tid, at, from)
		if forEvents(wait.Syscall) || lockCalls[wait.Syscall] && !s.lookedWithin(wait.TimeNs, wait.WokenNs()) {
			m.foundBeside(r, from, to)
		} else {
			m.waited(r, wait, from, to, false)
		}
		at = to
	}
	m.ranOn(r, s.tid, at, s.toNs)
}

// ranOn adds a time without a long wait of a thread. It ran for as many periods of the samples as
// it was sampled in: many short waits, for a quick disk say, leave a thread few. Of less than a
// period no sample says nothing.
func (m *maker) ranOn(r *recording.SlowRequest, tid int32, from, to int64) {
	if to-from < m.period {
		if from < to {
			m.ran(r, tid, from, to, false)
		}
		return
	}
	traces := m.traces.Within(tid, m.window.StartNs+from, m.window.StartNs+to)
	until := min(to, from+int64(len(traces))*m.period)
	if until > from {
		m.ranAt(r, tid, from, until, traces, false)
	}
	m.foundBeside(r, until, to)
}

func (s *stay) lookedWithin(from, to int64) bool {
	i := sort.Search(len(s.lookedNs), func(i int) bool { return s.lookedNs[i] >= from })
	return i < len(s.lookedNs) && s.lookedNs[i] < to
}

// parkedAt names a stack, and says what it waits for.
func (m *maker) parkedAt(pid, number int32) parked {
	if known, ok := m.parked[parkedAs{pid, number}]; ok {
		return known
	}
	found := parked{stack: recording.NoStack, class: recording.PartUnknown}
	if number >= 0 && m.window.Unwinder != nil {
		user, kernel := m.window.Unwinder.Frames(m.window.Unwinder.NameGiven(pid, m.looked.stacks[number]))
		found.class, found.start, found.functions = parkedIn(user), startIn(user), withoutWaiting(user)
		found.stack = m.window.Stack(user, kernel)
	}
	m.parked[parkedAs{pid, number}] = found
	return found
}

// parkedIn is the class of a wait by its stack.
func parkedIn(user []*recording.Frame) string {
	if len(user) == 0 {
		return recording.PartUnknown
	}
	for _, frame := range user {
		if class := parkedFor[frame.Name]; class != "" {
			return class
		}
	}
	return recording.PartHandover
}

// waitedAt adds a stretch in which a goroutine was on no thread.
func (m *maker) waitedAt(r *recording.SlowRequest, s *stay, at parked) {
	rest := func(from, to int64) {
		if from >= to {
			return
		}
		part := stretch(at.class, from, to-from, 0)
		part.Stack = at.stack
		switch at.class {
		case recording.PartLock:
			if m.heldBeside(r.Pid, &part); part.WakerKind == "" {
				m.heldByRequest(r, at, &part)
			}
		case recording.PartHandover:
			if w := m.workOfKind(r.Pid, at.start, from, to, 0); w != nil {
				m.holds(r.Pid, w, &part)
			}
		}
		m.add(r, part)
	}
	switch at.class {
	case recording.PartUnknown:
		m.foundBeside(r, s.fromNs, s.toNs)
		return
	case recording.PartNet:
		if m.answered(r, s.fromNs, s.toNs, rest) {
			return
		}
	case recording.PartHandover:
		if m.answered(r, s.fromNs, s.toNs, rest) || m.worked(r, s.fromNs, s.toNs, rest) {
			return
		}
		if w := m.workOfKind(r.Pid, at.start, s.fromNs, s.toNs, besideRare); w != nil {
			m.atWork(r, *w, s.fromNs, s.toNs)
			return
		}
	}
	rest(s.fromNs, s.toNs)
}

// heldBeside says who was at work for most of a wait for a lock, or for a thread: Go does not note
// who holds a lock, nor is it seen who lets it go.
func (m *maker) heldBeside(pid int32, part *recording.RequestPart) {
	from, to := part.TimeNs, part.TimeNs+part.LengthNs
	most, found := int64(besideLeast*float64(part.LengthNs)), stint{}
	for _, tid := range m.tids[pid] {
		at, longest, worked := int64(0), work{}, int64(0)
		for _, w := range m.worksBetween(tid, from, to) {
			common := min(to, w.toNs) - max(from, w.fromNs)
			if worked += common; common > at {
				at, longest = common, w
			}
		}
		if worked > most {
			most, found = worked, stint{longest, tid}
		}
	}
	if found.tid != 0 {
		m.holds(pid, &found, part)
	}
}

// holds notes who was at work meanwhile.
func (m *maker) holds(pid int32, by *stint, part *recording.RequestPart) {
	if by.wait != nil {
		m.notes(pid, by.tid, by.wait.Stack, part)
		return
	}
	from, to := max(part.TimeNs, by.fromNs), min(part.TimeNs+part.LengthNs, by.toNs)
	m.notes(pid, by.tid, m.mostSeen(by.tid, from, to), part)
}

// notes says of a wait which thread was at work, and a stack that it was at meanwhile.
func (m *maker) notes(pid, tid, stack int32, part *recording.RequestPart) {
	part.WakerKind, part.WakerPid, part.WakerTid = recording.WakerBeside, pid, tid
	part.WakerComm, part.WakerStack = m.window.Comm[pid], stack
}

// mostSeen is the stack that a thread was sampled at most often in a time.
func (m *maker) mostSeen(tid int32, from, to int64) int32 {
	traces := m.traces.Within(tid, m.window.StartNs+from, m.window.StartNs+to)
	counts, most := map[int32]int{}, int32(recording.NoStack)
	if m.window.Unwinder == nil {
		return most
	}
	for _, trace := range traces {
		stack := m.window.Stack(m.window.Unwinder.Frames(trace.Stack))
		if counts[stack]++; counts[stack] > counts[most] {
			most = stack
		}
	}
	return most
}
