package investigate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/units"
	"culprit/internal/explain"
	"culprit/internal/stat"
	"culprit/internal/trial"
	"culprit/recording"
)

// madeRun is one run of a command that works for some milliseconds, is in write for some, and
// sleeps for some, several times.
func madeRun(workMs, writeMs, sleepMs, calls int64) *recording.Recording {
	const ms = int64(1e6)
	const sleeps = 5
	wall := (workMs + writeMs + sleeps*sleepMs) * ms
	rec := &recording.Recording{Manifest: recording.Manifest{Schema: recording.SchemaVersion,
		Host: "elsewhere", Kernel: "6.1", Hz: 1000, SliceNs: ms, WindowNs: wall,
		Target: recording.Target{Kind: "command", Command: "prog", Pid: 10},
		Metrics: map[string]float64{trial.MetricWall: float64(wall) / 1e9,
			trial.MetricCPU: float64((workMs+writeMs)*ms) / 1e9}}}
	native := func(name string) {
		rec.Frames = append(rec.Frames,
			recording.Frame{Name: name, Kind: recording.KindNative, Module: "prog"})
	}
	kernel := func(name string) {
		rec.Frames = append(rec.Frames, recording.Frame{Name: name, Kind: recording.KindKernel})
	}
	native("main")
	native("work")
	native("save")
	native("pause")
	kernel("__x64_sys_write")
	kernel("__x64_sys_clock_nanosleep")
	kernel("hrtimer_nanosleep")
	rec.Stacks = []recording.Stack{{Frames: []int32{0, 1}}, {Frames: []int32{0, 2, 4}},
		{Frames: []int32{0, 3, 5, 6}}}
	rec.Processes = []recording.Process{{Pid: 10, Ppid: 1, Comm: "prog", Command: "/bin/prog",
		EndNs: wall, CPUNs: (workMs + writeMs) * ms}}
	rec.Threads = []recording.Thread{{Pid: 10, Tid: 10, Comm: "prog",
		CPUNs: (workMs + writeMs) * ms}}
	rec.Syscalls = []recording.Syscall{
		{Pid: 10, Tid: 10, Comm: "prog", Name: "write", Count: calls, Bytes: 8 * calls},
		{Pid: 10, Tid: 10, Comm: "prog", Name: "clock_nanosleep", Count: sleeps}}
	at := int64(0)
	run := func(stack int32, lengthMs int64) {
		for range lengthMs {
			rec.Samples = append(rec.Samples, recording.Sample{Signal: recording.SignalCPU,
				TimeNs: at, Pid: 10, Tid: 10, Stack: stack, Count: 1, ValueNs: ms, Target: true,
				Comm: "prog"})
			at += ms
		}
	}
	run(1, writeMs)
	for range sleeps {
		run(0, workMs/sleeps)
		rec.Waits = append(rec.Waits, recording.Wait{TimeNs: at, BlockedNs: sleepMs * ms, Pid: 10,
			Tid: 10, Stack: 2, Syscall: "clock_nanosleep", State: "S", WakerKind: recording.WakerTimer,
			WakerStack: recording.NoStack})
		at += sleepMs * ms
	}
	run(0, workMs%sleeps)
	return rec
}

// investigated is an investigation whose trials showed what its recordings show, of which some
// are in its case.
func investigated(t *testing.T, a, b []*recording.Recording) (*investigation, *evidence) {
	t.Helper()
	inv := &investigation{dir: t.TempDir(), options: Options{A: "prog", B: "prog",
		Metric: MetricChoice{Auto: true}, Progress: func(string) {}}, c: &Case{}}
	inv.costs = map[string]compare.Interval{"syscall.bare": {Value: 100, Low: 95, High: 105}}
	if b != nil {
		inv.c.B = &SideSummary{}
	}
	folder := filepath.Join(inv.dir, explain.Recordings)
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	found := &evidence{}
	for side, group := range map[string][]*recording.Recording{sideA: a, sideB: b} {
		for i, rec := range group {
			path := filepath.Join(folder, fmt.Sprintf("%s-%d.culprit", side, i+1))
			if err := recording.Write(path, rec); err != nil {
				t.Fatal(err)
			}
			found.add(side, path, rec)
			inv.runs = append(inv.runs, trial.Run{Side: side, Pair: i, Kind: trial.KindMeasure,
				Valid: true, Metrics: rec.Manifest.Metrics})
		}
	}
	for _, name := range []string{trial.MetricWall, trial.MetricCPU} {
		medianA := stat.Middle(trial.Values(inv.runs, name, sideA))
		medianB := stat.Middle(trial.Values(inv.runs, name, sideB))
		ratio := medianB / medianA
		outcome := Worse
		if ratio < 1.02 {
			outcome = Same
		}
		inv.c.Metrics = append(inv.c.Metrics, MetricResult{Metric: inv.options.Metric.Of(name),
			Outcome: outcome, MedianA: medianA, MedianB: medianB,
			Effect: cause.Effect{Ratio: ratio, Low: ratio * 0.98, High: ratio * 1.02}})
	}
	if b == nil {
		inv.c.Metrics = nil
		inv.list()
	} else {
		inv.choose()
	}
	return inv, found
}

