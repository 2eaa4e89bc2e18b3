package cause

import (
	"strings"
	"testing"

	"culprit/recording"
)

// gang is a program of one kind of code whose workers wait at a condition: where it waits, and
// wakes all or one.
type gang struct{ name, wait, all, one, waker, worker string }

func gangs() []gang {
	return []gang{
		{"C", "w|_start;work;take;libc.so.6!pthread_cond_wait", "_start;main;post;libc.so.6!pthread_cond_broadcast",
			"_start;main;post;libc.so.6!pthread_cond_signal", "main;post", "work;take"},
		{"Java", "w|j:Gang.run;Gang.take;java.lang.Object.wait;n:libjvm.so!ObjectMonitor::wait",
			"j:Gang.main;Gang.post;java.lang.Object.notifyAll;n:libjvm.so!JVM_MonitorNotifyAll",
			"j:Gang.main;Gang.post;java.lang.Object.notify;n:libjvm.so!JVM_MonitorNotify", "Gang.main;Gang.post",
			"Gang.run;Gang.take"},
		{"Python",
			"w|p:work;take;Condition.wait@/usr/lib/python3.11/threading.py;n:python3!PyThread_acquire_lock_timed",
			"p:post;Condition.notify_all@/usr/lib/python3.11/threading.py;Condition.notify@/usr/lib/python3.11/threading.py",
			"p:post;Condition.notify@/usr/lib/python3.11/threading.py", "post", "work;take"},
	}
}

// side is the program when its workers wait so often, and waking all and one of them takes so long.
func (g gang) side(waits int, asleep, all, one float64) plan {
	thread, stack, _ := strings.Cut(g.wait, "|")
	if waits == 0 {
		return plan{cpu: map[string]float64{g.one: one + 300}}
	}
	inKernel := ";k:do_syscall_64;__x64_sys_futex"
	p := plan{cpu: map[string]float64{g.one: one + 300, thread + "|" + stack + inKernel: asleep},
		waits: []wait{{tid: 101, count: waits, ms: 0.1, call: "futex", stack: stack + inKernel,
			waker: recording.WakerThread, wakerTi: 100}}}
	if all > 0 {
		p.cpu[g.all] = all
	}
	return p
}

// TestHerd tells workers that are all woken for one item from those that wait more often for
// another reason.
func TestHerd(t *testing.T) {
	t.Parallel()
	for _, g := range gangs() {
		for _, test := range []struct {
			name string
			a, b plan
			herd bool
		}{
			{"woken together", g.side(100, 20, 0, 0), g.side(1000, 300, 60, 0), true},
			{"woken one by one, for more work", g.side(100, 20, 0, 0), g.side(1000, 300, 0, 60), false},
			{"woken together on both sides, a barrier", g.side(100, 20, 10, 0), g.side(1000, 300, 60, 0), false},
			{"a condition that is new", g.side(0, 0, 0, 0), g.side(1000, 300, 60, 0), false},
		} {
			suspects := judged(t, "cpu", test.a, test.b, Costs{})
			if len(suspects) == 0 {
				t.Errorf("%s, %s: nothing is suspected", g.name, test.name)
				continue
			}
			first := suspects[0]
			if herd := first.Cause == "lock.contended" && first.Claim == herdClaim; herd != test.herd {
				t.Errorf("%s, %s: %s, %q; all woken for nothing: want %v", g.name, test.name, described(suspects), first.Claim,
					test.herd)
				continue
			}
			if !test.herd {
				continue
			}
			if len(first.Where) < 2 || first.Where[0] != g.waker || first.Where[1] != "woken in "+g.worker {
				t.Errorf("%s, %s: where is %q, want %s, woken in %s", g.name, test.name, first.Where, g.waker, g.worker)
			}
			if first.Share.Value < 0.9 || first.Remedy != herdRemedy {
				t.Errorf("%s, %s: %s, remedy %q", g.name, test.name, described(suspects), first.Remedy)
			}
		}
	}
}

// What a run time does in its own conditions is no wait of the program's.
func TestConditionsOfARunTime(t *testing.T) {
	frames := []recording.Frame{{Name: "Gang.take", Kind: recording.KindJVM},
		{Name: "Parker::park", Kind: recording.KindNative}, {Name: "pthread_cond_wait", Kind: recording.KindNative}}
	if called(frames, 0, conditionOf(frames, 0).Wait) {
		t.Error("a thread that the JVM parks waits for a condition of Java")
	}
	if names := conditionOf(frames, -1); names.Wait != nil {
		t.Errorf("code of nobody waits in %q", names.Wait)
	}
}
