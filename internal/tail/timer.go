package tail

import (
	"culprit/internal/cause"
	"culprit/internal/code"
	"culprit/internal/compare/perrun"
	"culprit/recording"
)

// byTimer gives what a request waited for in an event loop to a timer, where one ended the last of
// these waits: no event of a socket or of another thread came for the request before its answer.
// The loop's earlier waits may have been ended by what came for others.
func (r *reader) byTimer(a *asked) {
	if !r.loops[a.row.Pid] {
		return
	}
	if last := lastWait(a.parts); last == nil || last.WakerKind != recording.WakerTimer {
		return
	}
	for i, part := range a.parts {
		if inLoop(part) && a.buckets[i].cause == "" {
			a.buckets[i] = bucket{cause: cause.SleepDeliberate, class: recording.PartSleep, kind: cause.InCode,
				place: r.timed(a.row.Pid)}
		}
	}
}

// inLoop tells a wait of an event loop while a request is in hand.
func inLoop(part *recording.RequestPart) bool {
	return part.Class == recording.PartNet && !part.Before && code.Polls(part.Syscall)
}

// lastWait is the last stretch of a request in which it neither ran nor was ready to run, if that
// is a wait of an event loop; nil where it is not.
func lastWait(parts []*recording.RequestPart) (last *recording.RequestPart) {
	for _, part := range parts {
		ran := part.Class == recording.PartCPU || part.Class == recording.PartQueued || part.Before
		if !ran && (last == nil || part.TimeNs > last.TimeNs) {
			last = part
		}
	}
	if last == nil || !inLoop(last) {
		return nil
	}
	return last
}

// timed is what the event loop of a process runs mostly right after a timer, for a request whose
// answer that brings; "" where no sample fell into it.
func (r *reader) timed(pid int32) string {
	if place, known := r.timers[pid]; known {
		return place
	}
	parts := map[int64][]*recording.RequestPart{}
	for i := range r.rec.RequestParts {
		part := &r.rec.RequestParts[i]
		parts[part.Request] = append(parts[part.Request], part)
	}
	ran := map[string]int64{}
	for i := range r.rec.SlowRequests {
		row := &r.rec.SlowRequests[i]
		last := lastWait(parts[row.ID])
		if row.Pid != pid || last == nil || last.WakerKind != recording.WakerTimer {
			continue
		}
		for _, part := range parts[row.ID] {
			if part.Class == recording.PartCPU && part.TimeNs > last.TimeNs {
				ran[placeOf(r.stack(part.Stack))] += part.LengthNs
			}
		}
	}
	delete(ran, "")
	r.timers[pid], _ = perrun.Largest(ran)
	return r.timers[pid]
}
