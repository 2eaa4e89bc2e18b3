package requests

import (
	"testing"
	"time"
	"unsafe"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// goroutineOf cuts a request of a goroutine that is read at 100 ms by thread 1 and answered at
// 160 ms by thread 2, and was looked at meanwhile, each 10 ms from 105 ms on.
func goroutineOf(t *testing.T, writer int32, waits []recording.Wait, spent recording.Spent,
	looks ...looked) map[string]int64 {
	t.Helper()
	rec := &recording.Recording{Waits: waits}
	request := recording.SlowRequest{ID: 1, Pid: 7, Tid: 1, WriterTid: writer, TimeNs: 100 * ms,
		LatencyNs: 60 * ms, Slow: true, Unfollowed: true}
	rec.SlowRequests = []recording.SlowRequest{request}
	g := &goroutines{looks: map[inProgress][]looked{}}
	for i, look := range looks {
		if look.atNs == 0 {
			look.atNs = 105*ms + int64(i)*10*ms
		}
		look.pauseMs = 10
		key := inProgress{100 * ms, 1}
		g.looks[key] = append(g.looks[key], look)
	}
	c := &collection{window: &bpf.Window{Recording: rec, EndNs: 1000 * ms, Comm: map[int32]string{7: "shop"}},
		moves: map[int32]bool{7: true}, hz: 199, looked: g, byThread: map[int64]recording.Spent{}}
	if spent != (recording.Spent{}) {
		c.byThread[1] = spent
	}
	c.addParts()
	found, sum := byClass(rec.RequestParts)
	if sum != request.LatencyNs {
		t.Errorf("parts have %d ns of %d: %+v", sum, request.LatencyNs, rec.RequestParts)
	}
	return found
}

// Nothing was sampled: what takes a period of the samples, 5 ms, and more did not run.
func TestGoroutines(t *testing.T) {
	on := func(tid int32) looked { return looked{tid: tid, stack: noStack} }
	ready := looked{stack: noStack, runnable: true}
	waiting := looked{stack: noStack} // at a stack without names
	for _, each := range []struct {
		name   string
		writer int32
		waits  []recording.Wait
		spent  recording.Spent
		looks  []looked
		wanted map[string]int64 // ms
	}{
		{"nobody looked", 2, nil, recording.Spent{}, nil, map[string]int64{"unknown": 60}},
		{"it waited, nobody knows where", 2, nil, recording.Spent{},
			[]looked{waiting, waiting, waiting, waiting, waiting}, map[string]int64{"unknown": 60}},
		{"no thread took it up", 2, nil, recording.Spent{}, []looked{ready, ready, waiting, waiting, waiting},
			map[string]int64{"queued": 20, "unknown": 40}},
		{"it was in fsync when it was seen", 2, []recording.Wait{asleep(3, "fsync", 100*ms, 30*ms)}, recording.Spent{},
			[]looked{on(3), on(3), on(3), on(2), on(2)}, map[string]int64{"disk": 30, "unknown": 30}},
		{"the thread it had been on waited for work later", 2, []recording.Wait{asleep(3, "futex", 106*ms, 52*ms)},
			recording.Spent{}, []looked{on(3), ready, ready, ready, ready}, map[string]int64{"unknown": 10, "queued": 50}},
		{"it was in a lock of C code", 2, []recording.Wait{asleep(3, "futex", 101*ms, 59*ms)}, recording.Spent{},
			[]looked{on(3), on(3), on(3), on(3), on(3)}, map[string]int64{"cpu": 1, "lock": 59}},
		{"a look speaks for a short time", 2, nil, recording.Spent{},
			[]looked{{stack: noStack, runnable: true, atNs: 130 * ms}}, map[string]int64{"unknown": 20, "queued": 40}},
		{"short waits of the thread that it never left", 1, nil, recording.Spent{DiskNs: 50 * ms},
			[]looked{on(1), on(1), on(1), on(1), on(1)}, map[string]int64{"disk": 50, "cpu": 10}},
		{"the waits of a thread that it left are not its own", 1, nil, recording.Spent{DiskNs: 50 * ms},
			[]looked{on(1), on(1), ready, on(1), on(1)}, map[string]int64{"queued": 10, "unknown": 50}},
	} {
		got := goroutineOf(t, each.writer, each.waits, each.spent, each.looks...)
		for class, ns := range got {
			if ns != each.wanted[class]*ms {
				t.Errorf("%s: %s %d ms, wanted %d", each.name, class, ns/ms, each.wanted[class])
			}
		}
		for class := range each.wanted {
			if got[class] == 0 {
				t.Errorf("%s: no %s", each.name, class)
			}
		}
	}
}

// What a goroutine waits for is told by the function that parks it.
func TestParkedIn(t *testing.T) {
	for wanted, names := range map[string][]string{
		recording.PartUnknown:  nil,
		recording.PartLock:     {"runtime.goexit", "main.work", "sync.runtime_SemacquireRWMutexR", "runtime.gopark"},
		recording.PartSleep:    {"runtime.goexit", "main.work", "time.Sleep", "runtime.gopark"},
		recording.PartNet:      {"runtime.goexit", "main.work", "internal/poll.runtime_pollWait", "runtime.gopark"},
		recording.PartHandover: {"runtime.goexit", "main.work", "runtime.chanrecv", "runtime.gopark"},
	} {
		var frames []*recording.Frame
		for _, name := range names {
			frames = append(frames, &recording.Frame{Kind: recording.KindGo, Name: name})
		}
		if got := parkedIn(frames); got != wanted {
			t.Errorf("%q: %s, wanted %s", names, got, wanted)
		}
		if functions := withoutWaiting(frames); len(names) > 0 && (len(functions) != 2 && wanted != recording.PartSleep ||
			functions[len(functions)-2] != "main.work") {
			t.Errorf("%q: functions %q", names, functions)
		}
	}
}

// The kinds of goroutines are told by what they began with, of Go alone.
func TestStartIn(t *testing.T) {
	frame := func(kind recording.FrameKind, name string) *recording.Frame {
		return &recording.Frame{Kind: kind, Name: name}
	}
	for _, each := range []struct {
		frames []*recording.Frame
		wanted string
	}{
		{nil, ""},
		{[]*recording.Frame{frame(recording.KindGo, "runtime.goexit"), frame(recording.KindGo, "main.work"),
			frame(recording.KindGo, "main.add")}, "main.work"},
		{[]*recording.Frame{frame(recording.KindGo, "main.work")}, "main.work"},
		{[]*recording.Frame{frame(recording.KindNative, "start_thread"), frame(recording.KindGo, "main.work")}, ""},
	} {
		if got := startIn(each.frames); got != each.wanted {
			t.Errorf("%d frames: %q, wanted %q", len(each.frames), got, each.wanted)
		}
	}
}

// So many looks and stacks are kept, and no more.
func TestLooksAreBounded(t *testing.T) {
	g := (&Session{}).newGoroutines()
	first := g.keep([]uint64{1, 2, 3})
	if again := g.keep([]uint64{1, 2, 3}); again != first || g.keep(nil) != noStack {
		t.Errorf("%d and %d", first, again)
	}
	for i := range uint64(mostStacks + 10) {
		g.keep([]uint64{i})
	}
	if len(g.stacks) != mostStacks || g.keep([]uint64{1, 2, 3}) != first || g.keep([]uint64{1 << 40}) != noStack {
		t.Errorf("%d stacks", len(g.stacks))
	}
}

// Looks are seldom once they have cost too much, and often again when they have not for a while.
func TestPauseOfLooks(t *testing.T) {
	g := (&Session{}).newGoroutines()
	for _, each := range []struct {
		left, was, wanted time.Duration
	}{
		{lookAhead, lookOften, lookOften},
		{lookAhead / 4, lookOften, lookOften},
		{-1, lookOften, lookSeldom},
		{lookAhead / 4, lookSeldom, lookSeldom},
		{lookAhead, lookSeldom, lookOften},
	} {
		if g.left, g.pause = each.left, each.was; g.pauseFor() != each.wanted {
			t.Errorf("%v left, %v before: %v, wanted %v", each.left, each.was, g.pauseFor(), each.wanted)
		}
	}
}

// Of the slots those count whose request was read a while ago, and has no answer.
func TestUnanswered(t *testing.T) {
	now := uint64(bpf.Now())
	slots := []requestsWaiting{
		{Begin: 1, Since: now - 20*ms, Goroutine: 7},
		{Begin: 0, Since: now - 20*ms, Goroutine: 8},                // answered
		{Begin: 3, Since: now - ms/10, Goroutine: 9},                // just read
		{Begin: 4, Since: now + 1000*ms, Goroutine: 10},             // being written
		{Begin: 5, Since: now - 2*uint64(forgotten), Goroutine: 11}, // its connection is gone
	}
	text := unsafe.Slice((*byte)(unsafe.Pointer(&slots[0])), len(slots)*int(unsafe.Sizeof(slots[0])))
	if got := unanswered(text); len(got) != 1 || got[0].Goroutine != 7 {
		t.Errorf("%+v", got)
	}
}
