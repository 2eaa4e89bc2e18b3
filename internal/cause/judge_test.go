package cause

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

const (
	entry    = "_start;main;serve;stamp;libc.so.6!syscall;k:entry_SYSCALL_64_after_hwframe"
	rawRead  = entry + ";do_syscall_64;__x64_sys_clock_gettime"
	vdso     = "_start;main;serve;stamp;libc.so.6!clock_gettime;v:__vdso_clock_gettime"
	work     = "_start;main;serve;parse"
	goRun    = "g:runtime.goexit;runtime.main;main.main;"
	goIdle   = "g:runtime.mcall;runtime.park_m;runtime.schedule;runtime.findRunnable;k:__x64_sys_epoll_pwait"
	popen    = "lookup;Popen.__init__@/usr/lib/python3.11/subprocess.py"
	toWrite  = "n:libc.so.6!write;k:do_syscall_64;__x64_sys_write"
	nap      = "libc.so.6!nanosleep;k:__x64_sys_nanosleep"
	goWorker = "g:runtime.goexit;main.worker;"
	goLock   = "sync.(*Mutex).Lock;internal/sync.(*Mutex).lockSlow;runtime.semacquire1"
	pyRun    = "n:python3!Py_RunMain;p:<module>;"
	tick     = "g:runtime.mcall;runtime.findRunnable;runtime.netpoll;k:do_syscall_64;__x64_sys_epoll_pwait"
)

// situation is a planted cause and what must be said of it.
type situation struct {
	name   string
	metric string
	a, b   plan
	costs  Costs
	cause  ID     // of the first suspect; "" for none
	place  string // regular expression that one of its where must match
	low    float64
	high   float64 // bounds of its share
	level  Level
}

func situations() []situation {
	var all []situation
	for _, family := range [][]situation{callSituations(), clockSituations(), timerSituations(), threadSituations(),
		codeSituations(), hostSituations(), fileSituations(), diskSituations(), memorySituations(), faultSituations(),
		holeSituations(), networkSituations(), runtimeSituations(), liveSituations(), tracepointSituations(),
		forkSituations(), chanceSituations(), answerSituations(), serialSituations()} {
		all = append(all, family...)
	}
	return all
}

