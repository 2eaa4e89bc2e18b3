package timeline

import (
	"strings"

	"culprit/internal/compare/perrun"
	"culprit/recording"
)

// slicesAsked is how many slices a wait for a CPU is searched for who ran. Chosen: a long wait
// shows them in its first thousand as well.
const slicesAsked = 1000

// WhoRan names who had the CPU that a thread waited for: as the scheduler says,
// else whoever took most samples meanwhile. Nobody is an answer: a quota, or the hypervisor.
func (r *Run) WhoRan(t *Thread, wait *recording.Wait, from, to int64) (comm string, own bool) {
	if wait.RunnerPid != 0 || wait.RunnerComm != "" {
		if wait.RunnerPid == 0 || strings.HasPrefix(wait.RunnerComm, "swapper/") {
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
	if other := r.thread[pid]; other != nil && r.process[pid] == nil {
		pid = other.Pid
	}
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
