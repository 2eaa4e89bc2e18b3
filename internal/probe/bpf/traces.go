package bpf

import (
	"cmp"
	"slices"

	"culprit/internal/probe/unwind"
)

// ThreadTraces are unwound stacks by thread, in order of time.
type ThreadTraces map[int32][]*unwind.Trace

// TracesByThread are all stacks of the window.
func (w *Window) TracesByThread() ThreadTraces {
	return w.byThread(func(*unwind.Trace) bool { return true })
}

// SampledByThread are those that were taken by the clock: no other probe has claimed them.
func (w *Window) SampledByThread() ThreadTraces {
	return w.byThread(func(trace *unwind.Trace) bool { return !trace.LeftCPU })
}

func (w *Window) byThread(wanted func(*unwind.Trace) bool) ThreadTraces {
	traces := ThreadTraces{}
	for i := range w.Traces {
		if trace := &w.Traces[i]; wanted(trace) {
			traces[trace.Tid] = append(traces[trace.Tid], trace)
		}
	}
	for _, of := range traces {
		slices.SortFunc(of, func(a, b *unwind.Trace) int { return cmp.Compare(a.KtimeNs, b.KtimeNs) })
	}
	return traces
}

// First is the first stack of a thread from one time to another, both included; nil when there is
// none.
func (t ThreadTraces) First(tid int32, from, to int64) *unwind.Trace {
	traces := t[tid]
	if i := before(traces, from); i < len(traces) && traces[i].KtimeNs <= to {
		return traces[i]
	}
	return nil
}

// Unclaimed is First, without a stack that another probe has claimed.
func (t ThreadTraces) Unclaimed(tid int32, from, to int64) *unwind.Trace {
	if trace := t.First(tid, from, to); trace != nil && !trace.LeftCPU {
		return trace
	}
	return nil
}

// Within are the stacks of a thread from one time until before another.
func (t ThreadTraces) Within(tid int32, from, to int64) []*unwind.Trace {
	traces := t[tid]
	first := before(traces, from)
	return traces[first:max(first, before(traces, to))]
}

// before is how many of a thread's stacks were taken before a time.
func before(traces []*unwind.Trace, time int64) int {
	i, _ := slices.BinarySearchFunc(traces, time, func(trace *unwind.Trace, time int64) int {
		return cmp.Compare(trace.KtimeNs, time)
	})
	return i
}
