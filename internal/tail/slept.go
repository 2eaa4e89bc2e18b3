package tail

import (
	"maps"
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare/perrun"
	"culprit/recording"
)

// sleptIn is the function of the program's own that most likely has the requests of a process wait
// for timers where only is known that one ended the wait: one that samples met when it went to
// sleep, else the deepest from which most of the run time and the kernel is called after it. It is
// "" where no sample tells.
func (r *reader) sleptIn(pid int32) string {
	if place, known := r.atTimers[pid]; known {
		return place
	}
	slept, below := map[string]int64{}, map[string]int64{}
	depths, all := map[string]int{}, int64(0)
	for i := range r.rec.SlowRequests {
		row := &r.rec.SlowRequests[i]
		timer := slices.IndexFunc(r.parts[row.ID], isTimer)
		if row.Pid != pid || timer < 0 {
			continue
		}
		for _, part := range r.parts[row.ID] {
			frames := r.stack(part.Stack)
			if part.Class != recording.PartCPU || part.Before || code.Innermost(frames) < 0 {
				continue
			}
			slept[sleeperIn(frames)] += part.LengthNs
			if part.TimeNs < r.parts[row.ID][timer].TimeNs {
				continue
			}
			called := callers(frames)
			if len(called) > 0 {
				all += part.LengthNs
			}
			for name, depth := range called {
				below[name] += part.LengthNs
				depths[name] = max(depths[name], depth)
			}
		}
	}
	delete(slept, "")
	place, _ := perrun.Largest(slept)
	if place == "" {
		place = deepest(below, depths, all/2)
	}
	r.atTimers[pid] = place
	return place
}

// sleeperIn is the function of the program's own that calls one which sleeps; "" for none.
func sleeperIn(frames []recording.Frame) string {
	at := slices.IndexFunc(frames, code.Sleeps)
	if at < 0 || code.Above(frames, at) < 0 {
		return ""
	}
	return nameOf(&frames[code.Above(frames, at)])
}

// callers are the program's own functions in a stack, but for where it begins, that call a run time
// or the kernel, with their depth: what only computes does not wait, nor what is compiled into it.
func callers(frames []recording.Frame) map[string]int {
	own := code.Own(frames)
	found := map[string]int{}
	at, leaf := &frames[code.Innermost(frames)], &frames[len(frames)-1]
	if leaf.Kind == recording.KindNative && leaf.Module == at.Module {
		return found
	}
	for depth := range frames[:len(frames)-1] {
		if own[depth] && !code.IsEntry(frames[depth]) {
			found[nameOf(&frames[depth])] = depth
		}
	}
	return found
}

// deepest is the function that lies deepest of those with more than a time; "" for none.
func deepest(below map[string]int64, depths map[string]int, longerThan int64) (place string) {
	for _, name := range slices.Sorted(maps.Keys(below)) {
		if below[name] > longerThan && (place == "" || depths[name] > depths[place]) {
			place = name
		}
	}
	return place
}

// isTimer tells a wait of which only is known that a timer ended it.
func isTimer(part *recording.RequestPart) bool {
	return part.Class == recording.PartSleep && part.Stack == recording.NoStack && part.WakerKind == recording.WakerTimer
}

const (
	// alikeLeast and alikeMost bound a wait that is as long as the timers of a process are, in
	// medians of these. Chosen.
	alikeLeast, alikeMost = 0.5, 2.0
)

// asTimer tells a wait of a task of which nothing is known, as long as those for timers are, where
// these are what tasks of the process mostly wait for: its threads were woken for others shortly
// before its timer ran out, and slept too shortly for that to be kept.
func (r *reader) asTimer(part *recording.RequestPart, pid int32) bool {
	if part.Class != recording.PartUnknown || part.Before {
		return false
	}
	usual := float64(r.usualTimer(pid))
	length := float64(part.LengthNs)
	return usual > 0 && length >= alikeLeast*usual && length <= alikeMost*usual
}

// usualTimer is the median of the waits for timers of a process, in ns; 0 where its requests wait
// less for these than for anything else that is known, or for a fifth of what is not.
func (r *reader) usualTimer(pid int32) int64 {
	if usual, known := r.usualTimers[pid]; known {
		return usual
	}
	var timers []int64
	timed, other, unknown := int64(0), int64(0), int64(0)
	for i := range r.rec.SlowRequests {
		row := &r.rec.SlowRequests[i]
		if row.Pid != pid || !row.Slow {
			continue
		}
		for _, part := range r.parts[row.ID] {
			switch {
			case part.Before || part.Class == recording.PartCPU || part.Class == recording.PartQueued:
			case isTimer(part):
				timers, timed = append(timers, part.LengthNs), timed+part.LengthNs
			case part.Class == recording.PartUnknown:
				unknown += part.LengthNs
			default:
				other += part.LengthNs
			}
		}
	}
	usual := int64(0)
	if timed > other && float64(timed) >= timersLeast*float64(timed+unknown) {
		slices.Sort(timers)
		usual = timers[len(timers)/2]
	}
	r.usualTimers[pid] = usual
	return usual
}
