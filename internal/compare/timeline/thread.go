package timeline

import (
	"slices"
	"sort"

	"culprit/internal/compare/perrun"
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

// slicesAsked is how many slices a wait for a CPU is searched for who ran. Chosen: a long wait
// shows them in its first thousand as well.
const slicesAsked = 1000

// WhoRan names who had the CPU that a thread waited for: as the scheduler says, else whoever took
// most samples meanwhile. Nobody is an answer: a quota, or the hypervisor.
func (r *Run) WhoRan(t *Thread, wait *recording.Wait, from, to int64) (comm string, own bool) {
	if wait.RunnerPid != 0 || wait.RunnerComm != "" {
		if wait.Runner() == "" {
			return "", false
		}
		return r.runnerName(t, wait.RunnerPid, wait.RunnerComm)
	}
	type runner struct {
		comm string
		own  bool
	}
	ran, most := map[runner]int64{}, int64(0)
	for at := from / r.SliceNs; at*r.SliceNs < to && at < from/r.SliceNs+slicesAsked; at++ {
		for _, sample := range r.slices[at] {
			if sample.Tid != t.Tid || !sample.Target {
				comm, own := r.runnerName(t, sample.Pid, sample.Comm)
				ran[runner{comm, own}] += sample.ValueNs
			}
		}
	}
	for one, valueNs := range ran {
		if valueNs > most || valueNs == most && (one.comm < comm || one.comm == comm && one.own) {
			comm, own, most = one.comm, one.own, valueNs
		}
	}
	return comm, own
}

// runnerName is the name of whoever ran: of the process where it is the waiting thread's own.
func (r *Run) runnerName(t *Thread, pid int32, comm string) (name string, own bool) {
	p := r.process[pid]
	if p != nil && pid == t.Pid {
		return p.Name, true
	}
	return comm, p != nil
}

// TopStack is the stack that a thread was seen in most within a stretch, names.None for none.
func (r *Run) TopStack(t *Thread, from, to int64) int32 {
	seen := map[int32]int64{}
	for _, sample := range r.Touching(t.CPU, from, to) {
		seen[r.Stack(sample.Stack)] += sample.ValueNs
	}
	top, _ := perrun.Largest(seen)
	return top
}
