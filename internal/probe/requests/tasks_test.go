package requests

import (
	"strings"
	"testing"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/unwind"
	"culprit/recording"
)

// taskStacks are those of a thread that waits for tasks, of a run time's that waits for a timer,
// and of one that sleeps in the program's code.
type taskStacks struct {
	builder              *recording.Builder
	tasks, timer, backOf int32
}

func newTaskStacks() *taskStacks {
	s := &taskStacks{builder: recording.NewBuilder()}
	of := func(names ...string) int32 {
		var frames []int32
		for _, name := range names {
			frames = append(frames, s.builder.Frame(recording.Frame{Name: name, Kind: recording.KindJVM}))
		}
		return s.builder.Stack(frames)
	}
	s.tasks = of("int java.util.concurrent.ForkJoinPool.awaitWork(java.util.concurrent.ForkJoinPool$WorkQueue, int)")
	s.timer = of("void java.util.concurrent.DelayScheduler.run()")
	s.backOf = of("void Shop.askAgain()", "void java.lang.Thread.sleep(long)")
	return s
}

// onFutex is a sleep that a thread of the process ended; 0: a timer.
func onFutex(tid int32, from, length int64, stack, by int32) recording.Wait {
	wait := asleep(tid, "futex", from, length)
	wait.Stack, wait.WakerKind, wait.WakerPid, wait.WakerTid = stack, recording.WakerThread, 7, by
	if by == 0 {
		wait.WakerKind, wait.WakerPid = recording.WakerTimer, 0
	}
	return wait
}

// taskCase is what threads did while a task of theirs had a request, which thread 1 reads at 100 ms
// and answers at 130 ms.
type taskCase struct {
	name    string
	writer  int32 // who answers; 0: thread 1
	waits   []recording.Wait
	ran     []int64 // thread 3 was sampled then, in ms
	answers []asked
	class   string
	ms      int64
}

func (each *taskCase) cut(t *testing.T, s *taskStacks) []recording.RequestPart {
	t.Helper()
	rec := &recording.Recording{Waits: each.waits}
	if strings.Contains(each.name, "compiler") {
		rec.Threads = []recording.Thread{{Pid: 7, Tid: 3, Comm: "C2 CompilerThre"}}
	}
	rec.SlowRequests = []recording.SlowRequest{{ID: 1, Pid: 7, Tid: 1, WriterTid: max(1, each.writer), TimeNs: 100 * ms,
		LatencyNs: 30 * ms, Slow: true, Interleaved: each.writer == 0, Spent: recording.Spent{LockNs: 28 * ms}}}
	window := &bpf.Window{Recording: rec, EndNs: 1000 * ms, Builder: s.builder, Comm: map[int32]string{7: "shop"}}
	for _, at := range each.ran {
		window.Traces = append(window.Traces, unwind.Trace{Pid: 7, Tid: 3, KtimeNs: at * ms, Stack: 1})
	}
	c := &collection{window: window, moves: map[int32]bool{}, asked: map[int32][]asked{7: each.answers}, hz: 199}
	c.addParts()
	return rec.RequestParts
}

