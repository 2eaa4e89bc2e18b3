package cause

import (
	"slices"
	"strings"
	"testing"

	"culprit/recording"
)

// parked is a side of a Go program whose tasks sleep so often, with CPU time of so many ms in the
// slow ways of a lock that main.post takes.
func parked(sleeps int, locking float64) plan {
	p := plan{cpu: map[string]float64{goWorker + "main.post;main.settle": 30 + float64(sleeps)/10},
		waits: []wait{{count: sleeps, ms: 2, call: "epoll_pwait", stack: tick, waker: recording.WakerTimer}}}
	if locking > 0 {
		p.cpu[goWorker+"main.post;main.post.deferwrap1;internal/sync.(*Mutex).unlockSlow;runtime.semrelease1"] = locking
	}
	return p
}

// TestTasksQueueForALock tells tasks that sleep one after the other, with a lock, from tasks that
// sleep longer.
func TestTasksQueueForALock(t *testing.T) {
	for _, test := range []struct {
		name   string
		a, b   plan
		cause  ID
		unseen bool
	}{
		{"a lock that is handed on", parked(40, 0), parked(320, 8), "lock.contended", false},
		{"no lock", parked(40, 0), parked(320, 0), "sleep.deliberate", true},
		{"a lock that both sides hand on as often", parked(40, 8), parked(320, 14), "sleep.deliberate", true},
		{"one sample of a lock", parked(40, 0), parked(320, 1), "sleep.deliberate", true},
	} {
		suspects := judged(t, "wall", test.a, test.b, Costs{})
		if len(suspects) == 0 || suspects[0].Cause != test.cause {
			t.Errorf("%s: %s, want %s", test.name, described(suspects), test.cause)
			continue
		}
		first := suspects[0]
		if first.Share.Value < 0.8 {
			t.Errorf("%s: a share of %.2f, want nearly all", test.name, first.Share.Value)
		}
		if test.cause == "lock.contended" && !strings.HasSuffix(first.Where[0], "main.post") {
			t.Errorf("%s: where is %q, want main.post, which takes the lock", test.name, first.Where)
		}
		if slices.Contains(first.Against, (&scene{}).unseenTasks()) != test.unseen {
			t.Errorf("%s: against %q, told that tasks have no stack: want %v", test.name, first.Against, test.unseen)
		}
	}
}

// TestALockThatNobodyWaitsFor has a thread that waits for a CPU and takes CPython's lock, which
// nobody else wants.
func TestALockThatNobodyWaitsFor(t *testing.T) {
	a := plan{cpu: map[string]float64{pyRun + "handle": 300}}
	b := plan{cpu: map[string]float64{pyRun + "handle": 300, pyRun + "report": 30,
		pyRun + "report;n:PyEval_RestoreThread;take_gil": 5},
		waits: []wait{{count: 100, waker: recording.WakerNone, stack: pyRun + "report", runMs: 3, runner: "prog"}}}
	suspects := judged(t, "wall", a, b, Costs{})
	if len(suspects) == 0 || suspects[0].Cause != "code.added" || suspects[0].Where[0] != "<module>;report" {
		t.Errorf("%s, want code.added at <module>;report", described(suspects))
	}
}

// TestTasksQueueAtAChannel has tasks that wait for a pool: the sleeps stay what they are, but the
// queue is told.
func TestTasksQueueAtAChannel(t *testing.T) {
	const give = goWorker + "main.request;main.(*pool).put;runtime.chansend1;runtime.chansend;runtime.send"
	for _, queued := range []bool{true, false} {
		a, b := parked(40, 0), parked(320, 0)
		if queued {
			b.cpu[give] = 8
		}
		suspects := judged(t, "wall", a, b, Costs{})
		if len(suspects) == 0 || suspects[0].Cause != "sleep.deliberate" {
			t.Errorf("queued %v: %s, want sleep.deliberate", queued, described(suspects))
			continue
		}
		first := suspects[0]
		told := slices.ContainsFunc(first.Where, func(where string) bool {
			return strings.HasPrefix(where, "queue in ") && strings.HasSuffix(where, "main.(*pool).put")
		})
		if told != queued || (first.Remedy == byTurnsRemedy) != queued {
			t.Errorf("queued %v: where %q, remedy %q", queued, first.Where, first.Remedy)
		}
	}
}

