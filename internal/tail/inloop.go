package tail

import (
	"cmp"

	"culprit/internal/cause"
	"culprit/internal/code"
	"culprit/internal/compare/perrun"
	"culprit/recording"
)

const (
	// timersLeast is the part of the time that requests of an event loop wait there which a timer
	// ends at least where they wait for timers: while the loop runs for others, which it may do for
	// most of the time, timers expire as well, and nobody sees for whom. Chosen.
	timersLeast = 0.2
	// ranMost is the part of the time until its event which an event loop may run at most where
	// that is held to be for others. Chosen: the larger part was waited for.
	ranMost = 0.5
)

// byAwaited gives what a request waited for in an event loop to the event that it awaited: a timer,
// or a pool of threads that forces data to disk. Until that came the loop may have run for others,
// and waited for a CPU to do so: it then slept again, so that the request would have waited anyway.
func (r *reader) byAwaited(a *asked) {
	if !r.loops[a.row.Pid] {
		return
	}
	first, last := loopWaits(a.parts)
	if last == nil {
		return
	}
	event := r.event(a.row.Pid, last)
	if event.cause == "" {
		return
	}
	from, to := first.TimeNs, last.TimeNs+last.LengthNs
	ran := int64(0)
	between := func(part *recording.RequestPart) bool {
		ready := part.Class == recording.PartCPU || part.Class == recording.PartQueued
		return ready && !part.Before && part.TimeNs >= from && part.TimeNs+part.LengthNs <= to
	}
	for _, part := range a.parts {
		if between(part) {
			ran += part.LengthNs
		}
	}
	forOthers := float64(ran) <= ranMost*float64(to-from)
	for i, part := range a.parts {
		waits := a.buckets[i].cause == "" && (inLoop(part) || part.Class == recording.PartNet && isSum(part))
		if waits || forOthers && between(part) {
			a.buckets[i] = event
		}
	}
}

// inLoop tells a wait of an event loop while a request is in hand.
func inLoop(part *recording.RequestPart) bool {
	return part.Class == recording.PartNet && !part.Before && code.Polls(part.Syscall)
}

// loopWaits are the first wait of an event loop while a request is in hand, and the last one, if
// the request did nothing but run, or be ready to run, after that; else nil.
func loopWaits(parts []*recording.RequestPart) (first, last *recording.RequestPart) {
	var latest *recording.RequestPart
	for _, part := range parts {
		if part.Class == recording.PartCPU || part.Class == recording.PartQueued || part.Before {
			continue
		}
		if latest == nil || part.TimeNs > latest.TimeNs {
			latest = part
		}
		if inLoop(part) && (first == nil || part.TimeNs < first.TimeNs) {
			first = part
		}
	}
	if latest == nil || !inLoop(latest) {
		return nil, nil
	}
	return first, latest
}

// event is what the last wait of a request in an event loop was for; without a cause where that is
// not known.
func (r *reader) event(pid int32, last *recording.RequestPart) bucket {
	if longest, pooled := r.pools[pid]; pooled {
		return r.byPool(longest)
	}
	timers := r.timersOf(pid)
	if last.WakerKind == recording.WakerTimer || timers.most && !wokenBy(pid, last) {
		return bucket{cause: cause.SleepDeliberate, class: recording.PartSleep, kind: cause.InCode, place: timers.place}
	}
	return bucket{}
}

// byPool is what a pool of threads forces to disk.
func (r *reader) byPool(longest poolSync) bucket {
	place := cmp.Or(placeOf(r.stack(longest.stack)), longest.call)
	return bucket{cause: cause.FileSync, class: recording.PartDisk, kind: cause.InCode, place: place}
}

// wokenBy tells a wait that a thread of a process ended.
func wokenBy(pid int32, part *recording.RequestPart) bool {
	return part.WakerKind == recording.WakerThread && part.WakerPid == pid
}

// timers are what requests of an event loop have to do with timers.
type timers struct {
	place string // what the loop runs mostly when one has ended the last wait; "" where no sample tells
	most  bool   // they wait for these, rather than for threads of the process
}

// timersOf looks at all requests in full of a process, once.
func (r *reader) timersOf(pid int32) timers {
	if of, known := r.timers[pid]; known {
		return of
	}
	ran := map[string]int64{}
	all, timed, handed := int64(0), int64(0), int64(0)
	for i := range r.rec.SlowRequests {
		row := &r.rec.SlowRequests[i]
		first, last := loopWaits(r.parts[row.ID])
		if row.Pid != pid || last == nil {
			continue
		}
		length := last.TimeNs + last.LengthNs - first.TimeNs
		all += length
		switch {
		case last.WakerKind == recording.WakerTimer:
			timed += length
			r.addRanAfter(ran, r.parts[row.ID], last)
		case wokenBy(pid, last):
			handed += length
		}
	}
	delete(ran, "")
	of := timers{most: float64(timed) >= timersLeast*float64(all) && timed > handed}
	of.place, _ = perrun.Largest(ran)
	r.timers[pid] = of
	return of
}

// addRanAfter adds the places where a request ran after a wait.
func (r *reader) addRanAfter(ran map[string]int64, parts []*recording.RequestPart, wait *recording.RequestPart) {
	for _, part := range parts {
		if part.Class == recording.PartCPU && part.TimeNs > wait.TimeNs {
			ran[placeOf(r.stack(part.Stack))] += part.LengthNs
		}
	}
}
