package cause

import (
	"slices"
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// A loop that sleeps for tokio's tasks shows its own functions alone: who sleeps is whoever was
// seen beginning to, and where each sleep is as long as before, it is said that the same may go one
// after the other.
func TestSleepsOfTasks(t *testing.T) {
	native := func(names ...string) (frames []recording.Frame) {
		for _, name := range names {
			frames = append(frames, recording.Frame{Name: name, Kind: recording.KindNative, Module: "/srv/desk"})
		}
		return frames
	}
	const task = "tokio::runtime::task::raw::RawTask::poll"
	loop := native("tokio::runtime::driver::Driver::park", "mio::sys::unix::selector::Selector::select")
	begins := native(task, "desk::place::{{closure}}", "<tokio::time::sleep::Sleep as core::future::future::Future>::poll")
	for _, test := range []struct {
		name     string
		length   sides // of each sleep, in seconds
		asBefore bool
	}{{"as long", sides{0.002, 0.0021}, true}, {"longer", sides{0.002, 0.02}, false}} {
		sleep := compare.Wait{Path: compare.Path{Kind: compare.Blocked, Process: "desk", Frames: loop, Syscall: "epoll_wait",
			WakerKind: recording.WakerTimer, A: three(0.5), B: three(1.5)},
			CountA: three(0.5 / test.length.a), CountB: three(1.5 / test.length.b)}
		cpu := &compare.Result{Metric: compare.MetricCPU, A: three(0.01), B: three(0.02),
			Paths: []compare.Path{{Kind: compare.Running, Process: "desk", Frames: begins, A: three(0.01), B: three(0.02)}}}
		suspects := Judge(Input{CPU: cpu, Result: &compare.Result{Metric: compare.MetricWall, A: three(0.6), B: three(1.6),
			Paths: []compare.Path{sleep.Path}, Waits: []compare.Wait{sleep}}}).Suspects
		if len(suspects) == 0 || suspects[0].Cause != "sleep.deliberate" {
			t.Errorf("%s: %s", test.name, described(suspects))
			continue
		}
		if where := suspects[0].Where[0]; !strings.HasSuffix(where, "desk::place::{{closure}}") {
			t.Errorf("%s: where %q, want who sleeps", test.name, where)
		}
		if advised := strings.Contains(suspects[0].Remedy, byTurnsRemedy); advised != test.asBefore ||
			!slices.Contains(suspects[0].Against, unseenInLoop) {
			t.Errorf("%s: remedy %q, against %q", test.name, suspects[0].Remedy, suspects[0].Against)
		}
	}
}
