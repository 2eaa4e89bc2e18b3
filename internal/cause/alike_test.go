package cause

import (
	"math/rand/v2"
	"slices"
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// alike are situations in which both sides suffer the same, and one has more to do: what they
// suffer is no cause.
func alike() []situation {
	limit := map[string]string{"target.cgroup.cpu.limit_cpus": "0.5"}
	queued := func(count int, runner string) []wait {
		return []wait{{count: count, runMs: 5, stack: work, waker: recording.WakerNone, runner: runner}}
	}
	tick := func(count int) []wait {
		return []wait{{tid: 101, count: count, ms: 0.95, call: "nanosleep", waker: recording.WakerTimer,
			stack: "start_thread;refresh"}}
	}
	// On a busy host each return from the disk waits for a CPU.
	synced := func(count int) []wait {
		return []wait{{count: count, ms: 1, runMs: 3, call: "fsync", waker: recording.WakerKernel, runner: "hog",
			stack: "_start;main;commit;libc.so.6!fsync;k:__x64_sys_fsync;ext4_sync_file"}}
	}
	paged := func(count int) []wait {
		return []wait{{count: count, ms: 1, runMs: 1, call: "read", waker: recording.WakerKernel, runner: "hog",
			stack: "_start;main;load;libc.so.6!read;k:__x64_sys_read;filemap_read;folio_wait_bit_common"}}
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
		{name: "a competitor on both sides and ten times the syncs", metric: "wall",
			a:     plan{cpu: map[string]float64{work: 100}, waits: synced(10)},
			b:     plan{cpu: map[string]float64{work: 100}, waits: synced(100)},
			cause: "file.sync", place: "commit", low: 0.9, high: 1, level: Explains},
		{name: "a competitor on both sides and ten times the reads from the disk", metric: "wall",
			a:     plan{cpu: map[string]float64{work: 100}, waits: paged(10)},
			b:     plan{cpu: map[string]float64{work: 100}, waits: paged(100)},
			cause: "memory.page-in", place: "load", low: 0.9, high: 1, level: Explains},
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
	t.Parallel()
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

// TestTheKernelsAccountOfAQuota has a quota that the program's average does not use up: it stops
// bursts.
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

// clockSituations are those in which the clock source differs, or is slow on both sides.
func clockSituations() []situation {
	source := func(name string) map[string]string {
		return map[string]string{"clocksource.current": name, "clocksource.available": "tsc kvm-clock acpi_pm"}
	}
	reading := func(ms float64) map[string]float64 { return map[string]float64{work: 100, vdso: ms} }
	calling := func(ms float64) map[string]float64 { return map[string]float64{work: 100, rawRead: ms} }
	calls := func(count int64) map[string][2]int64 { return map[string][2]int64{"clock_gettime": {count, 0}} }
	return []situation{
		{name: "the clock source costs a fifth more", metric: "cpu",
			a: plan{cpu: reading(400), facts: source("tsc")}, b: plan{cpu: reading(480), facts: source("kvm-clock")},
			cause: "clock.slow-source", place: "clock source kvm-clock", low: 0.9, high: 1, level: Explains},
		{name: "near miss: it differs so, and there are ten times as many reads", metric: "cpu",
			a: plan{cpu: reading(40), facts: source("tsc")}, b: plan{cpu: reading(480), facts: source("kvm-clock")},
			cause: "clock.read-often", place: "stamp", low: 0.9, high: 1, level: Explains},
		{name: "near miss: the slower one on both sides, and more reads", metric: "cpu",
			a: plan{cpu: reading(40), facts: source("kvm-clock")}, b: plan{cpu: reading(480), facts: source("kvm-clock")},
			cause: "clock.read-often", place: "stamp", low: 0.9, high: 1, level: Explains},
		{name: "near miss: one that takes a system call on both sides, and more reads", metric: "cpu",
			a:     plan{cpu: calling(40), facts: source("acpi_pm"), calls: calls(40_000)},
			b:     plan{cpu: calling(480), facts: source("acpi_pm"), calls: calls(480_000)},
			cause: "clock.read-often", place: "stamp", low: 0.9, high: 1, level: Explains},
	}
}

// A side whose runs do not agree about the clock source is told so, and most of its runs count.
func TestClockSourceThatVariesWithinASide(t *testing.T) {
	tsc, kvm := map[string]string{"clocksource.current": "tsc"}, map[string]string{"clocksource.current": "kvm-clock"}
	random := rand.New(rand.NewPCG(1, 2))
	var a, b []*recording.Recording
	for run := range 4 {
		facts := kvm
		if run == 3 {
			facts = tsc
		}
		a = append(a, plan{cpu: map[string]float64{vdso: 400}, facts: tsc}.build(random))
		b = append(b, plan{cpu: map[string]float64{vdso: 500}, facts: facts}.build(random))
	}
	results, err := compare.Compare(a, b, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	result := results.CPU
	suspects := Judge(Input{Result: result, CPU: result, FactsA: a[3].Facts, FactsB: b[3].Facts}).Suspects
	if len(suspects) == 0 || suspects[0].Cause != "clock.slow-source" {
		t.Fatalf("suspects %+v, want clock.slow-source", suspects)
	}
	const said = "the clock source was not the same in all runs of B: kvm-clock, tsc"
	if !slices.Contains(suspects[0].Against, said) || !slices.Contains(recording.Words(result.Unseen), said) {
		t.Errorf("against %q, unseen %q: neither may be without %q", suspects[0].Against, result.Unseen, said)
	}
}
