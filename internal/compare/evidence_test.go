package compare_test

import (
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/internal/compare/tcp"
	"culprit/internal/stat"
	"culprit/recording"
)

func count(t *testing.T, result *compare.Result, name, key string) (a, b float64) {
	t.Helper()
	for _, one := range result.Counts {
		if one.Name == name && one.Key == key {
			return stat.Average(one.A), stat.Average(one.B)
		}
	}
	return 0, 0
}

// small is a recording of one process that ran for a second; edit fills its tables.
func small(edit func(rec *recording.Recording)) *recording.Recording {
	rec := &recording.Recording{
		Manifest: recording.Manifest{WindowNs: 1e9, SliceNs: 1e6, Hz: 1000, Target: recording.Target{Pid: 7},
			Metrics: map[string]float64{compare.MetricWall: 1, compare.MetricCPU: 0.5}},
		Processes: []recording.Process{{Pid: 7, Ppid: 1, EndNs: 1e9, Comm: "prog"}},
		Threads:   []recording.Thread{{Pid: 7, Tid: 7, Comm: "prog"}, {Pid: 7, Tid: 8, Comm: "prog"}},
		Frames: []recording.Frame{{Name: "main", Kind: recording.KindNative, Module: "prog"},
			{Name: "vfs_write", Kind: recording.KindKernel}, {Name: "rwsem_down_write_slowpath", Kind: recording.KindKernel},
			{Name: "tcp_recvmsg", Kind: recording.KindKernel}, {Name: "tcp_delack_timer", Kind: recording.KindKernel}},
		Stacks: []recording.Stack{{Frames: []int32{0}}, {Frames: []int32{0, 1, 2}}, {Frames: []int32{0, 3}},
			{Frames: []int32{4}}},
	}
	edit(rec)
	return rec
}

func comparedPair(t *testing.T, metric string, a, b *recording.Recording) *compare.Result {
	t.Helper()
	return compared(t, metric, []*recording.Recording{a}, []*recording.Recording{b})
}

func TestCountsOfTheNewTables(t *testing.T) {
	a := small(func(rec *recording.Recording) {
		rec.Block = []recording.Block{{Device: "vda", Operation: "read", Count: 10, TotalNs: 5e6, QueueNs: 1e6}}
		for cpu := range int32(2) {
			rec.Samples = append(rec.Samples, recording.Sample{Signal: recording.SignalCPU, Pid: 7, Tid: 7, CPU: cpu, Count: 1,
				ValueNs: 25e7, Target: true})
		}
	})
	b := small(func(rec *recording.Recording) {
		rec.Block = []recording.Block{{Device: "vda", Operation: "read", Count: 10, TotalNs: 5e7},
			{Device: "vdb", Operation: "write", Count: 1, TotalNs: 1e6}, {Device: "bad", Count: -1, TotalNs: 1}}
		rec.Network = []recording.Network{{Event: recording.NetConnect, Peer: "p:1", Target: true, Count: 4},
			{Event: recording.NetConnect, Peer: "other:1", Pid: 99, Count: 7}}
		rec.Samples = []recording.Sample{
			{Signal: recording.SignalCPU, Pid: 7, Tid: 7, Count: 1, ValueNs: 5e8, Target: true},
			{Signal: recording.SignalMajor, Pid: 7, Tid: 7, Count: 3, Target: true}}
	})
	result := comparedPair(t, compare.MetricCPU, a, b)
	for _, one := range []struct {
		name, key string
		a, b      float64
	}{
		{counts.Block, "", 10, 11}, {counts.Block, "vdb", 0, 1}, {counts.BlockSeconds, "vda", 0.005, 0.05},
		{counts.BlockQueued, "vda", 0.001, 0}, {counts.Network + recording.NetConnect, "", 0, 4},
		{counts.FaultsMajor, "", 0, 3}, {counts.CPUsUsed, "", 2, 1},
	} {
		if a, b := count(t, result, one.name, one.key); a != one.a || b != one.b {
			t.Errorf("%s of %q: %v and %v, want %v and %v", one.name, one.key, a, b, one.a, one.b)
		}
	}
}

