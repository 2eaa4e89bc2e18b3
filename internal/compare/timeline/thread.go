package timeline

import (
	"slices"
	"sort"

	"culprit/recording"
)

// WaitsBefore are the waits that began before a moment, in order of time.
func (t *Thread) WaitsBefore(at int64) []*recording.Wait {
	return t.Waits[:sort.Search(len(t.Waits), func(i int) bool { return t.Waits[i].TimeNs >= at })]
}

// WaitBefore is the last wait that began before a moment, nil when there is none.
func (t *Thread) WaitBefore(at int64) *recording.Wait {
	if waits := t.WaitsBefore(at); len(waits) > 0 {
		return waits[len(waits)-1]
	}
	return nil
}

// OffCPU is how long a thread was off the CPU within a stretch.
func (t *Thread) OffCPU(from, to int64) (total int64) {
	for _, wait := range slices.Backward(t.WaitsBefore(to)) {
		if wait.EndNs() <= from {
			break
		}
		total += min(wait.EndNs(), to) - max(wait.TimeNs, from)
	}
	return max(0, min(total, to-from))
}

// Within are the samples of a list, which is in order of time, that begin within a stretch.
func Within(samples []*recording.Sample, from, to int64) []*recording.Sample {
	first := sort.Search(len(samples), func(i int) bool { return samples[i].TimeNs >= from })
	samples = samples[first:]
	return samples[:sort.Search(len(samples), func(i int) bool { return samples[i].TimeNs >= to })]
}

// Touching are the samples of a list whose slices a stretch touches.
func (r *Run) Touching(samples []*recording.Sample, from, to int64) []*recording.Sample {
	return Within(samples, from-r.SliceNs+1, to)
}

// Value is the time that samples stand for.
func Value(samples []*recording.Sample) (sum int64) {
	for _, sample := range samples {
		sum += sample.ValueNs
	}
	return sum
}

// awake reports whether a thread was seen out of a wait within a stretch.
func (t *Thread) awake(from, to int64) bool {
	if Value(Within(t.CPU, from, to)) > 0 {
		return true
	}
	wait := t.WaitBefore(to)
	return wait != nil && wait.EndNs() > from
}

// sleptWithin reports whether a timer ended a wait of a thread during another's wait.
func (t *Thread) sleptWithin(wait *recording.Wait) bool {
	for _, its := range slices.Backward(t.WaitsBefore(wait.WokenNs())) {
		if its.WokenNs() <= wait.TimeNs {
			return false
		}
		if its.WakerKind == recording.WakerTimer {
			return true
		}
	}
	return false
}

// timerWaits is how many waits of a thread a timer ended.
func (t *Thread) timerWaits() (woken int64) {
	for _, wait := range t.Waits {
		if wait.WakerKind == recording.WakerTimer && wait.BlockedNs > 0 {
			woken++
		}
	}
	return woken
}

// mostRun is the thread that ran most within a stretch, of those that match and ran for longer.
func (r *Run) mostRun(match func(*Thread) bool, from, to, longerThan int64) (busiest *Thread) {
	for _, t := range r.Threads {
		if !match(t) {
			continue
		}
		if ran := Value(Within(t.CPU, from, to)); ran > longerThan {
			busiest, longerThan = t, ran
		}
	}
	return busiest
}
