package format

import (
	"cmp"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"culprit/recording"
)

// errnoNumbers are the numbers of ENOENT and the like.
var errnoNumbers = func() map[string]int64 {
	const last = 133
	numbers := map[string]int64{}
	for number := 1; number <= last; number++ {
		numbers[unix.ErrnoName(syscall.Errno(number))] = int64(number)
	}
	return numbers
}()

func (s *straceReader) finish() (*recording.Recording, error) {
	rec := &recording.Recording{}
	s.tree(rec)
	s.callTables(rec)
	s.slowTables(rec)
	s.names.into(rec)
	inOrder(rec)
	lose(rec, "strace: lines not understood", s.bad)
	lose(rec, "strace: lines longer than 4 MiB", s.tooLong)
	lose(rec, "strace: threads, calls or errors beyond the limit", s.lostRows)
	lose(rec, "strace: slow calls beyond the limit", s.lostSlow)
	m := &rec.Manifest
	m.StartedAt = startedAt(s)
	m.WindowNs = clampAmount(s.lastNs - s.firstNs)
	m.SliceNs = firstSliceNs
	m.Metrics = map[string]float64{"wall": float64(m.WindowNs) / 1e9}
	// A command also where strace was attached: the log has an end that something held up.
	m.Target.Kind = "command"
	if len(s.order) > 0 {
		first := s.order[0].process
		m.Target.Command, m.Target.Pid = first.line, int(max(0, first.pid))
	}
	m.BlindSpots = lacks(s.lacks()...)
	return rec, nil
}

// lacks says what the log does not hold.
func (s *straceReader) lacks() []string {
	spots := []string{
		"imported from strace: no CPU time, no stacks in user space unless strace -k, no settings of the host",
		"strace cannot tell waiting in a call from computing in it: calls of 1 ms and over, and shorter ones that only " +
			"wait, are taken as waiting",
		"strace stops the program twice at every call: short calls look longer than they are",
	}
	if s.lengths == 0 {
		spots = append(spots, "the log does not tell how long calls took (strace -T was not given)")
	}
	if !s.timed {
		spots = append(spots, "the log has no times (strace -ttt was not given)")
	}
	return spots
}

// sinceStart turns a moment of the log into one of the window.
func (s *straceReader) sinceStart(timeNs int64) int64 {
	if timeNs < 0 {
		return 0
	}
	return clampAmount(timeNs - s.firstNs)
}

// tree writes the processes and threads. What was there before the log has no start.
func (s *straceReader) tree(rec *recording.Recording) {
	known := map[*straceProcess]bool{}
	for _, thread := range s.order {
		process := thread.process
		if !known[process] {
			known[process] = true
			row := recording.Process{Pid: process.pid, Ppid: process.ppid, Comm: process.comm, Command: process.command,
				Execs: process.execs, ExitCode: process.exit}
			if process.startNs >= 0 {
				row.StartNs = s.sinceStart(process.startNs)
			}
			if process.endNs >= 0 {
				row.EndNs = s.sinceStart(process.endNs)
			}
			rec.Processes = append(rec.Processes, row)
		}
		row := recording.Thread{Pid: process.pid, Tid: thread.tid, Comm: thread.name()}
		if process.startNs >= 0 || thread.tid != process.pid {
			row.StartNs = s.sinceStart(thread.firstNs)
		}
		if thread.ended {
			row.EndNs = s.sinceStart(thread.lastNs)
		}
		rec.Threads = append(rec.Threads, row)
	}
}

// name is the thread's own, or its process's.
func (t *straceThread) name() string {
	if t.comm != "" {
		return t.comm
	}
	return t.process.comm
}

func (s *straceReader) callTables(rec *recording.Recording) {
	for _, thread := range s.order {
		for _, row := range thread.rows {
			row.Pid, row.Tid, row.Comm = thread.process.pid, thread.tid, thread.name()
			rec.Syscalls = append(rec.Syscalls, *row)
		}
	}
	for _, key := range s.failed {
		rec.Errors = append(rec.Errors, recording.SyscallError{Pid: key.process.pid, Name: key.name, Errno: key.errno,
			Count: s.errnos[key]})
	}
}

func (s *straceReader) slowTables(rec *recording.Recording) {
	slices.SortStableFunc(s.slow, func(a, b slowCall) int { return cmp.Compare(a.call.startNs, b.call.startNs) })
	for i := range s.slow {
		one := &s.slow[i]
		pid, tid, comm := one.thread.process.pid, one.thread.tid, one.thread.name()
		result := one.call.result
		if one.call.errno != "" {
			result = -max(1, errnoNumbers[one.call.errno])
		}
		at, lengthNs := s.sinceStart(one.call.startNs), clampAmount(one.call.durationNs)
		wait := recording.Wait{TimeNs: at, BlockedNs: lengthNs, Pid: pid, Tid: tid, Syscall: one.call.name,
			Object: one.number, Stack: one.stack, WakerKind: one.kind, WakerTid: one.wakerTid, WakerStack: recording.NoStack}
		if one.waker != nil {
			wait.WakerPid, wait.WakerTid = one.waker.process.pid, one.waker.tid
			wait.WakerComm = one.waker.name()
		}
		rec.Waits = append(rec.Waits, wait)
		if one.call.durationNs < slowNs {
			continue
		}
		rec.Slow = append(rec.Slow, recording.Slow{TimeNs: at, DurationNs: lengthNs, Pid: pid, Tid: tid, Comm: comm,
			Name: one.call.name, ObjectKind: one.on.kind, Object: one.on.name, Size: one.size, Result: result,
			BlockedNs: lengthNs, Waits: 1, LongestNs: lengthNs, Stack: one.stack, WakerKind: one.kind,
			WakerPid: wait.WakerPid, WakerTid: wait.WakerTid, WakerComm: wait.WakerComm,
			WakerStack: recording.NoStack, HopStack: recording.NoStack})
	}
}