func callSituations() []situation {
	quiet := map[string]float64{work: 300}
	return []situation{
		{name: "raw clock reads in C", metric: "cpu",
			a: plan{cpu: merged(quiet, map[string]float64{vdso: 20})},
			b: plan{cpu: merged(quiet, map[string]float64{rawRead: 60, entry: 50, "_start;main;serve;stamp": 5}),
				calls: map[string][2]int64{"clock_gettime": {800000, 0}}},
			costs: Costs{ClockVDSO: Cost{21, 20, 22}, ClockRaw: Cost{137, 135, 140}},
			cause: "clock.vdso-bypassed", place: "main;serve;stamp", low: 0.9, high: 1, level: Predicted},
		{name: "clock read far more often", metric: "cpu",
			a:     plan{cpu: merged(quiet, map[string]float64{vdso: 10})},
			b:     plan{cpu: merged(quiet, map[string]float64{vdso: 120, "_start;main;serve;stamp": 20})},
			costs: Costs{ClockVDSO: Cost{21, 20, 22}, ClockRaw: Cost{137, 135, 140}},
			cause: "clock.read-often", place: "stamp", low: 0.9, high: 1, level: Explains},
		{name: "clock source switched", metric: "cpu",
			a: plan{cpu: merged(quiet, map[string]float64{vdso: 20}), facts: map[string]string{
				"clocksource.current": "tsc", "clocksource.available": "tsc hpet acpi_pm"}},
			b: plan{cpu: merged(quiet, map[string]float64{vdso: 10, rawRead: 200}), facts: map[string]string{
				"clocksource.current": "acpi_pm", "clocksource.available": "tsc hpet acpi_pm"},
				calls: map[string][2]int64{"clock_gettime": {200000, 0}}},
			cause: "clock.slow-source", place: "acpi_pm", low: 0.9, high: 1, level: Explains},
		{name: "small writes in Python", metric: "cpu",
			a: plan{cpu: map[string]float64{pyRun + "build": 300, pyRun + "save;" + toWrite: 5},
				calls: map[string][2]int64{"write": {40, 4 << 20}}},
			b: plan{cpu: map[string]float64{pyRun + "build": 300, pyRun + "save": 40, pyRun + "save;n:python3!os_write": 10,
				pyRun + "save;n:python3!os_write;libc.so.6!write;k:do_syscall_64;__x64_sys_write;ksys_write;vfs_write": 90},
				calls: map[string][2]int64{"write": {100000, 4 << 20}}},
			cause: "syscall.chatty", place: "save;write", low: 0.9, high: 1, level: Explains},
		{name: "a function grew and writes a little more", metric: "cpu",
			a: plan{cpu: map[string]float64{pyRun + "build": 300, pyRun + "save;" + toWrite: 5},
				calls: map[string][2]int64{"write": {4000, 4 << 20}}},
			b: plan{cpu: map[string]float64{pyRun + "build": 300, pyRun + "save": 140,
				pyRun + "save;" + toWrite: 15}, calls: map[string][2]int64{"write": {5500,
				4 << 20}}},
			cause: "code.grew", place: "save", low: 0.8, high: 1, level: Explains},
		{name: "everything under strace", metric: "cpu",
			a: plan{cpu: map[string]float64{work: 200}, calls: map[string][2]int64{"read": {20000, 0}}},
			b: plan{cpu: map[string]float64{work: 200,
				"_start;main;serve;parse;read;k:do_syscall_64;syscall_trace_enter;ptrace_report_syscall;ptrace_stop": 150},
				calls: map[string][2]int64{"read": {20000, 0}}, facts: map[string]string{"target.tracer": "strace"}},
			cause: "syscall.traced", place: "target.tracer=strace", low: 0.9, high: 1, level: Explains},
	}
}

