package prepare

import (
	"testing"

	"culprit/recording"
)

// A part of a host has what its processes did, and of others only how much of the CPUs they used.
func TestOfProcesses(t *testing.T) {
	builder := recording.NewBuilder()
	stack := builder.Stack([]int32{builder.Frame(recording.Frame{Name: "main"})})
	rec := &recording.Recording{Manifest: recording.Manifest{WindowNs: 10e9, Target: recording.Target{Kind: "host"}},
		Processes: []recording.Process{{Pid: 1}, {Pid: 2}, {Pid: 3}},
		Threads: []recording.Thread{{Pid: 1, Tid: 1, CPUNs: 4e9}, {Pid: 2, Tid: 2, CPUNs: 2e9},
			{Pid: 3, Tid: 3, CPUNs: 1e9}},
		Samples: []recording.Sample{
			{Signal: recording.SignalCPU, Pid: 1, Stack: stack, Count: 1, ValueNs: 4e9, Target: true},
			{Signal: recording.SignalCPU, Pid: 3, Tid: 3, Stack: stack, Count: 1, ValueNs: 3e8, Target: true},
			{Signal: recording.SignalCPU, Pid: 3, Tid: 4, Stack: stack, Count: 2, ValueNs: 7e8, Target: true},
			{Signal: recording.SignalOffCPU, Pid: 3, Stack: recording.NoStack, ValueNs: 9e9, Target: true}},
		Waits: []recording.Wait{{Pid: 1, Stack: stack, WakerStack: -1}, {Pid: 3, Stack: stack, WakerStack: -1}}}
	other := builder.Stack([]int32{builder.Frame(recording.Frame{Name: "other", BuildID: "b1"})})
	rec.Samples[2].Stack = other
	builder.Into(rec)
	rec.Block = []recording.Block{{Device: "vda", Pid: 1, Target: true}, {Device: "vda", Pid: 3, Target: true}}
	rec.Requests = []recording.Request{{Pid: 1, Count: 5}, {Pid: 3, Count: 7}}
	rec.SlowRequests = []recording.SlowRequest{{ID: 8, Pid: 1}, {ID: 9, Pid: 3}}
	rec.RequestParts = []recording.RequestPart{{Request: 8}, {Request: 9}, {Request: 9}}
	part := Of(rec, []int32{1, 2}, "service web")
	if len(part.Processes) != 2 || len(part.Threads) != 2 || len(part.Waits) != 1 || len(part.Requests) != 1 ||
		len(part.SlowRequests) != 1 || len(part.RequestParts) != 1 || part.Manifest.Target.Words() != "service web" {
		t.Errorf("the part is %+v", part)
	}
	if len(part.Samples) != 2 || !part.Samples[0].Target || part.Samples[1].Target ||
		part.Samples[1].ValueNs != 1e9 || part.Samples[1].Count != 3 || part.Samples[1].Stack != recording.NoStack {
		t.Errorf("samples %+v", part.Samples)
	}
	if part.Frames[0].Name != "main" || part.Frames[1].BuildID != "" || rec.Frames[1].BuildID != "b1" {
		t.Errorf("frames %+v", part.Frames)
	}
	if !part.Block[0].Target || part.Block[1].Target || !rec.Block[1].Target {
		t.Errorf("block %+v, before %+v", part.Block, rec.Block)
	}
	if got := Measured(part).Manifest.Metrics[recording.MetricCPU]; got != 6 {
		t.Errorf("CPU time %g s, want 6", got)
	}
}
