package requests

import (
	"testing"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// brought is what thread 3 of a process did while thread 1 had a request.
type brought struct {
	name   string
	waits  string // how the request's thread waits
	of     []recording.Wait
	serves bool // thread 3 serves requests itself
	class  string
	ms     int64
	by     int32 // who wakes the request's thread
}

const (
	inLoop   = "epoll_wait"
	inFuture = "futex"
	inLock   = "mutex"
)

// stacks are those of a wait for an event and for a lock.
type stacks struct {
	builder     *recording.Builder
	event, lock int32
}

func newStacks() *stacks {
	s := &stacks{builder: recording.NewBuilder()}
	of := func(names ...string) int32 {
		var frames []int32
		for _, name := range names {
			frames = append(frames, s.builder.Frame(recording.Frame{Name: name, Kind: recording.KindNative}))
		}
		return s.builder.Stack(frames)
	}
	s.event, s.lock = of("serve", "std::condition_variable::wait"), of("serve", "pthread_mutex_lock")
	return s
}

// handed makes a wait one that a thread ended.
func handed(wait recording.Wait, by, stack int32) recording.Wait {
	wait.WakerKind, wait.WakerPid, wait.WakerTid, wait.Stack = recording.WakerThread, 7, by, stack
	return wait
}

// nap is a sleep that a timer ended.
func nap(tid int32, from, length int64) recording.Wait {
	wait := asleep(tid, "clock_nanosleep", from, length)
	wait.WakerKind = recording.WakerTimer
	return wait
}

func napOnFutex(tid int32, from, length int64, stack int32) recording.Wait {
	wait := nap(tid, from, length)
	wait.Syscall, wait.Stack = "futex", stack
	return wait
}

// parts cuts a request that is read at 100 ms and answered at 130 ms by thread 1, which sleeps from
// 101 to 129 ms.
func (each *brought) parts(s *stacks) (parts []recording.RequestPart) {
	own := handed(asleep(1, each.waits, 101*ms, 28*ms), each.by, recording.NoStack)
	spent := recording.Spent{LockNs: 28 * ms}
	switch each.waits {
	case inLoop:
		spent = recording.Spent{NetNs: 28 * ms}
	case inFuture:
		own.Stack = s.event
	case inLock:
		own.Syscall, own.Stack = "futex", s.lock
	}
	rec := &recording.Recording{Waits: append([]recording.Wait{own}, each.of...)}
	rec.SlowRequests = []recording.SlowRequest{{ID: 1, Pid: 7, Tid: 1, WriterTid: 1, TimeNs: 100 * ms,
		LatencyNs: 30 * ms, Spent: spent, Slow: true}}
	if each.serves {
		rec.SlowRequests = append(rec.SlowRequests, recording.SlowRequest{ID: 2, Pid: 7, Tid: 3, WriterTid: 3,
			TimeNs: 200 * ms, LatencyNs: ms})
	}
	c := &collection{window: &bpf.Window{Recording: rec, EndNs: 1000 * ms, Builder: s.builder},
		moves: map[int32]bool{}, hz: 199}
	c.addParts()
	for _, part := range rec.RequestParts {
		if part.Request == 1 {
			parts = append(parts, part)
		}
	}
	return parts
}

// The wait of a request's thread is told by what the thread did that ended it, if that was for an
// event; the sleep of a loop also by a thread that slept as long as the request took.
func TestDoneByWaker(t *testing.T) {
	s := newStacks()
	for _, each := range []brought{
		{"sleeps", inLoop, []recording.Wait{nap(3, 102*ms, 26*ms)}, false, "sleep", 26, 3},
		{"sleeps", inFuture, []recording.Wait{nap(3, 102*ms, 26*ms)}, false, "sleep", 26, 3},
		{"naps on a futex", inFuture, []recording.Wait{napOnFutex(3, 102*ms, 26*ms, s.event)}, false, "sleep", 26, 3},
		{"looks for a lock again", inFuture, []recording.Wait{napOnFutex(3, 102*ms, 26*ms, s.lock)}, false, "lock", 26, 3},
		{"syncs", inFuture, []recording.Wait{asleep(3, "fsync", 102*ms, 26*ms)}, false, "disk", 26, 3},
		{"waits for a lock", inLoop, []recording.Wait{handed(asleep(3, "futex", 102*ms, 26*ms), 4, s.lock)}, false,
			"lock", 26, 3},
		{"reads a socket", inFuture, []recording.Wait{asleep(3, "recvfrom", 102*ms, 26*ms)}, false, "net", 26, 3},
		{"had begun before", inLoop, []recording.Wait{nap(3, 90*ms, 38*ms)}, false, "sleep of others", 28, 3},
		{"waits for a third thread's sleep", inFuture, []recording.Wait{
			handed(asleep(3, "futex", 102*ms, 26*ms), 4, s.event),
			nap(4, 103*ms, 24*ms)}, false, "sleep", 24, 3},
		{"waits for work", inLoop, []recording.Wait{handed(asleep(3, "futex", 10*ms, 118*ms), 4, s.event),
			nap(4, 103*ms, 20*ms)}, false, "sleep", 0, 3},
		{"waits for events", inLoop, []recording.Wait{asleep(3, "epoll_wait", 102*ms, 26*ms)}, false, "net", 28, 3},
		{"waits for work, then sleeps for a little", inLoop, []recording.Wait{
			handed(asleep(3, "futex", 10*ms, 110*ms), 4, s.event),
			nap(3, 120*ms, 8*ms)}, false, "sleep", 0, 3},
		{"is at something that no sample tells", inFuture, []recording.Wait{asleep(3, "futex", 10*ms, 92*ms)}, false,
			"unknown", 27, 3},
		{"holds a lock", inLock, []recording.Wait{nap(3, 102*ms, 26*ms)}, false, "lock", 28, 3},
		{"serves another request", inFuture, []recording.Wait{nap(3, 102*ms, 26*ms)}, true,
			"lock", 28, 3},
		{"sleeps as long, another one wakes the loop", inLoop, []recording.Wait{nap(3, 102*ms, 26*ms)}, false,
			"sleep", 26, 9},
		{"sleeps for most of it, another one wakes the loop", inLoop, []recording.Wait{nap(3, 102*ms, 20*ms)}, false,
			"sleep", 0, 9},
		{"sleeps beyond it, another one wakes the loop", inLoop, []recording.Wait{nap(3, 102*ms, 40*ms)}, false,
			"sleep", 0, 9},
		{"is a ticker", inLoop, []recording.Wait{nap(3, 102*ms, 26*ms),
			nap(3, 200*ms, 600*ms)}, false, "sleep", 0, 9},
	} {
		found, sum := byClass(each.parts(s))
		if found[each.class] != each.ms*ms || sum != 30*ms {
			t.Errorf("%s, thread 1 in %s: %v in ns, want %d ms %s", each.name, each.waits, found, each.ms, each.class)
		}
	}
}
