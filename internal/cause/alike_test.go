package cause

import (
	"testing"

	"culprit/recording"
)

// alike are situations in which both sides suffer the same, and one has more to do: what they suffer is no cause.
func alike() []situation {
	limit := map[string]string{"target.cgroup.cpu.limit_cpus": "0.5"}
	queued := func(count int, runner string) []wait {
		return []wait{{count: count, runMs: 5, stack: work, waker: recording.WakerNone, runner: runner}}
	}
	tick := func(count int) []wait {
		return []wait{{tid: 101, count: count, ms: 0.95, call: "nanosleep", waker: recording.WakerTimer,
			stack: "start_thread;refresh"}}
	}
	const filter = toWrite + ";k:syscall_trace_enter;__seccomp_filter"
	nap := func(count int) []wait {
		return []wait{{count: count, ms: 5, call: "clock_nanosleep", waker: recording.WakerTimer,
			stack: "_start;main;retry;libc.so.6!clock_nanosleep;k:__x64_sys_clock_nanosleep"}}
	}
	return []situation{
		{name: "a thread that sleeps and works, both twice as much: it sleeps for nobody's work", metric: "wall",
			a:     plan{cpu: map[string]float64{work: 200}, waits: nap(60)},
			b:     plan{cpu: map[string]float64{work: 450}, waits: nap(120)},
			cause: "sleep.deliberate", place: "retry", low: 0.5, high: 0.6, level: Explains},
		{name: "a quota on both sides and twice the work", metric: "wall",
			a:     plan{cpu: map[string]float64{work: 200}, facts: limit, waits: queued(40, "")},
			b:     plan{cpu: map[string]float64{work: 400}, facts: limit, waits: queued(80, "")},
			cause: "code.grew", place: "parse", low: 0.9, high: 1, level: Explains},
		{name: "a competitor on both sides and twice the work", metric: "wall",
			a:     plan{cpu: map[string]float64{work: 200}, waits: queued(40, "hog")},
			b:     plan{cpu: map[string]float64{work: 400}, waits: queued(80, "hog")},
			cause: "code.grew", place: "parse", low: 0.9, high: 1, level: Explains},
		{name: "a competitor that takes twice as much", metric: "wall",
			a:     plan{cpu: map[string]float64{work: 200}, waits: queued(20, "hog")},
			b:     plan{cpu: map[string]float64{work: 200}, waits: queued(40, "hog")},
			cause: "cpu.starved", place: "hog", low: 0.9, high: 1, level: Explains},
		{name: "a ticker on both sides of a run that takes much longer", metric: "cpu",
			a: plan{cpu: map[string]float64{work: 100, "t|clone3;start_thread;refresh": 20}, waits: tick(90)},
			b: plan{cpu: map[string]float64{work: 250, "t|clone3;start_thread;refresh": 50},
				waits: tick(240)},
			cause: "code.grew", place: "parse", low: 0.7, high: 0.95, level: Explains},
		{name: "a filter on both sides and more calls", metric: "cpu",
			a: plan{cpu: map[string]float64{work: 100, "_start;main;save;" + toWrite: 2, "_start;main;save;" + filter: 4},
				calls: map[string][2]int64{"write": {1000, 1 << 20}}},
			b: plan{cpu: map[string]float64{work: 100, "_start;main;save;" + toWrite: 20, "_start;main;save;" + filter: 40},
				calls: map[string][2]int64{"write": {10000, 1 << 20}}},
			cause: "syscall.chatty", place: "save;write", low: 0.9, high: 1, level: Explains},
		{name: "a filter on both sides that has more rules on one", metric: "cpu",
			a: plan{cpu: map[string]float64{work: 100, "_start;main;save;" + toWrite: 20, "_start;main;save;" + filter: 4},
				calls: map[string][2]int64{"write": {10000, 1 << 20}}},
			b: plan{cpu: map[string]float64{work: 100, "_start;main;save;" + toWrite: 20, "_start;main;save;" + filter: 40},
				calls: map[string][2]int64{"write": {10000, 1 << 20}}},
			cause: "syscall.traced", place: "save", low: 0.9, high: 1, level: Explains},
	}
}

func TestWhatBothSidesSufferIsNoCause(t *testing.T) {
	for _, one := range alike() {
		t.Run(one.name, func(t *testing.T) {
			checkFirst(t, one, judged(t, one.metric, one.a, one.b, one.costs))
			suspects := judged(t, one.metric, one.b, one.a, one.costs)
			if len(suspects) == 0 || suspects[0].Cause != one.cause {
				t.Errorf("with A for B: %s", described(suspects))
			}
		})
	}
}

// TestTheKernelsAccountOfAQuota has a quota that the program's average does not use up: it stops bursts.
func TestTheKernelsAccountOfAQuota(t *testing.T) {
	limited := held(wait{count: 20, runMs: 5, stack: work, waker: recording.WakerNone, runner: "hog"})
	limited.facts = map[string]string{"target.cgroup.cpu.limit_cpus": "1.5"}
	if suspects := judged(t, "wall", held(), limited, Costs{}); len(suspects) == 0 || suspects[0].Cause != "cpu.starved" {
		t.Errorf("without the account: %s", described(suspects))
	}
	limited.throttledS = 0.09
	suspects := judged(t, "wall", held(), limited, Costs{})
	if len(suspects) == 0 || suspects[0].Cause != "cpu.throttled" {
		t.Errorf("with the account: %s", described(suspects))
	}
}
