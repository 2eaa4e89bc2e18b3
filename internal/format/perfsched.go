package format

import (
	"bytes"

	"culprit/recording"
)

// schedEvent is what a scheduler's tracepoint says: sched_switch or sched_wakeup.
type schedEvent struct {
	wakeup    bool
	tid, next int32 // who left the CPU and who got it; of a wake-up: who was woken
	state     byte  // of who left: 'R' was preempted
}

// parseSched reads the text of sched:sched_switch, sched:sched_waking and
// sched:sched_wakeup as include/trace/events/sched.h prints it; nil for all others.
func parseSched(event, text []byte) *schedEvent {
	switch string(event) {
	case "sched:sched_switch":
		before, after, ok := bytes.Cut(text, []byte(" ==> "))
		tid, known := fieldID(before, "prev_pid=")
		next, also := fieldID(after, "next_pid=")
		_, state, said := bytes.Cut(before, []byte("prev_state="))
		if !ok || !known || !also || !said || len(state) == 0 {
			return nil
		}
		return &schedEvent{tid: tid, next: next, state: state[0]}
	case "sched:sched_waking", "sched:sched_wakeup", "sched:sched_wakeup_new":
		if tid, ok := fieldID(text, " pid="); ok {
			return &schedEvent{wakeup: true, tid: tid}
		}
	}
	return nil
}

// fieldID reads the number behind a field's last mark: a thread's name before it may hold anything.
func fieldID(text []byte, mark string) (int32, bool) {
	at := bytes.LastIndex(text, []byte(mark))
	if at < 0 {
		return 0, false
	}
	text = text[at+len(mark):]
	if end := bytes.IndexByte(text, ' '); end >= 0 {
		text = text[:end]
	}
	return parseID(text)
}

const (
	maxAway     = 256 << 10 // threads off the CPU at one time
	maxPerfWait = 200_000   // waits kept whole
	wholeWaitNs = 50e3      // from this length on, as compare expects it of a recorder
)

// away is a thread that left the CPU.
type away struct {
	sample  perfSample // where it left
	state   byte
	wokenNs int64 // 0: not yet
	waker   perfSample
}

// scheduler makes waits of the scheduler's tracepoints.
type scheduler struct {
	away  map[int32]*away
	waits []recording.Wait
	lost  int64
	on    bool
	woken bool // wake-ups were recorded, too
}

// use takes one event. ended is called with a thread that is back on a CPU.
func (s *scheduler) use(sample perfSample, texts func(int32) string, ended func(away, int64)) {
	s.on = true
	event := sample.sched
	if event.wakeup {
		s.woken = true
		if gone := s.away[event.tid]; gone != nil && gone.wokenNs == 0 {
			gone.wokenNs, gone.waker = sample.timeNs, sample
		}
		return
	}
	if gone := s.away[event.next]; gone != nil && event.next != 0 {
		delete(s.away, event.next)
		ended(*gone, sample.timeNs)
		s.keep(*gone, sample, texts)
	}
	if event.tid == 0 {
		return
	}
	if len(s.away) >= maxAway {
		s.lost++
		return
	}
	s.away[event.tid] = &away{sample: sample, state: event.state}
}

func (s *scheduler) keep(gone away, back perfSample, texts func(int32) string) {
	lengthNs := back.timeNs - gone.sample.timeNs
	if lengthNs < wholeWaitNs {
		return
	}
	if len(s.waits) >= maxPerfWait {
		s.lost++
		return
	}
	wait := recording.Wait{TimeNs: gone.sample.timeNs, BlockedNs: lengthNs, Pid: gone.sample.pid, Tid: gone.sample.tid,
		State: string(gone.state), Stack: gone.sample.stack, WakerStack: recording.NoStack,
		RunnerPid: back.pid, RunnerComm: texts(back.comm)}
	switch {
	case gone.state == 'R':
		wait.BlockedNs, wait.RunqueueNs, wait.WakerKind = 0, lengthNs, recording.WakerNone
	case gone.wokenNs > 0:
		wait.BlockedNs, wait.RunqueueNs = gone.wokenNs-gone.sample.timeNs, back.timeNs-gone.wokenNs
		wait.WakerPid, wait.WakerTid, wait.WakerComm = gone.waker.pid, gone.waker.tid, texts(gone.waker.comm)
		wait.WakerStack, wait.WakerKind = gone.waker.stack, recording.WakerThread
		if gone.waker.tid == 0 { // the idle loop wakes nobody: an interrupt did
			wait.WakerKind = recording.WakerInterrupt
		}
	}
	if wait.BlockedNs < 0 || wait.RunqueueNs < 0 { // a text that is not in order of time
		s.lost++
		return
	}
	s.waits = append(s.waits, wait)
}
