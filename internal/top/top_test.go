package top

import (
	"math"
	"testing"

	"culprit/recording"
)

// made is a second of a service with two threads: one runs in its own code, the other one in a call
// of it.
func made(busyMs int64) *recording.Recording {
	const ms = int64(1e6)
	rec := &recording.Recording{Manifest: recording.Manifest{Schema: recording.SchemaVersion, Hz: 1000, SliceNs: ms,
		WindowNs: 1000 * ms, Target: recording.Target{Kind: "pid", Pid: 10},
		Cost: recording.Cost{RecorderCPUNs: 20 * ms, BPFNs: map[string]int64{"x/y": 10 * ms}}}}
	for _, name := range []string{"main", "serve", "write"} {
		module := "prog"
		if name == "write" {
			module = "libc.so.6"
		}
		rec.Frames = append(rec.Frames, recording.Frame{Name: name, Kind: recording.KindNative, Module: module})
	}
	rec.Frames = append(rec.Frames, recording.Frame{Name: "__x64_sys_write", Kind: recording.KindKernel})
	rec.Stacks = []recording.Stack{{Frames: []int32{0, 1}}, {Frames: []int32{0, 1, 2, 3}}}
	rec.Processes = []recording.Process{{Pid: 10, Ppid: 1, Comm: "prog", EndNs: 1000 * ms, CPUNs: (busyMs + 100) * ms}}
	rec.Threads = []recording.Thread{{Pid: 10, Tid: 10, Comm: "prog", CPUNs: busyMs * ms},
		{Pid: 10, Tid: 11, Comm: "prog", CPUNs: 100 * ms}}
	add := func(at int64, tid, stack int32) {
		rec.Samples = append(rec.Samples, recording.Sample{Signal: recording.SignalCPU, TimeNs: at * ms, Pid: 10, Tid: tid,
			Stack: stack, Count: 1, ValueNs: ms, Target: true, Comm: "prog"})
	}
	for at := range busyMs {
		add(at, 10, 0)
	}
	for at := range int64(100) {
		add(at, 11, 1)
	}
	return rec
}

// Rows are by class and by the program's own function; they add up to what was used.
func TestOf(t *testing.T) {
	before, err := Of(made(200), nil)
	if err != nil {
		t.Fatal(err)
	}
	view, err := Of(made(500), before)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(view.CPUs-0.6) > 0.01 || math.Abs(view.Recorder-0.03) > 1e-9 {
		t.Errorf("%g CPUs, recorder %g", view.CPUs, view.Recorder)
	}
	want := map[Key]float64{{"cpu", "serve"}: 0.5, {"syscall", "serve"}: 0.1}
	if len(view.Rows) != len(want) {
		t.Fatalf("rows are %+v", view.Rows)
	}
	for _, row := range view.Rows {
		if math.Abs(row.Rate-want[row.Key()]) > 0.01 || len(row.Stacks) != 1 || !row.Known {
			t.Errorf("%+v, want %g", row, want[row.Key()])
		}
	}
	changed := view.Sorted(ByChange, All)
	if changed[0].Class != "cpu" || math.Abs(changed[0].Before-0.2) > 0.01 {
		t.Errorf("what changed most is %+v", changed[0])
	}
	if waits := view.Sorted(ByName, Waits); len(waits) != 0 {
		t.Errorf("nothing waited: %+v", waits)
	}
	if rows := view.Sorted(ByName, Runs); len(rows) != 2 {
		t.Errorf("what ran: %+v", rows)
	}
	if Next(Orders, ByName) != ByRate || Next(Orders, ByRate) != ByChange {
		t.Error("orders do not go round")
	}
}

// A look that was cut short takes longer to name than it was open: what recording takes is told of
// the time that it really took, and one thread takes no more than a CPU.
func TestCostOfAShortLook(t *testing.T) {
	const ms = int64(1e6)
	rec := made(500)
	rec.Manifest.WindowNs, rec.Manifest.Cost.BPFNs = 5*ms, map[string]int64{"x/y": ms / 2}
	rec.Manifest.Cost.RecorderCPUNs, rec.Manifest.Cost.RecorderNs = 174*ms, 300*ms
	view, err := Of(rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := 0.174/0.3 + 0.1; math.Abs(view.Recorder-want) > 1e-9 {
		t.Errorf("recording takes %g CPUs, want %g", view.Recorder, want)
	}
	rec.Manifest.Cost.RecorderNs = 0 // of an older recorder
	if view, err = Of(rec, nil); err != nil || math.Abs(view.Recorder-(174.0/5+0.1)) > 1e-9 {
		t.Errorf("without its time it takes %g CPUs, %v", view.Recorder, err)
	}
}

// Of a host the rows are what runs, by process: nobody waits for a host as a whole.
func TestOfAHost(t *testing.T) {
	rec := made(500)
	rec.Manifest.Target = recording.Target{Kind: "host"}
	view, err := Of(rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(view.Rows) != 2 || view.Rows[0].Key() != (Key{"cpu", "prog: serve"}) || view.Rows[1].Class != "syscall" ||
		math.Abs(view.Rows[0].Rate-0.5) > 0.01 || view.Rows[1].Name != "prog: serve" {
		t.Errorf("rows are %+v", view.Rows)
	}
}
