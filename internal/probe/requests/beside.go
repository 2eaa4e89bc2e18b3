package requests

import (
	"cmp"
	"slices"
	"sort"

	"culprit/recording"
)

// A request of an event loop, or of a run time that moves requests between threads, has no thread
// of its own while it waits. What it waited for is then looked for beside it: an answer to a
// question that the process asked of another service within the request's time, or threads of the
// process that were at work for most of it.

const (
	// besideLeast is how much of the time to be explained an answer or work accounts for at least.
	besideLeast = 0.5
	// besideRare: threads are at work that much more of this time than of the whole window, else it
	// is no evidence.
	besideRare = 2.0
)

// asked is a request of the target's own to another service.
type asked struct {
	fromNs, toNs int64
	service      string
}

// workBeside gives what threads of a process but one were at between two times, in order and
// without overlaps. What was begun after the request was read goes before what others had begun: it
// may be its own. It is nothing where they were at work for less than besideLeast of the time, or
// not clearly more than in the whole window.
func (m *maker) workBeside(r *recording.SlowRequest, not int32, from, to int64) []stint {
	kept, covered := m.worksWithin(r, not, from, to)
	if float64(covered) < m.leastWork(r.Pid)*float64(to-from) {
		return nil
	}
	return kept
}

// worksWithin gives works of threads of a process but one between two times, and how much of it
// they cover: those begun since the request was read where these are half of it, else all.
func (m *maker) worksWithin(r *recording.SlowRequest, not int32, from, to int64) (kept []stint, covered int64) {
	var own, all []stint
	for _, tid := range m.tids[r.Pid] {
		if tid == not {
			continue
		}
		for _, w := range m.worksBetween(tid, from, to) {
			all = append(all, stint{w, tid})
			if w.fromNs >= r.TimeNs+r.WaitNs {
				own = append(own, stint{w, tid})
			}
		}
	}
	if kept, covered = inTurn(own, from, to); float64(covered) >= m.leastWork(r.Pid)*float64(to-from) {
		return kept, covered
	}
	return inTurn(all, from, to)
}

// inTurn puts works in order of time: where several overlap, who began first.
func inTurn(works []stint, from, to int64) (kept []stint, covered int64) {
	slices.SortStableFunc(works, func(a, b stint) int { return cmp.Compare(a.fromNs, b.fromNs) })
	at := from
	for _, s := range works {
		if end := min(to, s.toNs); end > at {
			covered += end - max(at, s.fromNs)
			at = end
			kept = append(kept, s)
		}
	}
	return kept, covered
}

// answerBeside finds the answer of another service that was waited for longest, if for as long as
// least: it was asked for and came within the request's time.
func (m *maker) answerBeside(r *recording.SlowRequest, from, to, least int64) *asked {
	all := m.asked[r.Pid]
	read, end := r.TimeNs+r.WaitNs, r.TimeNs+r.LatencyNs
	var best *asked
	most := int64(0)
	i := sort.Search(len(all), func(i int) bool { return all[i].fromNs >= read })
	for ; i < len(all) && all[i].fromNs < end; i++ {
		if all[i].toNs > end {
			continue
		}
		if length := min(to, all[i].toNs) - max(from, all[i].fromNs); length > most {
			most, best = length, &all[i]
		}
	}
	if most < least {
		return nil
	}
	return best
}

// answeredBeside gives a wait on a socket the service whose answer was waited for.
func (m *maker) answeredBeside(r *recording.SlowRequest, part *recording.RequestPart) {
	if part.Class != recording.PartNet {
		return
	}
	least := int64(besideLeast * float64(part.LengthNs))
	if answer := m.answerBeside(r, part.TimeNs, part.TimeNs+part.LengthNs, least); answer != nil {
		part.Class, part.Where = recording.PartDownstream, answer.service
	}
}

func (m *maker) unknown(r *recording.SlowRequest, from, to int64) {
	m.add(r, stretch(recording.PartUnknown, from, to-from, 0))
}

func (m *maker) waitsWithin(tid int32, from, to int64) []*recording.Wait {
	waits := m.waits[tid]
	i := sort.Search(len(waits), func(i int) bool { return waits[i].EndNs() > from })
	k := sort.Search(len(waits), func(i int) bool { return waits[i].TimeNs >= to })
	return waits[min(i, k):k]
}

// atWork adds what another thread did meanwhile. What it had begun before the request was read is
// not its own.
func (m *maker) atWork(r *recording.SlowRequest, w stint, from, to int64) {
	if to <= from {
		return
	}
	first := len(m.parts)
	switch {
	case w.unseen:
		m.unknown(r, from, to)
		return
	case w.wait != nil:
		m.waited(r, w.wait, from, to, false)
	default:
		m.ranAt(r, w.tid, from, to, m.seenAt(w, from, to), false)
	}
	began := m.hadBegun(w, r.TimeNs+r.WaitNs)
	for i := range m.parts[first:] {
		part := &m.parts[first+i]
		part.Beside = began
		m.answeredBeside(r, part)
	}
}