// Counters are compared where all recordings have them; ratios where the two were counted at the
// same times.
func TestCounters(t *testing.T) {
	row := func(name string, value, enabled, running int64, group int32) recording.Counter {
		return recording.Counter{Name: name, Scope: recording.ScopeTarget, Value: value, EnabledNs: enabled,
			RunningNs: running, Group: group}
	}
	a := small(func(rec *recording.Recording) {
		rec.Counters = []recording.Counter{row("cycles", 1000, 10, 10, 1), row("instructions", 2000, 10, 10, 1),
			row("branches", 10, 10, 5, 0), row("branch-misses", 1, 10, 5, 0), row("r1", 7, 10, 10, 0),
			{Name: "cycles", Scope: recording.ScopeProcess, Pid: 7, Value: 1000, EnabledNs: 10, RunningNs: 10},
			{Name: "cycles", Scope: "cpu0", Value: 5e9, EnabledNs: 10, RunningNs: 10}}
	})
	b := small(func(rec *recording.Recording) {
		rec.Counters = []recording.Counter{row("cycles", 4000, 10, 10, 1), row("instructions", 2000, 10, 10, 1),
			row("branches", 20, 10, 5, 0), row("branch-misses", 2, 10, 5, 0), row("r2", 7, 10, 0, 0)}
	})
	result := comparedPair(t, compare.MetricCPU, a, b)
	for _, one := range []struct {
		name string
		a, b float64
	}{{"cycles", 1000, 4000}, {"instructions", 2000, 2000}, {"ipc", 2, 0.5}, {"branches", 20, 40}} {
		if a, b := count(t, result, counts.Counter+one.name, ""); a != one.a || b != one.b {
			t.Errorf("%s: %v and %v, want %v and %v", one.name, a, b, one.a, one.b)
		}
	}
	for i := range result.Counts {
		switch name := result.Counts[i].Name; name {
		case counts.Counter + "r1", counts.Counter + "r2", counts.Counter + "branch-miss-rate":
			t.Errorf("%s cannot be compared: %+v", name, result.Counts[i])
		}
	}
}

func TestDelayedAcknowledgements(t *testing.T) {
	wait := func(blockedNs int64, stack, waker int32, kind string) recording.Wait {
		return recording.Wait{TimeNs: 1e6, BlockedNs: blockedNs, Pid: 7, Tid: 7, State: "S", Syscall: "recvfrom",
			Stack: stack, WakerKind: kind, WakerStack: waker, RunnerPid: 0}
	}
	b := small(func(rec *recording.Recording) {
		rec.Frames = append(rec.Frames, recording.Frame{Name: "tcp_v4_rcv", Kind: recording.KindKernel})
		rec.Stacks = append(rec.Stacks, recording.Stack{Frames: []int32{5}})
		rec.Waits = []recording.Wait{
			wait(41e6, 2, recording.NoStack, recording.WakerInterrupt), // by its length
			wait(41e6, 0, 4, recording.WakerInterrupt),                 // an event loop: a segment ended it
			wait(80e6, 0, 4, recording.WakerInterrupt),                 // too long for one
			wait(2e6, 0, 3, recording.WakerInterrupt),                  // by the timer on the waker's stack
			wait(41e6, 0, recording.NoStack, recording.WakerInterrupt), // no socket
			wait(41e6, 2, recording.NoStack, recording.WakerTimer),     // a time-out of its own
			wait(80e6, 2, recording.NoStack, recording.WakerInterrupt), // too long
		}
	})
	result := comparedPair(t, compare.MetricCPU, small(func(*recording.Recording) {}), b)
	if _, b := count(t, result, counts.Delayed, ""); b != 3 {
		t.Errorf("%v delayed acknowledgements, want 3", b)
	}
}