// The same recordings name the same suspects, of the same shares, whichever verb is asked:
// investigate (at its end, and when it asks whether more are needed), compare, explain CASE.
func TestTheSameRecordingsGiveTheSameSuspects(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	side := func(workMs, writeMs, sleepMs, calls int64) (group []*recording.Recording) {
		for range 4 {
			group = append(group, madeRun(workMs+random.Int64N(5), writeMs, sleepMs, calls))
		}
		return group
	}
	for name, c := range map[string]struct {
		a, b   []*recording.Recording
		metric string
		cause  cause.ID
	}{
		"more system calls": {side(100, 50, 1, 1000), side(100, 150, 1, 100_000), trial.MetricCPU,
			"syscall.chatty"},
		"longer sleeps": {side(100, 10, 5, 10), side(100, 10, 60, 10), trial.MetricWall,
			"sleep.deliberate"},
		"code of its own": {side(100, 10, 5, 10), side(160, 10, 5, 10), trial.MetricCPU, "code.grew"},
	} {
		inv, found := investigated(t, c.a, c.b)
		if !inv.settled(context.Background(), found) {
			t.Errorf("%s: more recordings are wanted", name)
		}
		if err := inv.reason(context.Background(), found); err != nil {
			t.Fatal(err)
		}
		suspects := inv.c.Suspects
		if len(suspects) == 0 || suspects[0].Cause != c.cause || inv.c.Metric.Name != c.metric {
			t.Errorf("%s: %s of %+v, want %s of %s", name, inv.c.Metric.Name, suspects, c.metric,
				c.cause)
		}
		again, known, err := explain.Open(inv.dir)
		if err != nil {
			t.Fatal(err)
		}
		judged, err := again.Judge(*known)
		if err != nil || !reflect.DeepEqual(judged.Suspects, suspects) {
			t.Errorf("%s: explain CASE has %+v, %v, want %+v", name, judged, err, suspects)
		}
		compared, err := explain.Read(c.a, c.b, units.PerAuto)
		if err != nil {
			t.Fatal(err)
		}
		tested, _, err := compared.Test(explain.MetricAuto, 0.02)
		if err != nil {
			t.Fatal(err)
		}
		tested.Costs = inv.costs
		judged, err = compared.Judge(tested)
		if err != nil || !reflect.DeepEqual(bare(judged.Suspects), bare(suspects)) ||
			judged.Metric != c.metric {
			t.Errorf("%s: compare has %+v, %v, want %+v", name, judged, err, suspects)
		}
	}
}

// bare are suspects without what count × cost is held against: trials without the recorder, where
// there were any.
func bare(suspects []cause.Suspect) []cause.Suspect {
	kept := slices.Clone(suspects)
	for i := range kept {
		kept[i].Prediction = nil
	}
	return kept
}

// One side alone is about the same metric, and has the same suspects, in investigate -- CMD as in
// explain FILE of its recordings.
func TestOneSideIsToldAlike(t *testing.T) {
	for metric, rec := range map[string]*recording.Recording{
		trial.MetricWall: madeRun(100, 10, 60, 10), trial.MetricCPU: madeRun(100, 150, 5, 100_000)} {
		inv, found := investigated(t, []*recording.Recording{rec}, nil)
		if err := inv.reason(context.Background(), found); err != nil {
			t.Fatal(err)
		}
		alone, err := explain.Read(found.a, nil, units.PerAuto)
		if err != nil {
			t.Fatal(err)
		}
		chosen, err := alone.Alone(explain.MetricAuto)
		if err != nil || chosen != metric || inv.c.Metric.Name != metric {
			t.Fatalf("explained %s and %s, %v; want %s", chosen, inv.c.Metric.Name, err, metric)
		}
		judged, err := alone.Judge(explain.Context{Metric: chosen, Costs: inv.costs})
		if err != nil || !reflect.DeepEqual(judged.Suspects, inv.c.Suspects) {
			t.Errorf("%s: %+v, %v; want %+v", metric, judged.Suspects, err, inv.c.Suspects)
		}
	}
}