func timerSituations() []situation {
	return []situation{
		{name: "ticker in an idle Go program", metric: "cpu",
			a: plan{cpu: map[string]float64{goRun + "main.setup": 10}, waits: []wait{{count: 1, ms: 990, call: "futex",
				stack: tick, waker: recording.WakerInterrupt}}},
			b: plan{cpu: map[string]float64{goRun + "main.setup": 10, "t|" + goIdle: 20,
				"t|g:runtime.goexit;main.cacheTime;time.Sleep": 4,
				"t|g:runtime.goexit;main.cacheTime":            1},
				waits: []wait{{count: 1, ms: 990, call: "futex", stack: tick, waker: recording.WakerInterrupt},
					{tid: 101, count: 990, ms: 0.9, call: "epoll_pwait", stack: tick, waker: recording.WakerTimer, jitter: 0.1}}},
			cause: "timer.ticker", place: `main\.cacheTime`, low: 0.85, high: 1, level: Explains},
		{name: "ticker in Go that is never caught in its sleep", metric: "cpu",
			a: plan{cpu: map[string]float64{goRun + "main.setup": 10}, waits: []wait{{count: 1, ms: 990, call: "futex",
				stack: tick, waker: recording.WakerInterrupt}}},
			b: plan{cpu: map[string]float64{goRun + "main.setup": 10, "t|" + goIdle: 20,
				"t|g:runtime.goexit;main.cacheTime": 1},
				waits: []wait{{count: 1, ms: 990, call: "futex", stack: tick, waker: recording.WakerInterrupt},
					{tid: 101, count: 990, ms: 0.9, call: "epoll_pwait", stack: tick, waker: recording.WakerTimer, jitter: 0.1}}},
			cause: "timer.ticker", place: `main\.cacheTime`, low: 0.85, high: 1, level: Explains},
		{name: "ticker in C", metric: "cpu",
			a: plan{cpu: map[string]float64{work: 10}, waits: []wait{{count: 1, ms: 990, call: "read", stack: "main;read",
				waker: "interrupt"}}},
			b: plan{cpu: map[string]float64{work: 10, "t|clone3;start_thread;refresh;" + nap: 8},
				waits: []wait{{count: 1, ms: 990, call: "read", stack: "main;read", waker: "interrupt"},
					{tid: 101, count: 990, ms: 0.95, call: "nanosleep", waker: recording.WakerTimer, jitter: 0.05,
						stack: "clone3;start_thread;refresh;" + nap}}},
			cause: "timer.ticker", place: "refresh", low: 0.9, high: 1, level: Explains},
		{name: "a ticker on both sides is none", metric: "cpu",
			a: plan{cpu: map[string]float64{work: 100, "t|clone3;start_thread;refresh": 8}, waits: []wait{{tid: 101, count: 90,
				ms: 0.95, call: "nanosleep", waker: recording.WakerTimer, stack: "start_thread;refresh"}}},
			b: plan{cpu: map[string]float64{work: 150, "t|clone3;start_thread;refresh": 8}, waits: []wait{{tid: 101, count: 140,
				ms: 0.95, call: "nanosleep", waker: recording.WakerTimer, stack: "start_thread;refresh"}}},
			cause: "code.grew", place: "parse", low: 0.9, high: 1, level: Explains},
		{name: "added sleep in Java", metric: "wall",
			a: plan{cpu: map[string]float64{"j:demo.Shop.main;demo.Shop.sell": 300}},
			b: plan{cpu: map[string]float64{"j:demo.Shop.main;demo.Shop.sell": 300}, waits: []wait{{count: 40, ms: 5,
				call:  "futex",
				waker: recording.WakerTimer, stack: "j:demo.Shop.main;demo.Shop.retry;java.lang.Thread.sleep;k:__x64_sys_futex"}}},
			cause: "sleep.deliberate", place: `demo\.Shop\.retry`, low: 0.9, high: 1, level: Explains},
		{name: "waiting for workers is no sleep", metric: "wall",
			a: plan{cpu: map[string]float64{work: 100, "w|clone3;start_thread;crunch": 100}, waits: []wait{{count: 1, ms: 100,
				call: "futex", stack: "_start;main;pthread_join", waker: recording.WakerThread, wakerTi: 101}}},
			b: plan{cpu: map[string]float64{work: 100, "w|clone3;start_thread;crunch": 300}, waits: []wait{{count: 1, ms: 200,
				call: "futex", stack: "_start;main;pthread_join", waker: recording.WakerThread, wakerTi: 101}}},
			cause: "code.grew", place: "crunch", low: 0.9, high: 1, level: Explains},
	}
}

func threadSituations() []situation {
	return []situation{
		{name: "two mutexes, one hot", metric: "wall",
			a: plan{cpu: map[string]float64{"_start;main;transfer": 200, "w|clone3;start_thread;audit": 100}},
			b: plan{cpu: map[string]float64{"_start;main;transfer": 200, "w|clone3;start_thread;audit": 300},
				waits: []wait{{count: 100, ms: 1,
					call: "futex", stack: "_start;main;transfer;libc.so.6!pthread_mutex_lock;k:__x64_sys_futex",
					waker: recording.WakerThread, wakerTi: 101}}},
			cause: "lock.contended", place: "transfer", low: 0.9, high: 1, level: Explains},
		{name: "a Go mutex held too long: tasks are parked, no thread waits", metric: "wall",
			a:     plan{cpu: map[string]float64{goRun + "main.shrink": 200, "w|" + goWorker + "main.shrink": 200}},
			b:     plan{cpu: map[string]float64{goRun + "main.shrink": 400, "w|" + goWorker + "main.store;" + goLock: 2}},
			cause: "lock.contended", place: "main.store", low: 0.9, high: 1, level: Explains},
		{name: "short contention on the CPU metric", metric: "cpu",
			a: plan{cpu: map[string]float64{"_start;main;transfer": 200}, calls: map[string][2]int64{"futex": {100, 0}}},
			b: plan{cpu: map[string]float64{"_start;main;transfer": 200,
				"_start;main;transfer;libc.so.6!pthread_mutex_lock;__lll_lock_wait;k:do_syscall_64;__x64_sys_futex": 90},
				calls: map[string][2]int64{"futex": {90000, 0}}},
			cause: "lock.contended", place: "transfer", low: 0.9, high: 1, level: Explains},
		{name: "shell-out per request", metric: "cpu",
			a: plan{cpu: map[string]float64{pyRun + "handle": 300}},
			b: plan{cpu: map[string]float64{pyRun + "handle": 300, pyRun + popen: 30,
				pyRun + popen + ";n:libc.so.6!vfork;k:__x64_sys_vfork;kernel_clone": 20},
				children: 60, childMs: 2, childName: "sh"},
			cause: "process.short-lived", place: "lookup", low: 0.9, high: 1, level: Explains},
		{name: "one more helper is no flood", metric: "cpu",
			a:     plan{cpu: map[string]float64{work: 300}},
			b:     plan{cpu: map[string]float64{work: 400}, children: 1, childMs: 20, childName: "helper"},
			cause: "code.grew", place: "parse", low: 0.7, high: 0.95, level: Explains},
	}
}

