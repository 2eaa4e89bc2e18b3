package slow

import (
	"slices"
	"testing"

	"culprit/recording"
)

const ms = 1_000_000

// call makes a slow call of a thread from one millisecond to another.
func call(tid int32, from, until int64, name, kind, object string) recording.Slow {
	return recording.Slow{TimeNs: from * ms, DurationNs: (until - from) * ms, BlockedNs: (until - from) * ms, Pid: 1,
		Tid: tid, Name: name, ObjectKind: kind, Object: object}
}

func wokenBy(tid int32, kind string, slow recording.Slow) recording.Slow {
	slow.WakerTid, slow.WakerKind = tid, kind
	return slow
}

// Calls are one stall when they overlap and wait for the same thing.
func TestStalls(t *testing.T) {
	file, lock, socket := recording.ObjectFile, recording.ObjectLock, recording.ObjectSocket
	thread, kernel := recording.WakerThread, recording.WakerKernel
	for _, c := range []struct {
		name  string
		calls []recording.Slow
		want  []int32
	}{
		{"one alone", []recording.Slow{call(1, 0, 5, "fsync", file, "/a")}, []int32{1}},
		{"the same file at the same time",
			[]recording.Slow{call(1, 0, 5, "write", file, "/a"), call(2, 1, 6, "write", file, "/a")}, []int32{1, 1}},
		{"the same file one after the other",
			[]recording.Slow{call(1, 0, 5, "write", file, "/a"), call(2, 5, 9, "write", file, "/a")}, []int32{1, 2}},
		{"a long one spans two that do not meet", []recording.Slow{call(1, 0, 20, "write", file, "/a"),
			call(2, 1, 3, "write", file, "/a"), call(3, 10, 12, "write", file, "/a")}, []int32{1, 1, 1}},
		{"other files, no waker in common",
			[]recording.Slow{call(1, 0, 5, "write", file, "/a"), call(2, 1, 6, "write", file, "/b")}, []int32{1, 2}},
		{"other files, one journal", []recording.Slow{wokenBy(99, kernel, call(1, 0, 5, "fsync", file, "/a")),
			wokenBy(99, kernel, call(2, 1, 6, "fsync", file, "/b"))}, []int32{1, 1}},
		{"interrupts are no waker in common",
			[]recording.Slow{wokenBy(99, recording.WakerInterrupt, call(1, 0, 5, "pread64", file, "/a")),
				wokenBy(99, recording.WakerInterrupt, call(2, 1, 6, "pread64", file, "/b"))}, []int32{1, 2}},
		{"a lock whose holder is in the stall", []recording.Slow{call(1, 0, 9, "fsync", file, "/a"),
			wokenBy(1, thread, call(2, 1, 10, "futex", lock, "0x10")),
			call(3, 2, 11, "futex", lock, "0x10")}, []int32{1, 1, 1}},
		{"a call that computed, or waited for a CPU",
			[]recording.Slow{{DurationNs: 5 * ms, BlockedNs: 2 * ms, Tid: 1, Name: "write", ObjectKind: file}}, []int32{0}},
		{"a queue without work", []recording.Slow{wokenBy(1, thread, call(2, 1, 10, "futex", lock, "0x10"))}, []int32{0}},
		{"what waits for work", []recording.Slow{call(1, 0, 9, "epoll_wait", recording.ObjectPoll, ""),
			call(2, 0, 9, "clock_nanosleep", recording.ObjectTimer, ""), call(3, 0, 9, "read", recording.ObjectPipe, ""),
			call(4, 0, 9, "accept4", socket, "tcp port 80"), call(5, 0, 9, "read", socket, "tcp from 10.0.0.1:51234"),
			call(6, 0, 9, "recvmsg", socket, "unix")}, []int32{0, 0, 0, 0, 0, 0}},
		{"a reply that was asked for", []recording.Slow{call(1, 0, 9, "epoll_wait", recording.ObjectPoll, ""),
			call(2, 0, 9, "recvfrom", socket, "tcp 10.0.0.1:443"), call(3, 1, 9, "read", socket, "tcp 10.0.0.1:443"),
			call(4, 2, 9, "connect", socket, "tcp 10.0.0.2:443")}, []int32{0, 1, 1, 2}},
		{"a reader of a pipe whose writer is in a stall", []recording.Slow{call(1, 0, 9, "fsync", file, "/a"),
			wokenBy(1, thread, call(2, 1, 10, "read", recording.ObjectPipe, ""))}, []int32{1, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			slices.SortStableFunc(c.calls, func(a, b recording.Slow) int { return int(a.TimeNs - b.TimeNs) })
			var got []int32
			for _, joined := range Join(c.calls, nil) {
				got = append(got, joined.Stall)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("stalls %v, want %v", got, c.want)
			}
		})
	}
}

// A call takes the stack and the waker of its longest wait, and counts all of its thread's waits
// within it.
func TestJoinTakesTheLongestWait(t *testing.T) {
	wait := func(tid int32, from, blocked, queued int64, stack int32) recording.Wait {
		return recording.Wait{TimeNs: from * ms, BlockedNs: blocked * ms, RunqueueNs: queued * ms, Tid: tid, Stack: stack,
			WakerKind: recording.WakerThread, WakerTid: 100 + stack, WakerStack: 200 + stack, HopNs: int64(stack),
			HopStack: 300 + stack, HopComm: "behind"}
	}
	waits := []recording.Wait{wait(1, 21, 2, 0, 5), wait(1, 11, 3, 1, 2), wait(1, 8, 1, 0, 1), wait(2, 12, 6, 0, 4),
		wait(1, 16, 2, 1, 3)}
	got := Join([]recording.Slow{{TimeNs: 10 * ms, DurationNs: 10 * ms, Tid: 1, Name: "fsync"}}, waits)[0]
	if got.BlockedNs != 5*ms || got.RunqueueNs != 2*ms || got.Waits != 2 || got.LongestNs != 3*ms {
		t.Errorf("sums: %+v", got)
	}
	if got.Stack != 2 || got.WakerTid != 102 || got.WakerStack != 202 || got.HopNs != 2 || got.HopStack != 302 ||
		got.HopComm != "behind" {
		t.Errorf("its longest wait: %+v", got)
	}
	// The kernel saw a longer one that was not kept: nothing is claimed of it.
	unseen := call(1, 10, 20, "fsync", recording.ObjectFile, "/a")
	unseen.LongestNs, unseen.BlockedNs, unseen.Waits, unseen.Stack = 4*ms, 8*ms, 9, recording.NoStack
	got = Join([]recording.Slow{unseen}, waits)[0]
	if got.Stack != recording.NoStack || got.WakerKind != "" || got.BlockedNs != 8*ms || got.Waits != 9 {
		t.Errorf("an unseen longest wait: %+v", got)
	}
	// It was timed from its sleep on, which ended a moment after it by another clock's reading.
	cut := recording.Slow{TimeNs: 11 * ms, DurationNs: 2 * ms, LongestNs: 3 * ms, Tid: 1, Name: "read"}
	got = Join([]recording.Slow{cut}, waits)[0]
	if got.Stack != 2 || got.LongestNs != 2*ms || got.BlockedNs != 2*ms {
		t.Errorf("a call shorter than its sleep: %+v", got)
	}
}
