package compare_test

import (
	"math"
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// TestThreadForEachRequest: a thread of 0.4 ms serves each of 200 connections, and every fifth is
// caught by a sample of 1 ms; the loop that accepts them, and a quick ticker that lives on, are
// booked by their own accounts.
func TestThreadForEachRequest(t *testing.T) {
	m := newMade(1, 0.25)
	m.runs(10, 10, 0, 100*ms, "main;accept_loop")
	m.rec.Threads[0].CPUNs = 120 * ms
	for i := range int64(200) {
		tid := int32(1000 + i)
		m.rec.Threads = append(m.rec.Threads, recording.Thread{Pid: 10, Tid: tid, Comm: "prog",
			StartNs: (100 + 4*i) * ms, EndNs: (101 + 4*i) * ms, CPUNs: 4 * ms / 10})
		if i%5 == 0 {
			m.runs(10, tid, (100+4*i)*ms, (101+4*i)*ms, "start_thread;serve")
		}
	}
	m.rec.Threads = append(m.rec.Threads, recording.Thread{Pid: 10, Tid: 99, Comm: "prog", StartNs: 1, CPUNs: 50 * ms})
	m.rec.Samples = append(m.rec.Samples, recording.Sample{Signal: recording.SignalCPU, TimeNs: ms, Pid: 10, Tid: 99,
		Stack: m.stack("tick"), Count: 1, ValueNs: ms, Target: true, Comm: "prog"})
	got := map[string]float64{}
	for _, path := range compared(t, compare.MetricCPU, []*recording.Recording{m.rec}, nil).Paths {
		name := "no stack"
		if n := len(path.Frames); n > 0 {
			name = path.Frames[n-1].Name
		}
		got[name] += path.A[0]
	}
	for name, want := range map[string]float64{"accept_loop": 0.12, "serve": 0.08, "tick": 0.05, "no stack": 0} {
		if math.Abs(got[name]-want) > 1e-6 {
			t.Errorf("%s: %v s, want %v", name, got[name], want)
		}
	}
}
