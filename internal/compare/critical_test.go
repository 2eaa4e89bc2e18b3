package compare_test

import (
	"math"
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// total adds up the pieces of the critical path of one recording whose description matches.
func total(t *testing.T, rec *recording.Recording, match func(*compare.Path) bool) float64 {
	t.Helper()
	result := compared(t, compare.MetricWall, []*recording.Recording{rec}, nil)
	sum, all := 0.0, 0.0
	for i := range result.Paths {
		all += result.Paths[i].A[0]
		if match(&result.Paths[i]) {
			sum += result.Paths[i].A[0]
		}
	}
	if wall := rec.Manifest.Metrics[compare.MetricWall]; math.Abs(all-wall) > 1e-6*wall {
		t.Errorf("pieces add up to %v of %v s", all, wall)
	}
	return sum
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.002 {
		t.Errorf("%s: %.4f s, want %.4f s", what, got, want)
	}
}

func has(name string) func(*compare.Path) bool {
	return func(p *compare.Path) bool {
		for _, frame := range p.Frames {
			if frame.Name == name {
				return true
			}
		}
		return false
	}
}

func kindOf(kind compare.PathKind) func(*compare.Path) bool {
	return func(p *compare.Path) bool { return p.Kind == kind }
}

func TestMainWaitsForWorker(t *testing.T) {
	m := newMade(1, 1).threadFrom(10, 11, 100*ms)
	m.runs(10, 10, 0, 100*ms, "main;start").runs(10, 11, 100*ms, 900*ms, "thread;work").
		runs(10, 10, 900*ms, 1000*ms, "main;finish")
	m.waits(recording.Wait{TimeNs: 100 * ms, BlockedNs: 800 * ms, Pid: 10, Tid: 10, Syscall: "futex", State: "S",
		WakerKind: recording.WakerThread, WakerPid: 10, WakerTid: 11}, "main;pthread_join;k:futex_wait")
	near(t, "worker", total(t, m.rec, has("work")), 0.8)
	near(t, "start", total(t, m.rec, has("start")), 0.1)
	near(t, "finish", total(t, m.rec, has("finish")), 0.1)
	near(t, "blocked", total(t, m.rec, kindOf(compare.Blocked)), 0)
}

func TestSleepAndRunqueue(t *testing.T) {
	m := newMade(1, 0.4)
	m.runs(10, 10, 0, 200*ms, "main;work").runs(10, 10, 800*ms, 1000*ms, "main;work")
	m.waits(recording.Wait{TimeNs: 200 * ms, BlockedNs: 500 * ms, RunqueueNs: 100 * ms, Pid: 10, Tid: 10, State: "S",
		Syscall: "clock_nanosleep", WakerKind: recording.WakerTimer, RunnerPid: 99, RunnerComm: "hog"},
		"main;backoff;nanosleep;k:__x64_sys_clock_nanosleep")
	near(t, "sleep", total(t, m.rec, func(p *compare.Path) bool {
		return p.Kind == compare.Blocked && has("backoff")(p)
	}), 0.5)
	near(t, "run queue", total(t, m.rec, func(p *compare.Path) bool {
		return p.Kind == compare.Runnable && p.WakerComm == "hog" && !p.WakerOwn
	}), 0.1)
	near(t, "work", total(t, m.rec, has("work")), 0.4)
}

func TestMutexNamesHolderAndStaysWithWaiter(t *testing.T) {
	m := newMade(1, 1).threadFrom(10, 11, 0)
	m.runs(10, 10, 0, 300*ms, "main;own").runs(10, 11, 300*ms, 700*ms, "thread;holds").
		runs(10, 10, 700*ms, 1000*ms, "main;own")
	m.waits(recording.Wait{TimeNs: 0, BlockedNs: 300 * ms, Pid: 10, Tid: 11, Syscall: "nanosleep", State: "S",
		WakerKind: recording.WakerTimer}, "thread;nap;k:__x64_sys_nanosleep")
	m.waits(recording.Wait{TimeNs: 300 * ms, BlockedNs: 400 * ms, Pid: 10, Tid: 10, Syscall: "futex", Object: 0x1000,
		State: "S", WakerKind: recording.WakerThread, WakerPid: 10, WakerTid: 11},
		"main;take;pthread_mutex_lock;k:__x64_sys_futex")
	var holder []recording.Frame
	near(t, "lock", total(t, m.rec, func(p *compare.Path) bool {
		if p.Lock {
			holder = p.Holder
		}
		return p.Lock && has("take")(p)
	}), 0.4)
	if len(holder) != 2 || holder[1].Name != "holds" {
		t.Errorf("holder is %v", holder)
	}
	near(t, "own", total(t, m.rec, has("own")), 0.6)
	near(t, "the holder's nap before", total(t, m.rec, has("nap")), 0)
}

func TestSleepUnderLockIsSleep(t *testing.T) {
	m := newMade(1, 0.6).threadFrom(10, 11, 0)
	m.runs(10, 10, 0, 300*ms, "main;own").runs(10, 10, 700*ms, 1000*ms, "main;own")
	m.waits(recording.Wait{TimeNs: 200 * ms, BlockedNs: 490 * ms, Pid: 10, Tid: 11, Syscall: "clock_nanosleep",
		WakerKind: recording.WakerTimer}, "thread;nap;k:__x64_sys_clock_nanosleep")
	m.waits(recording.Wait{TimeNs: 300 * ms, BlockedNs: 400 * ms, Pid: 10, Tid: 10, Syscall: "futex", Object: 0x1000,
		WakerKind: recording.WakerThread, WakerPid: 10, WakerTid: 11}, "main;take;pthread_mutex_lock;k:__x64_sys_futex")
	near(t, "sleep under the lock", total(t, m.rec, func(p *compare.Path) bool {
		return has("nap")(p) && len(p.For) > 0 && p.For[1].Name == "take"
	}), 0.39)
}

func TestChildProcess(t *testing.T) {
	m := newMade(1, 0.9).process(20, 10, 100*ms, 600*ms, "tool").threadFrom(20, 20, 100*ms)
	m.runs(10, 10, 0, 100*ms, "main;spawn").runs(20, 20, 100*ms, 600*ms, "tool_main").
		runs(10, 10, 600*ms, 1000*ms, "main;rest")
	m.waits(recording.Wait{TimeNs: 100 * ms, BlockedNs: 500 * ms, Pid: 10, Tid: 10, Syscall: "wait4",
		WakerKind: recording.WakerThread, WakerPid: 20, WakerTid: 20}, "main;waitpid;k:__x64_sys_wait4")
	near(t, "child", total(t, m.rec, func(p *compare.Path) bool { return p.Process == "tool" && p.Parent == "prog" }), 0.5)
	near(t, "before", total(t, m.rec, has("spawn")), 0.1)
	near(t, "after", total(t, m.rec, has("rest")), 0.4)
}

// Seen of a Go program on a loaded host: the shell that waits for it is woken in an interrupt, a
// little before the last thread is gone; all of the run was then the shell's waiting.
func TestChildWhoseEndIsToldInAnInterrupt(t *testing.T) {
	m := newMade(1, 0.9).process(20, 10, 100*ms, 606*ms, "tool").threadFrom(20, 20, 100*ms)
	m.process(30, 10, 50*ms, 300*ms, "gone").threadFrom(30, 30, 50*ms)
	m.runs(10, 10, 0, 100*ms, "main;spawn").runs(20, 20, 100*ms, 600*ms, "tool_main").
		runs(30, 30, 100*ms, 300*ms, "gone_main").runs(10, 10, 600*ms, 1000*ms, "main;rest")
	m.waits(recording.Wait{TimeNs: 100 * ms, BlockedNs: 500 * ms, Pid: 10, Tid: 10, Syscall: "wait4",
		WakerKind: recording.WakerInterrupt}, "main;waitpid;k:__x64_sys_wait4")
	near(t, "child", total(t, m.rec, has("tool_main")), 0.5)
	near(t, "waiting for it", total(t, m.rec, has("waitpid")), 0)
}

// A waker whose own start was recorded after it had woken somebody takes the walk over no time
// twice. In the recording that this is cut from the walk went round four million times, and 0.7 s
// of a run became 545.
func TestWakerThatStartsLater(t *testing.T) {
	m := newMade(1, 0.9).threadFrom(10, 11, 700*ms)
	m.runs(10, 10, 0, 100*ms, "main;start").runs(10, 11, 700*ms, 900*ms, "thread;work").
		runs(10, 10, 600*ms, 1000*ms, "main;rest")
	m.waits(recording.Wait{TimeNs: 100 * ms, BlockedNs: 500 * ms, Pid: 10, Tid: 10, Syscall: "futex",
		WakerKind: recording.WakerThread, WakerPid: 10, WakerTid: 11}, "main;join;k:__x64_sys_futex")
	if got := total(t, m.rec, has("rest")); got > 0.41 {
		t.Errorf("the rest is %v s of 0.4", got)
	}
}

func TestEndsInAnotherThread(t *testing.T) {
	// The main thread's last wait never ended, as in a Go program whose main goroutine moved.
	m := newMade(1, 1).threadFrom(10, 11, 10*ms)
	m.runs(10, 10, 0, 10*ms, "main;start").runs(10, 11, 10*ms, 1000*ms, "work")
	near(t, "work", total(t, m.rec, has("work")), 0.99)
	near(t, "start", total(t, m.rec, has("start")), 0.01)
}

// A child's end wakes the first thread of a Go program whose main goroutine had moved long before:
// being awake at the end it did not run the program to it.
func TestEndedByAnotherThread(t *testing.T) {
	m := newMade(1, 1).threadFrom(10, 11, 10*ms)
	m.runs(10, 10, 0, 10*ms, "main;start").runs(10, 11, 10*ms, 1000*ms, "work")
	m.waits(recording.Wait{TimeNs: 10 * ms, BlockedNs: 988 * ms, Pid: 10, Tid: 10, Syscall: "futex",
		WakerKind: recording.WakerInterrupt}, "main;park;k:__x64_sys_futex")
	m.rec.Processes[0].EndedBy = 11
	near(t, "work", total(t, m.rec, has("work")), 0.99)
	near(t, "start", total(t, m.rec, has("start")), 0.01)
	m.rec.Processes[0].EndedBy = 10
	near(t, "work that nobody waited for", total(t, m.rec, has("work")), 0)
}

func TestGapWithoutSamplesIsUnknown(t *testing.T) {
	m := newMade(1, 0.5)
	m.runs(10, 10, 0, 500*ms, "main;work")
	m.waits(recording.Wait{TimeNs: 500 * ms, BlockedNs: ms, Pid: 10, Tid: 10, WakerKind: recording.WakerInterrupt,
		Syscall: "read"}, "main;read;k:__x64_sys_read")
	near(t, "unknown", total(t, m.rec, func(p *compare.Path) bool { return len(p.Frames) == 0 }), 0.499)
}

func TestThreadsThatWokeEachOther(t *testing.T) {
	m := newMade(1, 0.1).threadFrom(10, 11, 0)
	for i, tid := range []int32{10, 11} {
		m.waits(recording.Wait{TimeNs: 100 * ms, BlockedNs: 900 * ms, Pid: 10, Tid: tid, Syscall: "read",
			WakerKind: recording.WakerThread, WakerPid: 10, WakerTid: int32(11 - i)}, "main;read")
	}
	m.runs(10, 10, 0, 100*ms, "main;work")
	if got := total(t, m.rec, kindOf(compare.Blocked)); got < 0.89 {
		t.Errorf("blocked %v s", got)
	}
}

func TestShortWaitsShareARunningStretch(t *testing.T) {
	m := newMade(1, 0.5)
	m.runs(10, 10, 0, 1000*ms, "main;work")
	for i := range m.rec.Samples {
		m.rec.Samples[i].ValueNs /= 2
	}
	for at := int64(0); at < 1000*ms; at += ms {
		m.rec.Samples = append(m.rec.Samples, recording.Sample{Signal: recording.SignalOffCPU, TimeNs: at, Pid: 10,
			Tid: 10, Stack: m.stack("main;take;pthread_mutex_lock;k:__x64_sys_futex"), Count: 25, ValueNs: ms / 2,
			Target: true})
	}
	near(t, "short locks", total(t, m.rec, func(p *compare.Path) bool { return p.Lock && p.Syscall == "futex" }), 0.5)
}

func TestHostileRecordings(t *testing.T) {
	metrics := map[string]float64{compare.MetricWall: 1, compare.MetricCPU: 1}
	empty := &recording.Recording{Manifest: recording.Manifest{Metrics: metrics}}
	near(t, "nothing recorded", total(t, empty, func(p *compare.Path) bool { return len(p.Frames) == 0 }), 1)
	m := newMade(1, 1)
	m.rec.Waits = []recording.Wait{{TimeNs: math.MaxInt64 - 5, BlockedNs: 3, Tid: 10, Pid: 10, Stack: 99},
		{TimeNs: -5, BlockedNs: -1, Tid: 10, Pid: 10, Stack: -7}, {TimeNs: 5, BlockedNs: math.MaxInt64, Tid: 10, Pid: 10}}
	m.rec.Samples = []recording.Sample{{Signal: recording.SignalCPU, TimeNs: -1, ValueNs: -5, Tid: 10, Stack: 1 << 30}}
	total(t, m.rec, func(*compare.Path) bool { return false })
	if _, err := compare.Compare([]*recording.Recording{{}}, nil, compare.Options{}); err == nil ||
		!strings.Contains(err.Error(), "no metric was measured") {
		t.Errorf("neither metric: %v", err)
	}
	onlyCPU := &recording.Recording{}
	onlyCPU.Manifest.Metrics = map[string]float64{compare.MetricCPU: 1}
	results, err := compare.Compare([]*recording.Recording{onlyCPU}, nil, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for metric, want := range map[string]string{compare.MetricWall: "no usable metric", "rss": "no seconds"} {
		if _, err := results.Of(metric); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", metric, err)
		}
	}
}

func TestSleepBeforeAnybodyWaitedIsNotOnThePath(t *testing.T) {
	m := newMade(1, 1).threadFrom(10, 11, 0)
	m.runs(10, 10, 0, 600*ms, "main;work").runs(10, 10, 610*ms, 1000*ms, "main;work")
	m.waits(recording.Wait{TimeNs: 0, BlockedNs: 595 * ms, Pid: 10, Tid: 11, Syscall: "futex", State: "S",
		WakerKind: recording.WakerTimer}, "thread;tick;pthread_cond_timedwait;k:__x64_sys_futex")
	m.runs(10, 11, 595*ms, 610*ms, "thread;safepoint")
	m.waits(recording.Wait{TimeNs: 600 * ms, BlockedNs: 10 * ms, Pid: 10, Tid: 10, Syscall: "futex", State: "S",
		WakerKind: recording.WakerThread, WakerPid: 10, WakerTid: 11}, "main;stop;pthread_cond_wait;k:__x64_sys_futex")
	near(t, "the other thread's sleep", total(t, m.rec, has("tick")), 0)
	near(t, "what it did then", total(t, m.rec, has("safepoint")), 0.015)
	near(t, "own work", total(t, m.rec, has("work")), 0.985)
}

func TestSleepThatSomebodyWaitedForIsOnThePath(t *testing.T) {
	m := newMade(1, 0.3).threadFrom(10, 11, 0)
	m.runs(10, 10, 0, 200*ms, "main;work").runs(10, 10, 900*ms, 1000*ms, "main;work")
	m.waits(recording.Wait{TimeNs: 100 * ms, BlockedNs: 800 * ms, Pid: 10, Tid: 11, Syscall: "clock_nanosleep",
		State: "S", WakerKind: recording.WakerTimer}, "thread;delay;k:__x64_sys_clock_nanosleep")
	m.waits(recording.Wait{TimeNs: 200 * ms, BlockedNs: 700 * ms, Pid: 10, Tid: 10, Syscall: "futex", State: "S",
		WakerKind: recording.WakerThread, WakerPid: 10, WakerTid: 11}, "main;pthread_join;k:__x64_sys_futex")
	near(t, "sleep from when it was waited for", total(t, m.rec, has("delay")), 0.7)
	near(t, "own work", total(t, m.rec, has("work")), 0.3)
}

// A script that kills what it had in the background, and waits for its end, was held up by the
// program before.
func TestKilledBackgroundHeldNobodyUp(t *testing.T) {
	of := func(exitCode int32) *recording.Recording {
		m := newMade(1, 1).process(20, 10, 10*ms, 900*ms, "program").process(30, 10, 5*ms, 990*ms, "packer")
		m.rec.Processes[len(m.rec.Processes)-1].ExitCode = exitCode
		m.threadFrom(20, 20, 10*ms).threadFrom(30, 30, 5*ms)
		m.runs(20, 20, 10*ms, 900*ms, "main;compute").runs(30, 30, 5*ms, 990*ms, "main;pack")
		for _, wait := range []recording.Wait{
			{TimeNs: 10 * ms, BlockedNs: 890 * ms, WakerPid: 20, WakerTid: 20},
			{TimeNs: 910 * ms, BlockedNs: 80 * ms, WakerPid: 30, WakerTid: 30},
		} {
			wait.Pid, wait.Tid, wait.Syscall, wait.State, wait.WakerKind = 10, 10, "wait4", "S", recording.WakerThread
			m.waits(wait, "main;waitpid")
		}
		return m.rec
	}
	near(t, "the program, while the packer is killed", total(t, of(-15), has("compute")), 0.89)
	near(t, "the packer that is killed", total(t, of(-15), has("pack")), 0)
	near(t, "a packer that the script waits for", total(t, of(0), has("pack")), 0.985)
}

// A recording may end before the command does: the shell at its root is still waiting, for the
// child that works.
func TestChildThatGoesOn(t *testing.T) {
	m := newMade(1, 0.7)
	m.process(20, 10, 100*ms, 0, "tool").threadFrom(20, 20, 100*ms)
	m.process(30, 10, 50*ms, 0, "idle").threadFrom(30, 30, 50*ms)
	m.runs(10, 10, 0, 100*ms, "main;start").runs(20, 20, 100*ms, 800*ms, "tool;work")
	m.waits(recording.Wait{TimeNs: 100 * ms, BlockedNs: 900 * ms, Pid: 10, Tid: 10, Syscall: "wait4", State: "S",
		WakerKind: recording.WakerPending}, "main;waitpid;k:__x64_sys_wait4")
	m.waits(recording.Wait{TimeNs: 800 * ms, BlockedNs: 200 * ms, Pid: 20, Tid: 20, Syscall: "read", State: "S",
		WakerKind: recording.WakerPending}, "tool;read;k:pipe_read")
	near(t, "the child's work", total(t, m.rec, has("work")), 0.7)
	near(t, "what the child waits for", total(t, m.rec, has("pipe_read")), 0.2)
	near(t, "waiting for it", total(t, m.rec, has("waitpid")), 0)
	near(t, "before", total(t, m.rec, has("start")), 0.1)
}
