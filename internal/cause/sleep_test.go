package cause

import (
	"slices"
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// A service sleeps on purpose on both sides: who waits for its answer is told where that grew by as much, in a pool
// that takes turns also where all together wait as long as before; locks and what others sent are another matter.
func TestWhoWaitsForASleeper(t *testing.T) {
	frames := []recording.Frame{{Name: "serve", Kind: recording.KindPython, File: "/srv/fx.py"},
		{Name: "rate", Kind: recording.KindPython, File: "/srv/fx.py"},
		{Name: "wait_woken", Kind: recording.KindKernel}}
	sleeping := compare.Path{Kind: compare.Blocked, Syscall: "epoll_wait", WakerKind: recording.WakerTimer,
		A: []float64{0.1}, B: []float64{0.8}}
	answer := func(a, b float64, change func(*compare.Wait)) []compare.Wait {
		wait := compare.Wait{Path: compare.Path{Kind: compare.Blocked, Frames: frames, Syscall: "recvfrom",
			WakerKind: recording.WakerThread, WakerOwn: true, A: []float64{a}, B: []float64{b}},
			CountA: []float64{1}, CountB: []float64{1}}
		change(&wait)
		return []compare.Wait{wait}
	}
	same := func(*compare.Wait) {}
	for _, test := range []struct {
		name  string
		waits []compare.Wait
		turns bool
		want  bool
	}{
		{"one after the other now", answer(0, 0.8, same), false, true},
		{"a smaller pool", answer(2, 2, same), true, true},
		{"as long as before, and no pool", answer(2, 2, same), false, false},
		{"hardly", answer(0, 0.1, same), false, false},
		{"for a lock", answer(0, 0.8, func(w *compare.Wait) { w.Lock, w.Syscall = true, "futex" }), false, false},
		{"for somebody outside", answer(0, 0.8, func(w *compare.Wait) { w.WakerOwn = false }), false, false},
		{"for the clock", answer(0, 0.8, func(w *compare.Wait) { w.WakerKind = recording.WakerTimer }), false, false},
	} {
		s := newScene(Input{Result: &compare.Result{Metric: compare.MetricWall, A: []float64{1}, B: []float64{1.7},
			Paths: []compare.Path{sleeping}, Waits: test.waits}})
		c := &claim{id: "sleep.deliberate", members: []int{0}}
		s.tellAwaiting(c, test.turns)
		if told := slices.Contains(c.where, "waited for in serve;rate;recvfrom"); told != test.want || len(c.where) > 1 {
			t.Errorf("%s: where %q, want the place told: %v", test.name, c.where, test.want)
		}
	}
}