// What a task waited for is told by who ended the last sleep of the thread that answered.
func TestWhatBringsATaskBack(t *testing.T) {
	s := newTaskStacks()
	awaits := func(tid int32, from, until int64, by int32) recording.Wait {
		return onFutex(tid, from*ms, (until-from)*ms, s.tasks, by)
	}
	others := []int64{104, 109, 114, 119, 124}
	for _, each := range []taskCase{
		{"a timer", 0, []recording.Wait{awaits(1, 101, 110, 9), awaits(1, 111, 129, 0)}, nil, nil, "sleep", 28},
		{"who keeps the timers", 0, []recording.Wait{awaits(1, 101, 129, 3),
			onFutex(3, 50*ms, 79*ms, s.timer, 0)}, nil, nil, "sleep", 28},
		{"another thread that had it from there", 2, []recording.Wait{awaits(1, 101, 200, 9), awaits(2, 90, 129, 4),
			awaits(4, 90, 129, 3), onFutex(3, 50*ms, 79*ms, s.timer, 0)}, nil, nil, "sleep", 28},
		{"a thread that slept in the program's code", 0, []recording.Wait{awaits(1, 101, 129, 3),
			onFutex(3, 102*ms, 27*ms, s.backOf, 0)}, nil, nil, "sleep", 27},
		{"a thread that began by itself", 0, []recording.Wait{awaits(1, 101, 129, 3),
			onFutex(3, 50*ms, 52*ms, s.backOf, 0)}, others, nil, "lock", 28},
		{"a thread that was asked to", 0, []recording.Wait{awaits(1, 101, 129, 3),
			onFutex(3, 50*ms, 52*ms, s.backOf, 1)}, others, nil, "cpu", 29},
		{"an answer of another service", 0, []recording.Wait{awaits(1, 101, 129, 5), asleep(5, "epoll_wait", 102*ms, 27*ms)},
			nil, []asked{{102 * ms, 128 * ms, "tcp 10.0.0.1:80"}}, "downstream", 26},
		{"what came for another task", 0, []recording.Wait{awaits(1, 101, 129, 5), asleep(5, "epoll_wait", 102*ms, 27*ms)},
			nil, nil, "unknown", 28},
		{"a timer, while its thread ran others", 0, []recording.Wait{awaits(1, 101, 128, 5),
			asleep(5, "epoll_wait", 102*ms, 26*ms), onFutex(3, 50*ms, 79*ms, s.timer, 0)}, nil, nil, "sleep", 27},
		{"what a compiler runs is for nobody", 0, []recording.Wait{awaits(1, 101, 129, 5),
			asleep(5, "epoll_wait", 102*ms, 27*ms), onFutex(3, 50*ms, 52*ms, s.timer, 5),
			onFutex(3, 129*ms, 800*ms, s.timer, 5)}, others, nil, "unknown", 28},
		{"nothing: it was on its thread", 0, []recording.Wait{awaits(1, 101, 103, 0)}, nil, nil, "sleep", 0},
	} {
		found, sum := byClass(each.cut(t, s))
		if found[each.class] != each.ms*ms || sum != 30*ms {
			t.Errorf("%s: %v in ns, want %d ms %s", each.name, found, each.ms, each.class)
		}
	}
}

// Timers that run out all the time are no evidence that one did for this request.
func TestTimersByChance(t *testing.T) {
	s := newTaskStacks()
	each := taskCase{class: "unknown", waits: []recording.Wait{onFutex(1, 101*ms, 22*ms, s.tasks, 5),
		asleep(5, "epoll_wait", 102*ms, 21*ms)}}
	for at := int64(1); at < 1000; at += 20 {
		each.waits = append(each.waits, onFutex(3, at*ms, 19*ms, s.timer, 0))
	}
	if found, _ := byClass(each.cut(t, s)); found["unknown"] != 22*ms || found["sleep"] != 0 {
		t.Errorf("50 timers in a second: %v in ns, want 22 ms unknown", found)
	}
}

// A thread that carries tasks and sleeps before a request is read has nothing to do: no lock.
func TestUnreadWithoutTasks(t *testing.T) {
	s := newTaskStacks()
	rec := &recording.Recording{Waits: []recording.Wait{onFutex(1, 50*ms, 70*ms, s.tasks, 5)}}
	rec.SlowRequests = []recording.SlowRequest{{ID: 1, Pid: 7, Tid: 1, WriterTid: 1, TimeNs: 100 * ms, WaitNs: 20 * ms,
		LatencyNs: 30 * ms, Slow: true}}
	c := &collection{window: &bpf.Window{Recording: rec, EndNs: 1000 * ms, Builder: s.builder},
		moves: map[int32]bool{}, hz: 199}
	c.addParts()
	if found, _ := byClass(rec.RequestParts); found["idle"] != 20*ms || found["lock"] != 0 {
		t.Errorf("%v in ns, want 20 ms idle", found)
	}
}