func codeSituations() []situation {
	return []situation{
		{name: "quadratic in Go", metric: "cpu",
			a: plan{cpu: map[string]float64{goRun + "main.load": 200, goRun + "main.dedupe;runtime.memequal": 20}},
			b: plan{cpu: map[string]float64{goRun + "main.load": 200, goRun + "main.dedupe;runtime.memequal": 200,
				goRun + "main.dedupe": 50}},
			cause: "code.grew", place: `main\.dedupe`, low: 0.9, high: 1, level: Explains},
		{name: "new path in Go", metric: "wall",
			a: plan{cpu: map[string]float64{goRun + "main.handle;main.sum": 200}},
			b: plan{cpu: map[string]float64{goRun + "main.handle;main.sum": 200,
				goRun + "main.handle;main.audit;crypto/sha256.block": 90}},
			cause: "code.added", place: `main\.handle;main\.audit`, low: 0.9, high: 1, level: Explains},
		{name: "a setting in front of the same command", metric: "cpu",
			a:     plan{cpu: map[string]float64{pyRun + "work": 200}, command: "python3 job.py 5"},
			b:     plan{cpu: map[string]float64{pyRun + "work": 300}, command: "PYTHONMALLOC=debug python3 job.py 5"},
			cause: "config.differs", place: "PYTHONMALLOC=debug", low: 0.9, high: 1, level: Explains},
		{name: "a setting beside a code change", metric: "cpu",
			a: plan{cpu: map[string]float64{pyRun + "work": 200, pyRun + "rest": 200}, command: "python3 job.py 5"},
			b: plan{cpu: map[string]float64{pyRun + "work": 300, pyRun + "rest": 200},
				command: "PYTHONHASHSEED=1 python3 job.py 9"},
			cause: "code.grew", place: "work", low: 0.9, high: 1, level: Explains},
	}
}

