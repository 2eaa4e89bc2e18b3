package compare

import (
	"testing"

	"culprit/recording"
)

// On a busy host a ticker's thread waits for a CPU at each tick: it is not at work then.
func TestTickerOnABusyHost(t *testing.T) {
	const tickNs, ticks = 1e6, 500
	r := &run{startNs: 0, endNs: tickNs * ticks}
	waits := func(queueNs int64) []*recording.Wait {
		var list []*recording.Wait
		for i := range int64(ticks) {
			list = append(list, &recording.Wait{TimeNs: i * tickNs, BlockedNs: 0.4 * tickNs, RunqueueNs: queueNs,
				WakerKind: recording.WakerTimer})
		}
		return list
	}
	if ticking, got := r.ticks(waits(0.55*tickNs), threadAsleep); !ticking || got != tickNs {
		t.Errorf("waits for a CPU at each tick: ticking %v every %d ns", ticking, got)
	}
	if ticking, _ := r.ticks(waits(0), threadAsleep); ticking {
		t.Error("works for more than half of the time, and is called a ticker")
	}
}

// A recording keeps waits from a millisecond on: of a faster ticker it has the rhythm, and no waits.
func TestTickerWhoseWaitsAreNotKept(t *testing.T) {
	const tickNs, ticks = 1e6, 500
	row := recording.Wakeup{Pid: 1, Tid: 2, WakerKind: recording.WakerTimer, Count: ticks, IntervalNs: tickNs,
		SpreadNs: tickNs / 10, CPUNs: tickNs * ticks / 50}
	ticked := func(change func(*recording.Wakeup), kept int) int64 {
		changed := row
		change(&changed)
		one := &thread{pid: 1, tid: 2, comm: "prog", endNs: tickNs * ticks}
		for i := range int64(kept) {
			one.waits = append(one.waits, &recording.Wait{TimeNs: i * i * tickNs, BlockedNs: tickNs,
				WakerKind: recording.WakerTimer})
		}
		r := &run{rec: &recording.Recording{Evidence: recording.Evidence{Wakeups: []recording.Wakeup{changed}}},
			endNs: tickNs * ticks, thread: map[int32]*thread{2: one}}
		r.setTicking()
		return one.ticked
	}
	if got := ticked(func(*recording.Wakeup) {}, 3); got != ticks {
		t.Errorf("%d ticks, want %d", got, ticks)
	}
	for name, change := range map[string]func(*recording.Wakeup){
		"woken by threads":  func(w *recording.Wakeup) { w.WakerKind = recording.WakerThread },
		"no fixed rate":     func(w *recording.Wakeup) { w.SpreadNs = tickNs },
		"for a short while": func(w *recording.Wakeup) { w.Count = ticks / 10 },
		"at work":           func(w *recording.Wakeup) { w.CPUNs = tickNs * ticks / 2 },
	} {
		if got := ticked(change, 0); got != 0 {
			t.Errorf("%s: %d ticks, want none", name, got)
		}
	}
	if got := ticked(func(*recording.Wakeup) {}, ticks*3/4); got != 0 {
		t.Errorf("most waits are kept and tell otherwise: %d ticks by the rhythm", got)
	}
}

// Go's run time naps for some microseconds while it looks for work (runtime.usleep): a nap and no ticker, however
// regular.
func TestNapsOfGoAreNoTicks(t *testing.T) {
	const tickNs, ticks = int64(200_000), 3000
	for _, test := range []struct {
		name, call, stack, work string
		ticking                 bool
	}{
		{"a nap", "nanosleep", "g:runtime.runqgrab;runtime.usleep;k:__x64_sys_nanosleep", "g:main.work", false},
		{"a nap whose stack is lost", "nanosleep", "k:__x64_sys_nanosleep", "g:main.work", false},
		{"a timer of Go", "futex", "g:runtime.findRunnable;runtime.notetsleep;k:__x64_sys_futex", "g:main.work", true},
		{"a sleep in C", "nanosleep", "main;poll;k:__x64_sys_nanosleep", "main;work", true},
		{"a sleep in C whose stack is lost", "nanosleep", "k:__x64_sys_nanosleep", "main;work", true},
	} {
		m := newMade(float64(tickNs*ticks)/1e9, 0.1)
		for i := range int64(ticks) {
			m.rec.Waits = append(m.rec.Waits, recording.Wait{TimeNs: i * tickNs, BlockedNs: tickNs * 9 / 10, Pid: 10, Tid: 10,
				Syscall: test.call, Stack: m.stack(test.stack), WakerKind: recording.WakerTimer, WakerStack: recording.NoStack})
		}
		m.rec.Samples = append(m.rec.Samples, recording.Sample{Signal: recording.SignalCPU, Pid: 10, Tid: 10, Count: 1,
			ValueNs: ms, Target: true, Stack: m.stack(test.work)})
		if _, ticking := newRun(m.rec, newPool()).processTicks()[10]; ticking != test.ticking {
			t.Errorf("%s: ticking %v", test.name, ticking)
		}
		for _, wait := range comparedPair(t, MetricWall, m.rec, m.rec).Waits {
			if wait.Nap == test.ticking {
				t.Errorf("%s: marked as a nap: %v", test.name, wait.Nap)
			}
		}
	}
}