// Only what comes out of the backlog right after the clock's tick was sent by a timer of this host.
func TestSentByTimer(t *testing.T) {
	const tick, backlog, arrives = "asm_sysvec_apic_timer_interrupt", "process_backlog", "tcp_v4_rcv"
	for _, one := range []struct {
		kind  string
		waker []string
		want  bool
	}{
		{recording.WakerInterrupt, []string{tick, "net_rx_action", backlog, arrives}, true},
		{recording.WakerInterrupt, []string{tick, "net_rx_action", "virtnet_poll", arrives}, false},
		{recording.WakerInterrupt, []string{"asm_common_interrupt", "net_rx_action", backlog, arrives}, false},
		{recording.WakerInterrupt, []string{tick, "hrtimer_wakeup"}, false},
		{recording.WakerKernel, []string{"run_ksoftirqd", "net_rx_action", backlog, arrives}, false},
		{recording.WakerThread, []string{"__x64_sys_sendto", "net_rx_action", backlog, arrives}, false},
	} {
		var waker []recording.Frame
		for _, name := range one.waker {
			waker = append(waker, recording.Frame{Name: name, Kind: recording.KindKernel})
		}
		if got := tcp.SentByTimer(one.kind, waker); got != one.want {
			t.Errorf("%s at %v: %v, want %v", one.kind, one.waker, got, one.want)
		}
	}
}

// A wait for an inode's lock is the holder's doing: it stays a wait, and the walk does not jump to
// the holder.
func TestKernelLockIsNoHandover(t *testing.T) {
	held := func(stack int32) *recording.Recording {
		return small(func(rec *recording.Recording) {
			rec.Waits = []recording.Wait{{TimeNs: 2e8, BlockedNs: 6e8, Pid: 7, Tid: 7, State: "D", Syscall: "write",
				Stack: stack, WakerKind: recording.WakerThread, WakerPid: 7, WakerTid: 8, WakerStack: recording.NoStack}}
		})
	}
	blocked := func(result *compare.Result) (seconds float64) {
		for _, path := range result.Paths {
			if path.Kind == compare.Blocked {
				seconds += stat.Average(path.B)
			}
		}
		return seconds
	}
	free := small(func(*recording.Recording) {})
	if got := blocked(comparedPair(t, compare.MetricWall, free, held(1))); got < 0.59 || got > 0.61 {
		t.Errorf("%v s blocked for a kernel lock, want 0.6", got)
	}
	if got := blocked(comparedPair(t, compare.MetricWall, free, held(2))); got != 0 {
		t.Errorf("%v s blocked although another thread handed work on, want 0", got)
	}
}

func TestSharedLines(t *testing.T) {
	row := func(line uint64, offset, tid int32, write bool) recording.Line {
		return recording.Line{Line: line, Offset: offset, Size: 8, Pid: 7, Tid: tid, Write: write, Count: 10, Stack: 0}
	}
	b := small(func(rec *recording.Recording) {
		rec.Lines = []recording.Line{
			row(1, 0, 7, true), row(1, 8, 8, false), // different words
			row(2, 0, 7, true), row(2, 0, 8, false), // the same word
			row(3, 0, 7, true), row(3, 8, 7, true), // one thread
			row(4, 0, 7, false), row(4, 8, 8, false), // nobody writes
		}
	})
	lines := comparedPair(t, compare.MetricCPU, small(func(*recording.Recording) {}), b).Lines
	if len(lines) != 2 || lines[0].False == lines[1].False {
		t.Fatalf("lines %+v, want one of false and one of true sharing", lines)
	}
	for _, line := range lines {
		if line.Threads != 2 || stat.Average(line.A) != 0 || stat.Average(line.B) != 20 || line.Functions[0].Name != "main" {
			t.Errorf("line %+v", line)
		}
	}
}