func hostSituations() []situation {
	return []situation{
		{name: "a competitor has the CPU", metric: "wall",
			a: plan{cpu: map[string]float64{work: 200}},
			b: plan{cpu: map[string]float64{work: 200}, waits: []wait{{count: 20, ms: 0, runMs: 5, stack: work,
				waker: recording.WakerNone, runner: "hog"}}},
			cause: "cpu.starved", place: "hog", low: 0.9, high: 1, level: Explains},
		{name: "a quota", metric: "wall",
			a: plan{cpu: map[string]float64{work: 200}},
			b: plan{cpu: map[string]float64{work: 200}, facts: map[string]string{"target.cgroup.cpu.limit_cpus": "0.5"},
				waits: []wait{{count: 4, ms: 0, runMs: 50, stack: work, waker: recording.WakerNone}}},
			cause: "cpu.throttled", place: "0.5", low: 0.9, high: 1, level: Explains},
		{name: "a quota on a busy host", metric: "wall", a: held(),
			b: plan{cpu: map[string]float64{work: 200}, facts: map[string]string{"target.cgroup.cpu.limit_cpus": "0.5"},
				waits: []wait{{count: 4, runMs: 50, stack: work, waker: recording.WakerNone, runner: "hog"}}},
			cause: "cpu.throttled", place: "0.5", low: 0.9, high: 1, level: Explains},
		{name: "a quota that is not used up", metric: "wall", a: held(),
			b: plan{cpu: map[string]float64{work: 200}, facts: map[string]string{"target.cgroup.cpu.limit_cpus": "1.5"},
				waits: []wait{{count: 4, runMs: 50, stack: work, waker: recording.WakerNone, runner: "hog"}}},
			cause: "cpu.starved", place: "hog", low: 0.9, high: 1, level: Explains},
		{name: "more fsync", metric: "wall",
			a: plan{cpu: map[string]float64{work: 200}},
			b: plan{cpu: map[string]float64{work: 200}, calls: map[string][2]int64{"fsync": {50, 0}}, waits: []wait{{count: 50,
				ms:   2,
				call: "fsync", stack: "_start;main;commit;libc.so.6!fsync;k:__x64_sys_fsync;jbd2_log_wait_commit",
				waker: recording.WakerKernel}}},
			cause: "file.sync", place: "commit;fsync", low: 0.9, high: 1, level: Explains},
		{name: "unknown stacks", metric: "cpu",
			a:     plan{cpu: map[string]float64{"prog!prog": 100}},
			b:     plan{cpu: map[string]float64{"prog!prog": 200}},
			cause: "code.grew", place: "prog", low: 0.9, high: 1, level: Explains},
	}
}

func TestSituations(t *testing.T) {
	t.Parallel()
	for _, one := range situations() {
		t.Run(one.name, func(t *testing.T) {
			checkFirst(t, one, one.suspects(t))
		})
	}
}

// TestTheOtherWayRound takes B for A: what made A dear is the same cause.
func TestTheOtherWayRound(t *testing.T) {
	t.Parallel()
	for _, one := range situations() {
		suspects := judged(t, one.metric, one.b, one.a, one.costs)
		if len(suspects) == 0 || suspects[0].Cause != one.cause || suspects[0].Seconds.Value >= 0 {
			t.Errorf("%s: %s", one.name, described(suspects))
			continue
		}
		if first := suspects[0]; !first.Gain || first.Remedy != gained+recordOf(t, first.Cause).Gain {
			t.Errorf("%s: gain %v, remedy %q", one.name, first.Gain, first.Remedy)
		}
	}
}

// judgedOnce are the suspects of situations that several tests ask for, by name.
var judgedOnce sync.Map

// suspects judges a situation when it is asked for first.
func (one *situation) suspects(t *testing.T) []Suspect {
	t.Helper()
	judge := func() []Suspect { return judged(t, one.metric, one.a, one.b, one.costs) }
	first, _ := judgedOnce.LoadOrStore(one.name, sync.OnceValue(judge))
	return first.(func() []Suspect)()
}

func checkFirst(t *testing.T, one situation, suspects []Suspect) {
	t.Helper()
	if len(suspects) == 0 {
		t.Fatal("no suspect")
	}
	first := suspects[0]
	sum := 0.0
	for _, suspect := range suspects {
		sum += suspect.Share.Value
		if suspect.Claim == "" || suspect.Remedy == "" || len(suspect.Evidence) == 0 {
			t.Errorf("%s is told without claim, remedy or evidence", suspect.Cause)
		}
		for _, seen := range suspect.Evidence {
			if seen.Unit != "" && seen.A == 0 && seen.B == 0 {
				t.Errorf("%s is told with evidence that neither side has: %s", suspect.Cause, seen.Text)
			}
		}
	}
	if sum > 1.0001 {
		t.Errorf("shares add up to %v: %s", sum, described(suspects))
	}
	if first.Cause != one.cause || first.Level != one.level {
		t.Errorf("first is %s %s, want %s %s: %s", first.Level, first.Cause, one.level, one.cause, described(suspects))
	}
	if first.Share.Value < one.low || first.Share.Value > one.high {
		t.Errorf("share is %v: %s", first.Share, described(suspects))
	}
	if !regexp.MustCompile(one.place).MatchString(strings.Join(first.Where, "\n")) {
		t.Errorf("where is %q, want %s", first.Where, one.place)
	}
}