// hadBegun tells that a thread was at the same work before. One that runs on may have taken up
// another request meanwhile: then the samples before and after have little in common.
func (m *maker) hadBegun(w stint, at int64) bool {
	if w.wait != nil || w.fromNs >= at || m.window.Unwinder == nil {
		return w.fromNs < at
	}
	traces, start := m.traces[w.tid], m.window.StartNs
	i := sort.Search(len(traces), func(i int) bool { return traces[i].KtimeNs-start >= at })
	if i == 0 || traces[i-1].KtimeNs-start < w.fromNs {
		return false // it has run for less than a period of the samples
	}
	if i == len(traces) || traces[i].KtimeNs-start >= w.toNs {
		return true
	}
	before, _ := m.window.Unwinder.Frames(traces[i-1].Stack)
	after, _ := m.window.Unwinder.Frames(traces[i].Stack)
	return alike(before, after)
}

// alike tells that two stacks have half of their inner halves in common.
func alike[F comparable](a, b []F) bool {
	inner := a[len(a)/2:]
	common := 0
	for _, frame := range inner {
		if slices.Contains(b, frame) {
			common++
		}
	}
	return 2*common >= len(inner)
}

// unreadByAny: where any thread may read, the sleep of the one that did tells nothing; others may
// have been at work.
func (m *maker) unreadByAny(r *recording.SlowRequest, first int) {
	parts := slices.Clone(m.parts[first:])
	m.parts = m.parts[:first]
	for _, part := range parts {
		if part.Class == recording.PartCPU || part.Class == recording.PartQueued {
			m.parts = append(m.parts, part)
			continue
		}
		from, to := part.TimeNs, part.TimeNs+part.LengthNs
		at := from
		for _, w := range m.workBeside(r, 0, from, to) {
			m.idle(r, at, w.fromNs)
			before := len(m.parts)
			m.atWork(r, w, max(at, w.fromNs), min(to, w.toNs))
			for i := range m.parts[before:] {
				m.parts[before+i].Before = true
			}
			at = min(to, w.toNs)
		}
		m.idle(r, at, to)
	}
}

func (m *maker) idle(r *recording.SlowRequest, from, to int64) {
	part := stretch(recording.PartIdle, from, to-from, r.Tid)
	part.Before = true
	m.add(r, part)
}

// elsewhere says what a request waited for while its event loop slept or served others: that takes
// the place of what the loop did meanwhile, which was not for this request. It gives the part of
// the time that it found something for.
func (m *maker) elsewhere(r *recording.SlowRequest, first int, from, to int64) (found float64) {
	if r.NetNs < workLeast || 5*r.NetNs < to-from {
		return 0
	}
	least := int64(besideLeast * float64(to-from))
	var works []stint
	answer := m.answerBeside(r, from, to, least)
	if answer != nil {
		works = []stint{{work{fromNs: answer.fromNs, toNs: answer.toNs}, r.WriterTid}}
	} else if works = m.ofOthers(r, from, to); works == nil {
		return 0
	}
	parts := slices.Clone(m.parts[first:])
	m.parts = m.parts[:first]
	for _, part := range parts {
		m.without(r, part, works)
	}
	covered, at := int64(0), from
	for _, w := range works {
		start, end := max(at, w.fromNs), min(to, w.toNs)
		if answer == nil {
			m.atWork(r, w, start, end)
		} else {
			part := stretch(recording.PartDownstream, start, end-start, beside)
			part.Where = answer.service
			m.add(r, part)
		}
		covered, at = covered+end-start, end
	}
	return float64(covered) / float64(to-from)
}

// ofOthers gives what other threads of the process did for a request of a loop: they worked, or
// the one that woke the loop slept, or one slept as long as the request took.
func (m *maker) ofOthers(r *recording.SlowRequest, from, to int64) []stint {
	if works := m.workBeside(r, r.Tid, from, to); works != nil {
		return works
	}
	if works := m.doneByWaker(r, from, to); works != nil {
		return works
	}
	return m.sleptBeside(r, from, to)
}

// beside is the thread of an answer that was waited for beside the request's own thread.
const beside = 0

// without adds of a part what lies before, between and behind works.
func (m *maker) without(r *recording.SlowRequest, part recording.RequestPart, works []stint) {
	at, to := part.TimeNs, part.TimeNs+part.LengthNs
	keep := func(until int64) {
		if rest := part; until > at {
			rest.TimeNs, rest.LengthNs = at, until-at
			m.add(r, rest)
		}
	}
	for _, w := range works {
		if w.toNs <= at || w.fromNs >= to {
			continue
		}
		keep(min(to, w.fromNs))
		at = max(at, min(to, w.toNs))
	}
	keep(to)
}

// seen adds up the parts of a request's own thread by class, as the kernel sums them up: it knows
// no sleep on a futex.
func (m *maker) seen(tid int32, first int) map[string]int64 {
	seen := map[string]int64{}
	for _, part := range m.parts[first:] {
		class := part.Class
		switch {
		case part.StoodStill():
			class = recording.PartCPU
		case class == recording.PartSleep && lockCalls[part.Syscall]:
			class = recording.PartLock
		}
		if part.Tid == tid {
			seen[class] += part.LengthNs
		}
	}
	return seen
}
