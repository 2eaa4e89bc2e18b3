package requests

import (
	"testing"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

const ms = 1_000_000

// besideOf cuts a request of an event loop that is read at 100 ms and answered at 130 ms by thread
// 1, which sleeps for events meanwhile. Other threads of its process slept in fsync, for a file's
// lock or for events.
func besideOf(t *testing.T, interleaved bool, waits []recording.Wait, answers ...asked) map[string]int64 {
	t.Helper()
	rec := &recording.Recording{Waits: waits}
	rec.Waits = append(rec.Waits, recording.Wait{Pid: 7, Tid: 1, TimeNs: 100 * ms, BlockedNs: 30 * ms, State: "S",
		Syscall: "epoll_wait", Stack: recording.NoStack, WakerStack: recording.NoStack})
	request := recording.SlowRequest{ID: 1, Pid: 7, Tid: 1, WriterTid: 1, TimeNs: 99 * ms, WaitNs: ms, LatencyNs: 31 * ms,
		Spent: recording.Spent{NetNs: 30 * ms}, Slow: true}
	if !interleaved { // of a run time that moves requests
		request.WriterTid, request.Unfollowed, request.NetNs = 2, true, 0
	}
	rec.SlowRequests = []recording.SlowRequest{request}
	c := &collection{window: &bpf.Window{Recording: rec, EndNs: 1000 * ms}, asked: map[int32][]asked{7: answers},
		moves: map[int32]bool{7: !interleaved}, hz: 199}
	c.addParts()
	found, sum := byClass(rec.RequestParts)
	if sum != request.LatencyNs {
		t.Errorf("parts have %d ns of %d: %+v", sum, request.LatencyNs, rec.RequestParts)
	}
	return found
}

// byClass adds parts up, those of what others had begun before apart.
func byClass(parts []recording.RequestPart) (found map[string]int64, sum int64) {
	found = map[string]int64{}
	for _, part := range parts {
		class := part.Class
		if part.Beside {
			class += " of others"
		}
		found[class] += part.LengthNs
		sum += part.LengthNs
	}
	return found, sum
}

func asleep(tid int32, call string, from, length int64) recording.Wait {
	state := "S"
	if call == "fsync" {
		state = "D"
	}
	return recording.Wait{Pid: 7, Tid: tid, TimeNs: from, BlockedNs: length, State: state, Syscall: call,
		Stack: recording.NoStack, WakerStack: recording.NoStack}
}

func TestBeside(t *testing.T) {
	for _, each := range []struct {
		name    string
		waits   []recording.Wait
		answers []asked
		class   string
		ns      int64
	}{
		{"another thread syncs for it", []recording.Wait{asleep(3, "fsync", 101*ms, 28*ms)}, nil, "disk", 28 * ms},
		{"two threads in turn", []recording.Wait{asleep(3, "fsync", 101*ms, 10*ms), asleep(4, "fsync", 112*ms, 10*ms)}, nil,
			"disk", 20 * ms},
		{"what had begun before", []recording.Wait{asleep(3, "fsync", 90*ms, 39*ms)}, nil, "disk of others", 29 * ms},
		{"its own before others'", []recording.Wait{asleep(3, "fsync", 90*ms, 39*ms),
			asleep(4, "fsync", 104*ms, 20*ms)}, nil, "disk", 20 * ms},
		{"a file's lock", []recording.Wait{asleep(3, "flock", 101*ms, 28*ms)}, nil, "other", 28 * ms},
		{"a thread that waits for work", []recording.Wait{asleep(3, "epoll_wait", 101*ms, 28*ms)}, nil, "disk", 0},
		{"too little of it", []recording.Wait{asleep(3, "fsync", 101*ms, 10*ms)}, nil, "disk", 0},
		{"a thread that is always at it", []recording.Wait{asleep(3, "fsync", 0, 101*ms), asleep(3, "fsync", 101*ms, 800*ms)},
			nil, "disk", 0},
		{"an answer", nil, []asked{{102 * ms, 128 * ms, "tcp 10.0.0.1:80"}}, "downstream", 26 * ms},
		{"an answer to an earlier one", nil, []asked{{90 * ms, 128 * ms, "tcp 10.0.0.1:80"}}, "downstream", 0},
		{"an answer that comes later", nil, []asked{{102 * ms, 140 * ms, "tcp 10.0.0.1:80"}}, "downstream", 0},
		{"a short answer", nil, []asked{{102 * ms, 104 * ms, "tcp 10.0.0.1:80"}}, "downstream", 0},
	} {
		for _, loop := range []bool{true, false} {
			if got := besideOf(t, loop, each.waits, each.answers...)[each.class]; got != each.ns {
				t.Errorf("%s, loop %v: %d ns %s, want %d", each.name, loop, got, each.class, each.ns)
			}
		}
	}
}

// A loop that runs for two thirds of a request, and sleeps twice meanwhile: what others did while
// it slept counts, if they did it for most of these sleeps.
func TestWhileAsleep(t *testing.T) {
	for _, each := range []struct {
		name  string
		waits []recording.Wait
		class string
		ns    int64
	}{
		{"others sync meanwhile", []recording.Wait{asleep(3, "fsync", 105*ms, 5*ms), asleep(3, "fsync", 120*ms, 4*ms)},
			"disk", 9 * ms},
		{"for less than half of the sleeps", []recording.Wait{asleep(3, "fsync", 105*ms, 2*ms)}, "disk", 0},
		{"while it runs", []recording.Wait{asleep(3, "fsync", 111*ms, 8*ms)}, "disk", 0},
		{"at any time", []recording.Wait{asleep(3, "fsync", 0, 105*ms), asleep(3, "fsync", 105*ms, 800*ms)}, "disk", 0},
		{"what had begun before", []recording.Wait{asleep(3, "fsync", 90*ms, 20*ms), asleep(3, "fsync", 120*ms, 4*ms)},
			"disk of others", 5 * ms},
	} {
		waits := append(each.waits, asleep(1, "epoll_wait", 105*ms, 5*ms), asleep(1, "epoll_wait", 120*ms, 5*ms))
		rec := &recording.Recording{Waits: waits}
		rec.SlowRequests = []recording.SlowRequest{{ID: 1, Pid: 7, Tid: 1, WriterTid: 1, TimeNs: 100 * ms,
			LatencyNs: 30 * ms, Spent: recording.Spent{NetNs: 10 * ms}, Slow: true}}
		c := &collection{window: &bpf.Window{Recording: rec, EndNs: 1000 * ms}, moves: map[int32]bool{}, hz: 199}
		c.addParts()
		found, sum := byClass(rec.RequestParts)
		if found[each.class] != each.ns || sum != 30*ms || found["cpu"] != 20*ms {
			t.Errorf("%s: %v in ns, want %d %s and 20 ms cpu", each.name, found, each.ns, each.class)
		}
	}
}

// Requests that wait for the same thing take about as long: what is slow begins below them, unless
// most are of them.
func TestSlowFrom(t *testing.T) {
	low, high := recording.LatencyOf(400)
	for crowded, want := range map[int64]int64{15: low, 500: high} {
		counted := tally{count: 1000, buckets: map[int32]int64{200: 1000 - crowded, 400: crowded}}
		if got := counted.slowFrom(0.01); got != want {
			t.Errorf("%d of 1000 in the slowest bucket: slow from %d ns, want %d", crowded, got, want)
		}
	}
}

// A thread on a futex waits for an answer when who ends that slept for events until it came. Who
// slept with a lock held, or ran, ends a wait for the lock; so does a thread that was there when no
// answer came.
func TestAnswerIsPassedOn(t *testing.T) {
	for _, each := range []struct {
		call    string
		answers []asked
		class   string
	}{
		{"epoll_wait", []asked{{101 * ms, 128 * ms, "tcp 10.0.0.1:80"}}, recording.PartDownstream},
		{"nanosleep", []asked{{101 * ms, 128 * ms, "tcp 10.0.0.1:80"}}, recording.PartLock},
		{"epoll_wait", nil, recording.PartLock},
		{"epoll_wait", []asked{{90 * ms, 128 * ms, "tcp 10.0.0.1:80"}}, recording.PartLock},
	} {
		waits := []recording.Wait{asleep(1, "futex", 101*ms, 28*ms), asleep(3, each.call, 95*ms, 33*ms)}
		waits[0].WakerTid, waits[0].WakerPid = 3, 7
		rec := &recording.Recording{Waits: waits}
		rec.SlowRequests = []recording.SlowRequest{{ID: 1, Pid: 7, Tid: 1, WriterTid: 1, TimeNs: 99 * ms,
			WaitNs: ms, LatencyNs: 31 * ms, Spent: recording.Spent{LockNs: 28 * ms}, Slow: true}}
		c := &collection{window: &bpf.Window{Recording: rec, EndNs: 1000 * ms}, asked: map[int32][]asked{7: each.answers},
			moves: map[int32]bool{}, hz: 199}
		c.addParts()
		found := map[string]int64{}
		for _, part := range rec.RequestParts {
			found[part.Class] += part.LengthNs
		}
		if found[each.class] != 28*ms {
			t.Errorf("woken by one in %s, answers %v: %v", each.call, each.answers, found)
		}
	}
}