func described(suspects []Suspect) string {
	var text strings.Builder
	for _, suspect := range suspects {
		fmt.Fprintf(&text, "\n  %s %s %.2f (%.2f … %.2f) %q against %q", suspect.Level, suspect.Cause, suspect.Share.Value,
			suspect.Share.Low, suspect.Share.High, suspect.Where, suspect.Against)
	}
	return text.String()
}

// Of one side, what reads wait for is no cost of there being many of them.
func TestOneSidedWaitsAreNoChattyCalls(t *testing.T) {
	t.Parallel()
	p := plan{cpu: map[string]float64{work: 40, pyRun + "serve;" + toWrite: 4},
		calls: map[string][2]int64{"read": {20000, 20000 * 100}},
		waits: []wait{{count: 20000, ms: 400, call: "read", stack: pyRun + "serve;k:do_syscall_64;__x64_sys_read"}}}
	for _, suspect := range judged(t, "wall", p, plan{}, Costs{}) {
		if suspect.Cause == "syscall.chatty" {
			t.Error(described([]Suspect{suspect}))
		}
	}
}

func TestOneSidedNamesNoCode(t *testing.T) {
	p := plan{cpu: map[string]float64{work: 300, pyRun + "save;" + toWrite: 200},
		calls: map[string][2]int64{"write": {100000, 100000 * 20}}}
	suspects := judged(t, "cpu", p, plan{}, Costs{})
	if len(suspects) != 1 || suspects[0].Cause != "syscall.chatty" || suspects[0].Share.Value < 0.35 ||
		suspects[0].Share.Value > 0.45 {
		t.Fatal(described(suspects))
	}
	if evidence := suspects[0].Evidence[0]; evidence.A < 0.19 || evidence.B != 0 {
		t.Errorf("evidence of the one side is not on A: %+v", evidence)
	}
	if suspects := judged(t, "cpu", plan{cpu: map[string]float64{work: 300}}, plan{}, Costs{}); len(suspects) != 0 {
		t.Errorf("suspicion without a cause: %s", described(suspects))
	}
}

func TestNothingExplains(t *testing.T) {
	cpu, more := map[string]float64{}, map[string]float64{}
	for i := range 12 {
		cpu[fmt.Sprintf("_start;main;step%d", i)] = 50
		more[fmt.Sprintf("_start;main;step%d", i)] = 55
	}
	for _, suspect := range judged(t, "cpu", plan{cpu: cpu}, plan{cpu: more}, Costs{}) {
		if suspect.Cause != "code.grew" || !strings.HasSuffix(suspect.Where[0], "main") {
			t.Errorf("named %s", described([]Suspect{suspect}))
		}
	}
}

// A disturbance that comes with one side only speaks for what takes the CPU away there.
func TestOneSidedDisturbanceIsEvidence(t *testing.T) {
	const text = "run-queue delay comes with B: median 0.1 s a run"
	queue := wait{count: 20, runMs: 5, stack: work, waker: recording.WakerNone, runner: "hog"}
	in := inputOf(t, "wall", held(), held(queue), Costs{})
	in.OneSided = []string{text}
	suspects := Judge(in).Suspects
	if len(suspects) == 0 || suspects[0].Cause != "cpu.starved" {
		t.Fatalf("suspects %s", described(suspects))
	}
	for _, evidence := range suspects[0].Evidence {
		if evidence.Text == text {
			return
		}
	}
	t.Errorf("evidence lacks it: %+v", suspects[0].Evidence)
}

