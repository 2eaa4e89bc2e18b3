package compare_test

import (
	"math"
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// retires adds so many samples of a stack by each of the two counters, each worth 1e6 events.
func (m *made) retires(stack string, cycles, instructions int) *made {
	for signal, count := range map[string]int{recording.SignalCycles: cycles, recording.SignalInstructions: instructions} {
		for i := range count {
			m.rec.Samples = append(m.rec.Samples, recording.Sample{Signal: signal, TimeNs: int64(i) * ms, Pid: 10, Tid: 10,
				CPU: -1, Stack: m.stack(stack), Count: 1, ValueNs: 1e6, Target: true, Comm: "prog"})
		}
	}
	return m
}

// Each node of the profile has the cycles per instruction of what was sampled at and below it.
func TestCyclesPerInstructionByFrame(t *testing.T) {
	side := func(slow int) (runs []*recording.Recording) {
		for range 3 {
			m := newMade(1, 1)
			m.runs(10, 10, 0, 500*ms, "main;quick").runs(10, 10, 500*ms, 990*ms, "main;slow").
				runs(10, 10, 990*ms, 1000*ms, "main;seldom")
			m.retires("main;quick", 50, 200).retires("main;slow", slow, 50).retires("main;seldom", 1, 2).
				retires("main;slow;unsampled", 50, 100) // by the clock
			runs = append(runs, m.rec)
		}
		return runs
	}
	result := compared(t, compare.MetricCPU, side(100), side(300))
	all := [2]float64{201.0 / 352, 401.0 / 352}
	want := map[string][2]float64{"quick": {0.25, 0.25}, "slow": {1, 350.0 / 150}, "main": all, "all": all}
	for _, node := range result.Profile.Nodes {
		ratios, told := want[node.Name]
		if told != (node.CPIA != nil && node.CPIB != nil) {
			t.Errorf("%s: %v, %v", node.Name, node.CPIA, node.CPIB)
			continue
		}
		if told && (math.Abs(node.CPIA.Value-ratios[0]) > 1e-9 || math.Abs(node.CPIB.Value-ratios[1]) > 1e-9 ||
			node.CPIA.Low >= node.CPIA.Value || node.CPIA.High <= node.CPIA.Value) {
			t.Errorf("%s: %v, %v; want %v", node.Name, node.CPIA, node.CPIB, ratios)
		}
		delete(want, node.Name)
	}
	if len(want) > 0 {
		t.Errorf("not among the nodes: %v", want)
	}
}

// Where one recording was not sampled by both, nothing is said: its side would look as if it
// retired nothing.
func TestCyclesPerInstructionOfAll(t *testing.T) {
	with := newMade(1, 1).runs(10, 10, 0, 900*ms, "main;work").retires("main;work", 100, 100)
	without := newMade(1, 1).runs(10, 10, 0, 900*ms, "main;work")
	result := compared(t, compare.MetricCPU, []*recording.Recording{with.rec}, []*recording.Recording{without.rec})
	if result.Retired != nil || result.Profile.Nodes[0].CPIA != nil {
		t.Errorf("%+v", result.Retired)
	}
}

// Samples stand for what was counted in all, where both events were: late interrupts lose the same
// part of every function, but not the same of both events.
func TestCyclesPerInstructionAsCounted(t *testing.T) {
	run := func(counters ...recording.Counter) []*recording.Recording {
		m := newMade(1, 1).runs(10, 10, 0, 900*ms, "main;work").retires("main;work", 100, 50)
		m.rec.Counters = counters
		return []*recording.Recording{m.rec}
	}
	count := func(name string, value int64) recording.Counter {
		return recording.Counter{Name: name, Scope: recording.ScopeTarget, Value: value, EnabledNs: 10, RunningNs: 10}
	}
	both := run(count("cycles", 800e6), count("instructions", 400e6))
	for name, other := range map[string][]*recording.Recording{"both": run(count("cycles", 800e6),
		count("instructions", 200e6)), "one": run(count("cycles", 800e6)), "none": run()} {
		result := compared(t, compare.MetricCPU, both, other)
		if len(result.Retired) != 1 {
			t.Fatalf("%s: %+v", name, result.Retired)
		}
		of := result.Retired[0]
		want := [4]float64{100e6, 50e6, 100e6, 50e6} // not of one side alone
		if name == "both" {
			want = [4]float64{800e6, 400e6, 800e6, 200e6}
		}
		got := [4]float64{of.Cycles.A[0], of.Instructions.A[0], of.Cycles.B[0], of.Instructions.B[0]}
		if got != want || math.Abs(of.Cycles.SeenB-100) > 1e-6 {
			t.Errorf("%s: %v of %+v", name, got, of)
		}
	}
}