// A run time may move its tasks between threads: what a recording of two goroutines with a counter
// each showed, and one of two threads that write both of two totals.
func TestSharedLinesOfMovedTasks(t *testing.T) {
	for _, each := range []struct {
		counts  [4]int64 // word 0 by thread 7 and 8, word 16 by 7 and 8
		isFalse bool
	}{
		{[4]int64{108, 457, 432, 134}, true},
		{[4]int64{565, 8, 70, 77}, true},
		{[4]int64{120, 626, 269, 475}, false},
		{[4]int64{152, 724, 393, 375}, false},
	} {
		b := small(func(rec *recording.Recording) {
			for i, count := range each.counts {
				rec.Lines = append(rec.Lines, recording.Line{Line: 1, Offset: int32(i / 2 * 16), Size: 8, Pid: 7,
					Tid: int32(7 + i%2), Write: true, Count: count})
			}
		})
		lines := comparedPair(t, compare.MetricCPU, small(func(*recording.Recording) {}), b).Lines
		if len(lines) != 1 || lines[0].False != each.isFalse {
			t.Errorf("%v: lines %+v, want one, false sharing %v", each.counts, lines, each.isFalse)
		}
	}
}

// Another program's requests to a disk of its own must not count as the target's, a kernel thread's
// to the same disk must.
func TestBlockRequestsOfOwnDevices(t *testing.T) {
	side := func(ownNs, othersNs int64) *recording.Recording {
		return small(func(rec *recording.Recording) {
			rec.Block = []recording.Block{
				{Device: "sda", Operation: "write", Pid: 7, Target: true, Count: 10, TotalNs: ownNs},
				{Device: "sda", Operation: "write", Pid: 3, Comm: "jbd2/sda-8", Count: 10, TotalNs: ownNs},
				{Device: "sdb", Operation: "read", Pid: 99, Comm: "backup", Count: 500, TotalNs: othersNs}}
		})
	}
	result := comparedPair(t, compare.MetricWall, side(1e6, 9e9), side(3e6, 1e9))
	if a, b := count(t, result, counts.Block, ""); a != 20 || b != 20 {
		t.Errorf("counted %g and %g requests, want 20 and 20: those to the target's disk", a, b)
	}
	if a, b := count(t, result, counts.BlockSeconds, "sda"); a != 0.002 || b != 0.006 {
		t.Errorf("seconds of sda are %g and %g, want 0.002 and 0.006", a, b)
	}
	result = comparedPair(t, compare.MetricWall, small(func(rec *recording.Recording) {
		rec.Block = []recording.Block{{Device: "sda", Pid: 3, Comm: "kworker/u8:1", Count: 4, TotalNs: 1e6}}
	}), small(func(*recording.Recording) {}))
	if a, _ := count(t, result, counts.Block, ""); a != 4 {
		t.Errorf("counted %g requests, want 4: the target asked for none itself", a)
	}
}

// Held back I/O counts by the cgroup whose limit it met: what the target's processes slept for,
// what is written for its cgroups, and nobody else's.
func TestHeldBack(t *testing.T) {
	rec := small(func(rec *recording.Recording) {
		rec.Facts = []recording.Fact{{Name: "target.cgroup.path.blkio", Value: "/jobs/batch"},
			{Name: "target.cgroup.path.cpu", Value: "/"}}
		rec.Block = []recording.Block{
			{Device: "sda", Pid: 7, Target: true, Throttled: 3, ThrottledNs: 5e8, ThrottledBy: "batch"},
			{Device: "sda", Throttled: 2, ThrottledBy: "batch"}, {Device: "sdb", Throttled: 9, ThrottledBy: "other"},
			{Device: "sda", Pid: 7, Target: true, Throttled: 1, ThrottledNs: -1, ThrottledBy: "batch"}}
	})
	result := comparedPair(t, compare.MetricWall, rec, rec)
	for _, key := range []string{"", "batch"} {
		if pieces, _ := count(t, result, counts.HeldBack, key); pieces != 5 {
			t.Errorf("%v pieces held back of %q, want 5", pieces, key)
		}
		if slept, _ := count(t, result, counts.HeldSeconds, key); slept != 0.5 {
			t.Errorf("%v s slept for those of %q, want 0.5", slept, key)
		}
	}
	if other, _ := count(t, result, counts.HeldBack, "other"); other != 0 {
		t.Errorf("%v pieces of somebody else's cgroup", other)
	}
}