func TestJudgeRefusesNothing(t *testing.T) {
	if Judge(Input{}).Suspects != nil || Judge(Input{Result: &compare.Result{Metric: "cpu"}}).Suspects != nil {
		t.Error("suspects out of nothing")
	}
}

func TestCatalogueIsWhole(t *testing.T) {
	want := strings.Fields(`
		clock.slow-source clock.vdso-bypassed clock.read-often syscall.traced syscall.chatty timer.ticker
		sleep.deliberate lock.contended line.false-sharing line.true-sharing file.journal file.writeback file.dirty-throttle
		file.inode-lock file.sync disk.slow disk.throttled cpu.throttled cpu.starved cpu.confined process.short-lived
		cpu.contended
		memory.faults memory.page-in memory.reclaim runtime.gc runtime.cold code.grew code.added net.delayed net.reconnect
		net.loss monitor.attached monitor.multiplexed cache.misses branch.misses frontend.stalls config.differs
		request.queued loop.blocked downstream.slow`)
	for _, id := range want {
		if _, found := Lookup(ID(id)); !found {
			t.Errorf("%s is gone: ids stand in cases for ever", id)
		}
	}
	for _, entry := range Catalogue() {
		if entry.Claim == "" || entry.Evidence == "" || entry.Proof == "" || entry.Remedy == "" ||
			entry.MistakenAs == "" {
			t.Errorf("%s: %+v", entry.ID, entry)
		}
	}
	if ids := IDs(); len(slices.Compact(slices.Clone(ids))) != len(Catalogue()) {
		t.Errorf("one id stands twice: %s", ids)
	}
}

func TestSplitCommand(t *testing.T) {
	for command, want := range map[string]string{
		"prog -a 1": "prog -a 1", "GOGC=1 TZ='2' prog -a 1": "prog -a 1", "env LD_PRELOAD=x nice -n 10 prog": "prog",
		"MODE=slow GOGC=5 prog": "MODE=slow prog",
		"taskset -c 0,1 prog 5": "prog 5", "": "",
	} {
		if rest, settings := splitCommand(command); rest != want {
			t.Errorf("%q: rest %q, settings %v", command, rest, settings)
		}
	}
}

// withoutBaseline are the claims of causes that speak of another side, as they are told of one
// recording.
var withoutBaseline = map[ID]string{
	"clock.read-often":    "the time is read very often",
	"syscall.chatty":      "the work takes many system calls (small reads or writes, repeated stat or open, polling)",
	"file.sync":           "the program forces data to disk (fsync, O_SYNC, msync) and waits for it",
	"process.short-lived": "many short-lived processes: what starting them takes, and what they do themselves",
	"memory.page-in":      "what is read is not in memory, and has to come from the disk",
	"memory.faults":       "page faults are many: memory is mapped, touched and returned again and again",
}

// Where B is better, A is the side that costs more, and the claim says so.
func TestClaimNamesTheDearerSide(t *testing.T) {
	entry := recordOf(t, CodeAdded)
	c := &claim{cause: CodeAdded}
	if got := (&scene{}).claimed(c, entry); got != entry.Told() || got != "B runs a path that A does not have" {
		t.Errorf("B is dearer: %q", got)
	}
	if got := (&scene{swapped: true}).claimed(c, entry); got != "A runs a path that B does not have" {
		t.Errorf("A is dearer: %q", got)
	}
	for id, want := range withoutBaseline {
		entry := recordOf(t, id)
		if got := (&scene{oneSided: true}).claimed(&claim{cause: id}, entry); got == entry.Told() || got != want {
			t.Errorf("%s of one side: %q", id, got)
		}
	}
	entry = recordOf(t, SleepDeliberate)
	c = &claim{cause: SleepDeliberate}
	if got := (&scene{swapped: true}).claimed(c, entry); got != "in A, and less or not at all in B: "+entry.Claim {
		t.Errorf("A is dearer, and the claim names no side: %q", got)
	}
}

