package timeline

import (
	"testing"

	"culprit/internal/compare/names"
	"culprit/recording"
)

// On a busy host a ticker's thread waits for a CPU at each tick: it is not at work then.
func TestTickerOnABusyHost(t *testing.T) {
	const tickNs, ticks = 1e6, 500
	r := &Run{EndNs: tickNs * ticks, Names: names.New(nil, nil, nil)}
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

// A recording keeps waits from a millisecond on: of a faster ticker it has the rhythm, and no
// waits.
func TestTickerWhoseWaitsAreNotKept(t *testing.T) {
	const tickNs, ticks = 1e6, 500
	row := recording.Wakeup{Pid: 1, Tid: 2, WakerKind: recording.WakerTimer, Count: ticks, IntervalNs: tickNs,
		SpreadNs: tickNs / 10, CPUNs: tickNs * ticks / 50}
	ticked := func(change func(*recording.Wakeup), kept int) int64 {
		changed := row
		change(&changed)
		one := &Thread{Pid: 1, Tid: 2, Comm: "prog"}
		for i := range int64(kept) {
			one.Waits = append(one.Waits, &recording.Wait{TimeNs: i * i * tickNs, BlockedNs: tickNs,
				WakerKind: recording.WakerTimer})
		}
		r := &Run{Recording: &recording.Recording{Evidence: recording.Evidence{Wakeups: []recording.Wakeup{changed}}},
			EndNs: tickNs * ticks, Threads: []*Thread{one}, Names: names.New(nil, nil, nil)}
		r.setTicking()
		if !one.Rhythm {
			return 0
		}
		return one.TimerWakes
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

// The only worker of a service sleeps for each request: under load that is as regular as a ticker.
// The timer of an event loop that answers requests is one.
func TestSleepsForRequests(t *testing.T) {
	const tickNs, ticks = 2e6, 200
	for call, want := range map[string]bool{"clock_nanosleep": false, "futex": false, "epoll_wait": true} {
		rec := &recording.Recording{Manifest: recording.Manifest{WindowNs: tickNs * ticks},
			Processes: []recording.Process{{Pid: 1, Comm: "shop"}}}
		for i := range int64(ticks) {
			rec.Waits = append(rec.Waits, recording.Wait{Pid: 1, Tid: 2, TimeNs: i * tickNs, BlockedNs: tickNs * 0.95,
				WakerKind: recording.WakerTimer, Syscall: call, Stack: recording.NoStack})
		}
		pool := names.New([]*recording.Recording{rec}, nil, nil)
		if !New(rec, pool).Thread(2).Ticking {
			t.Errorf("%s: no ticker", call)
		}
		rec.SlowRequests = []recording.SlowRequest{{Pid: 1, Tid: 2}}
		if r := New(rec, pool); r.Thread(2).Ticking != want || len(r.ProcessTicks()) > 0 != want {
			t.Errorf("%s in a thread that answers requests: ticking %t, want %t", call, r.Thread(2).Ticking, want)
		}
	}
}

// A thread that refreshes what others answer with sleeps between two refreshes, for nobody. A
// worker that waits for work in between sleeps for who handed it over.
func TestWorksByTheClock(t *testing.T) {
	const rounds = 100
	refreshes := func(change func(i int64, wait *recording.Wait), requests ...recording.SlowRequest) bool {
		rec := &recording.Recording{Manifest: recording.Manifest{WindowNs: rounds * 40e6},
			Processes: []recording.Process{{Pid: 1, Comm: "shop"}}}
		rec.SlowRequests = requests
		for i := range int64(rounds) {
			wait := recording.Wait{Pid: 1, Tid: 2, TimeNs: i * 40e6, BlockedNs: 30e6 + i%7*1e6,
				WakerKind: recording.WakerTimer, Syscall: "clock_nanosleep", Stack: recording.NoStack}
			change(i, &wait)
			rec.Waits = append(rec.Waits, wait)
		}
		r := New(rec, names.New([]*recording.Recording{rec}, nil, nil))
		return r.ByTheClock(r.Thread(2))
	}
	same := func(int64, *recording.Wait) {}
	handed := func(i int64, wait *recording.Wait) {
		if i%2 == 0 {
			wait.WakerKind, wait.WakerTid, wait.Syscall = recording.WakerThread, 3, "futex"
		}
	}
	if !refreshes(same, recording.SlowRequest{Pid: 1, Tid: 3}) {
		t.Error("beside the threads that answer: not by the clock")
	}
	if refreshes(same, recording.SlowRequest{Pid: 1, Tid: 2}) || refreshes(same) ||
		refreshes(handed, recording.SlowRequest{Pid: 1, Tid: 3}) {
		t.Error("who answers, of whom no requests are known, or is handed work, is taken for a refresher")
	}
}
