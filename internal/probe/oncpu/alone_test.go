package oncpu

import (
	"testing"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/unwind"
)

// A thread is alone where no other one of its process is sampled on another CPU at the same tick;
// in memory that processes share, none of any process.
func TestAlone(t *testing.T) {
	const period = 10_000_000
	sample := func(tick int64, lag int64, pid, tid, cpu int32) unwind.Trace {
		return unwind.Trace{KtimeNs: tick*period + lag, Pid: pid, Tid: tid, CPU: cpu}
	}
	left := sample(4, 0, 9, 2, 1)
	left.LeftCPU = true
	window := &bpf.Window{Traces: []unwind.Trace{
		sample(1, 0, 9, 1, 0), sample(1, 30_000, 9, 2, 1), // both run
		sample(2, 0, 9, 1, 0), sample(2, 30_000, 8, 7, 1), // a stranger has the other CPU
		sample(3, 0, 9, 1, 0), sample(3, 4_000_000, 9, 2, 0), // one CPU goes from one to the other
		sample(4, 0, 9, 1, 0), left, // who leaves a CPU was not sampled by the clock
		sample(5, 0, 9, 1, 0), sample(5, 4_000_000, 9, 2, 1), // clocks that are not in step
	}}
	running := runningIn(window, period)
	for i, want := range map[int][2]bool{0: {false, false}, 1: {false, false}, 2: {true, false}, 4: {true, true},
		6: {true, true}, 8: {false, false}} {
		own := &window.Traces[i]
		for j, in := range []lineOf{{pid: own.Pid}, {memory: 1}} {
			if got := running.alone(own, in); got != want[j] {
				t.Errorf("sample %d in %+v: alone %v, want %v", i, in, got, want[j])
			}
		}
	}
}