// TestWaitingForACPUIsNoCode has a function that runs as long as before, and waits for a CPU that
// nobody is known to have had.
func TestWaitingForACPUIsNoCode(t *testing.T) {
	a := plan{cpu: map[string]float64{"_start;main;parse": 100}}
	b := plan{cpu: map[string]float64{"_start;main;parse": 100},
		waits: []wait{{count: 50, waker: recording.WakerNone, stack: "_start;main;parse", runMs: 4, runner: "prog"}}}
	for _, suspect := range judged(t, "wall", a, b, Costs{}) {
		if suspect.Cause == "code.grew" || suspect.Cause == "code.added" {
			t.Errorf("%s at %q, want no code", suspect.Cause, suspect.Where)
		}
	}
}

// TestNapsOfARunTime has threads of Go's run time nap between looks for work, half of them without
// a stack: the tasks queue for a lock, or it is something else; that the program sleeps is never
// said.
func TestNapsOfARunTime(t *testing.T) {
	naps := func(count int, locking float64) plan {
		p := parked(0, locking)
		const steal = "n:prog;g:runtime.mcall;runtime.schedule;runtime.findRunnable;runtime.runqgrab;runtime.usleep;" +
			"k:do_syscall_64;__x64_sys_nanosleep;hrtimer_nanosleep"
		for _, stack := range []string{steal, "k:do_syscall_64;__x64_sys_nanosleep;hrtimer_nanosleep"} {
			p.waits = append(p.waits, wait{count: count, ms: 1, call: "nanosleep", stack: stack,
				waker: recording.WakerTimer})
		}
		return p
	}
	spun := func(p plan) plan { // for a lock that is free at once, as often on both sides
		p.cpu[goWorker+"main.post;internal/sync.(*Mutex).lockSlow;runtime.procyieldAsm"] = 8
		return p
	}
	suspects := judged(t, "wall", spun(naps(4, 0)), spun(naps(80, 8)), Costs{})
	if len(suspects) == 0 || suspects[0].Cause != "lock.contended" || suspects[0].Share.Value < 0.8 {
		t.Errorf("naps beside a lock that is handed on: %s, want lock.contended, nearly all", described(suspects))
	}
	for _, suspect := range judged(t, "wall", naps(4, 0), naps(80, 0), Costs{}) {
		if suspect.Cause == "sleep.deliberate" || strings.Contains(strings.Join(suspect.Where, " "), "usleep") {
			t.Errorf("naps of the run time are told as the program's doing: %s", described([]Suspect{suspect}))
		}
	}
	suspects = judged(t, "wall", spun(naps(4, 2)), spun(naps(80, 8)), Costs{})
	if len(suspects) == 0 || suspects[0].Cause != "lock.contended" {
		t.Errorf("a lock that is handed on three times as often: %s, want lock.contended", described(suspects))
	}
}

// TestSleepsOfLoops has sleeps of loops that wake whichever of their tasks is due: as many more may
// be the same ones after each other. A thread's own sleeps leave nothing open.
func TestSleepsOfLoops(t *testing.T) {
	for _, test := range []struct {
		stack string
		told  bool
	}{
		{"n:node::SpinEventLoop;uv_run;uv__io_poll;k:__x64_sys_epoll_pwait", true},
		{pyRun + "BaseEventLoop._run_once@/usr/lib/python3.11/asyncio/base_events.py;EpollSelector.select@/usr/lib/" +
			"python3.11/selectors.py;k:__x64_sys_epoll_pwait", true},
		{"j:java.util.concurrent.DelayScheduler.loop;jdk.internal.misc.Unsafe.park;k:__x64_sys_futex", true},
		{pyRun + "settle;k:__x64_sys_epoll_pwait", false},
	} {
		sleeps := func(count int) plan {
			return plan{cpu: map[string]float64{pyRun + "settle": 30}, waits: []wait{{count: count, ms: 2,
				call: "epoll_pwait", stack: test.stack, waker: recording.WakerTimer, jitter: 0.3}}}
		}
		suspects := judged(t, "wall", sleeps(40), sleeps(320), Costs{})
		if len(suspects) == 0 || suspects[0].Cause != "sleep.deliberate" {
			t.Errorf("%s: %s, want sleep.deliberate", test.stack, described(suspects))
			continue
		}
		if told := slices.Contains(suspects[0].Against, unseenInLoop); told != test.told {
			t.Errorf("%s: told that tasks have no stack: %v, want %v", test.stack, told, test.told)
		}
	}
}
