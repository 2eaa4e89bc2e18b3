package cause

import (
	"slices"
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// A service sleeps on purpose on both sides: who waits for its answer is told where that grew by as
// much, in a pool that takes turns also where all together wait as long as before; locks and what
// others sent are another matter.
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
		c := &claim{cause: SleepDeliberate, members: []int{0}}
		s.tellAwaiting(c, test.turns)
		told := slices.ContainsFunc(c.where(), func(where string) bool {
			return strings.TrimPrefix(where, "waited for in ") == "serve;rate;recvfrom"
		})
		if told != test.want || len(c.where()) > 1 {
			t.Errorf("%s: where %q, want the place told: %v", test.name, c.where(), test.want)
		}
	}
}

// Where the sleeps are as before and it is who waits for them that changed, that goes first.
func TestWhoWaitsGoesFirst(t *testing.T) {
	frame := func(name string) recording.Frame { return recording.Frame{Name: name, Kind: recording.KindNative} }
	loop := []recording.Frame{frame("answer"), frame("uv__io_poll"), frame("epoll_wait")}
	nap := []recording.Frame{frame("answer"), frame("usleep")}
	wait := func(frames []recording.Frame, call, waker string, a, b, countA, countB float64) compare.Wait {
		return compare.Wait{Path: compare.Path{Kind: compare.Blocked, Process: "prog", Frames: frames, Syscall: call,
			WakerKind: waker, WakerOwn: waker == recording.WakerThread, A: three(a), B: three(b)},
			CountA: three(countA), CountB: three(countB)}
	}
	for _, test := range []struct {
		name         string
		frames       []recording.Frame
		slept        sides // over all threads
		times        sides
		waited       float64 // on side A
		first, named string
	}{
		{"a blocking call in a loop of many", nap, sides{0.8, 0.8}, sides{200, 200}, 0, "ask;recvfrom", "sleeps in answer"},
		{"more of them follow each other", nap, sides{0.2, 0.8}, sides{50, 200}, 0, "ask;recvfrom", "sleeps in answer"},
		{"a loop that was interrupted", loop, sides{0.2, 0.8}, sides{90, 200}, 0, "ask;recvfrom", "sleeps in answer"},
		{"each is longer", nap, sides{0.2, 0.8}, sides{200, 200}, 0, "answer", "waited for in ask;recvfrom"},
		{"nobody slept before", nap, sides{0, 0.8}, sides{0, 200}, 0, "answer", "waited for in ask;recvfrom"},
		{"it waited before", nap, sides{0.2, 0.8}, sides{50, 200}, 0.2, "answer", "waited for in ask;recvfrom"},
	} {
		sleep := wait(test.frames, "clock_nanosleep", recording.WakerTimer, test.slept.a, test.slept.b, test.times.a,
			test.times.b)
		onTheWay := sleep.Path
		onTheWay.A, onTheWay.B = three(0.1), three(0.8)
		client := wait([]recording.Frame{frame("ask"), frame("recv")}, "recvfrom", recording.WakerThread, test.waited, 0.9,
			200, 200)
		suspects := Judge(Input{Result: &compare.Result{Metric: compare.MetricWall, A: three(1), B: three(1.7),
			Paths: []compare.Path{onTheWay}, Waits: []compare.Wait{sleep, client}}}).Suspects
		if len(suspects) == 0 || suspects[0].Cause != "sleep.deliberate" {
			t.Errorf("%s: %s", test.name, described(suspects))
			continue
		}
		where := suspects[0].Where
		if where[0] != test.first || !slices.Contains(where, test.named) {
			t.Errorf("%s: where %q, want %s first, and %s", test.name, where, test.first, test.named)
		}
		if waits := suspects[0].Claim == awaitClaim; waits != (test.first == "ask;recvfrom") {
			t.Errorf("%s: claim %q", test.name, suspects[0].Claim)
		}
	}
}