// What B gained is told as a gain: a remedy would be for the side that nobody wants any more.
func TestEachCauseSaysWhatAGainHangsOn(t *testing.T) {
	for _, id := range IDs() {
		if recordOf(t, id).Gain == "" {
			t.Errorf("%s: nothing said", id)
		}
	}
}

// What is as likely less than nothing does not stand beside a suspect; alone, or likely, it does.
func TestNoiseIsNotListedBesideASuspect(t *testing.T) {
	share := func(value, low, high float64) compare.Interval {
		return compare.Interval{Value: value, Low: low, High: high}
	}
	suspects := []Suspect{
		{Cause: "lock.contended", Share: share(0.2, -6, 1)},
		{Cause: "sleep.deliberate", Share: share(0.6, 0.4, 0.8)},
		{Cause: "code.added", Share: share(0.15, -0.1, 0.3)},
	}
	chosen := (&scene{}).choose(suspects, []rank{{known: true}, {known: true}, {known: true}})
	if len(chosen) != 2 || chosen[0].Cause != "sleep.deliberate" || chosen[1].Cause != "code.added" {
		t.Errorf("got %+v", chosen)
	}
}

// TestRecordedRunsThatChangedTheOtherWay explain nothing of what the runs without the recorder
// showed.
func TestRecordedRunsThatChangedTheOtherWay(t *testing.T) {
	result := sleeping(1.6, 0)
	for _, test := range []struct {
		change compare.Interval
		known  bool
		want   bool // opposed
	}{
		{compare.Interval{Value: 0.3, Low: 0.2, High: 0.4}, true, false},
		{compare.Interval{Value: -0.3, Low: -0.4, High: -0.2}, true, true},
		{compare.Interval{Value: -0.3, Low: -0.7, High: 0.1}, true, false},
		{compare.Interval{Value: -0.3, Low: -0.4, High: -0.2}, false, false},
	} {
		in := Input{Result: result, MeasuredChange: test.change, MeasuredChangeKnown: test.known}
		if suspects := Judge(in).Suspects; Opposed(in) != test.want || (len(suspects) == 0) != test.want {
			t.Errorf("%+v: opposed %v, %s; want opposed %v", test, Opposed(in), described(suspects), test.want)
		}
	}
}

// TestShortLivedOfOneSide: of one side, short-lived processes that do work of their own are told as
// such, and bare starts are not.
func TestShortLivedOfOneSide(t *testing.T) {
	for _, test := range []struct {
		name    string
		childMs float64
		own     bool
	}{{"a compiler", 20, true}, {"a shell's helper", 2, false}} {
		one := plan{cpu: map[string]float64{"_start;main;drive": 50}, children: 30, childMs: test.childMs, childName: "cc1"}
		suspects := judged(t, "cpu", one, plan{}, Costs{Spawn: Cost{Ns: 500e3, Low: 450e3, High: 550e3}})
		if len(suspects) == 0 || suspects[0].Cause != "process.short-lived" {
			t.Fatalf("%s: %s", test.name, described(suspects))
		}
		told := strings.Contains(strings.Join(suspects[0].Against, " "), "is not told apart")
		if told != test.own || !strings.Contains(suspects[0].Claim, "what they do themselves") {
			t.Errorf("%s: %q, against %q", test.name, suspects[0].Claim, suspects[0].Against)
		}
	}
}

// TestOneSideHasNoMore: what speaks against a suspect of one side compares it with no other.
func TestOneSideHasNoMore(t *testing.T) {
	one := parked(320, 0)
	suspects := judged(t, "wall", one, plan{}, Costs{})
	if len(suspects) == 0 || !slices.Contains(suspects[0].Against, (&scene{oneSided: true}).unseenTasks()) ||
		slices.Contains(suspects[0].Against, (&scene{}).unseenTasks()) {
		t.Fatalf("%s: %+v", described(suspects), suspects)
	}
}
