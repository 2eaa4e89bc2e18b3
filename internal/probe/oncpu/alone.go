package oncpu

import (
	"cmp"
	"slices"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/unwind"
)

// A line costs something while its threads run at the same time. Where others have the CPUs they
// seldom do, and what they touch one after the other looks shared all the same: samples that were
// taken of a thread alone bound the cost.

// running are the samples of all threads of the target, whatever these did, by time.
type running struct {
	samples []*unwind.Trace
	halfNs  int64 // of the time between two samples of a CPU
}

func runningIn(window *bpf.Window, periodNs int64) running {
	r := running{halfNs: periodNs / 2}
	for i := range window.Traces {
		if trace := &window.Traces[i]; !trace.LeftCPU {
			r.samples = append(r.samples, trace)
		}
	}
	slices.SortFunc(r.samples, func(a, b *unwind.Trace) int { return cmp.Compare(a.KtimeNs, b.KtimeNs) })
	return r
}

// alone reports whether no other thread that has the memory of a line was sampled on another CPU at
// the same tick. The clocks of all CPUs need not be in step: each CPU has one sample within half a
// period.
func (r running) alone(own *unwind.Trace, in lineOf) bool {
	first, _ := slices.BinarySearchFunc(r.samples, own.KtimeNs-r.halfNs,
		func(trace *unwind.Trace, from int64) int { return cmp.Compare(trace.KtimeNs, from) })
	for _, other := range r.samples[first:] {
		if other.KtimeNs >= own.KtimeNs+r.halfNs {
			return true
		}
		if other.Tid != own.Tid && other.CPU != own.CPU && (in.memory != 0 || other.Pid == own.Pid) {
			return false
		}
	}
	return true
}
