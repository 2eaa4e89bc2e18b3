package timeline

import (
	"testing"

	"culprit/internal/compare/names"
	"culprit/recording"
)

// interpreted is a run in which thread 1 waits in a function for five milliseconds at a time, until
// a timer ends the wait, while thread 2 runs; where the lock was mostly given up, thread 1 ran.
func interpreted(waitsIn string) *Run {
	const waitNs, waits = 5e6, 100
	rec := &recording.Recording{Manifest: recording.Manifest{SliceNs: 1e6, WindowNs: waitNs * waits,
		Target: recording.Target{Pid: 1}}}
	rec.Frames = []recording.Frame{{Name: "look_up", Kind: recording.KindPython, File: "app.py"},
		{Name: waitsIn, Kind: recording.KindNative, Module: "python3.11"},
		{Name: "refresh", Kind: recording.KindPython, File: "app.py"}}
	rec.Stacks = []recording.Stack{{Frames: []int32{0, 1}}, {Frames: []int32{2}}, {Frames: []int32{0}}}
	rec.Processes = []recording.Process{{Pid: 1, EndNs: waitNs * waits, Comm: "python3"}}
	rec.Threads = []recording.Thread{{Pid: 1, Tid: 1, Comm: "python3"}, {Pid: 1, Tid: 2, Comm: "python3"}}
	rec.Locks = []recording.Lock{{Kind: recording.LockFutex, Address: 16, Pid: 1, HolderStack: 2}}
	for i := range int64(waits) {
		rec.Waits = append(rec.Waits, recording.Wait{Pid: 1, Tid: 1, TimeNs: i * waitNs, BlockedNs: waitNs - 1e4,
			RunqueueNs: 1e4, WakerKind: recording.WakerTimer, Syscall: "futex", Object: 16})
		for ms := range int64(5) {
			rec.Samples = append(rec.Samples, recording.Sample{Signal: recording.SignalCPU, Pid: 1, Tid: 2, Target: true,
				TimeNs: i*waitNs + ms*1e6, ValueNs: 1e6, Stack: 1})
		}
	}
	return New(rec, names.New([]*recording.Recording{rec}, nil, nil))
}

// CPython looks again for the lock of its interpreter whenever five milliseconds are over: that is
// no ticker, and who has the lock is whoever runs meanwhile.
func TestWaitsForAnInterpreter(t *testing.T) {
	r := interpreted("take_gil")
	waiter := r.Thread(1)
	if waiter.Ticking || waiter.TimerWakes > 0 || len(r.ProcessTicks()) > 0 {
		t.Errorf("waits for the interpreter tick: %v, %d wake-ups, processes %v", waiter.Ticking, waiter.TimerWakes,
			r.ProcessTicks())
	}
	if frames := r.Names.Frames(r.HeldIn(waiter, waiter.Waits[0])); len(frames) != 1 || frames[0].Name != "refresh" {
		t.Errorf("held in %v, want refresh, which ran meanwhile", frames)
	}
	if poller := interpreted("poll").Thread(1); !poller.Ticking || poller.TimerWakes != 100 {
		t.Errorf("a poll that a timer ends: ticking %v, %d wake-ups, want 100", poller.Ticking, poller.TimerWakes)
	}
}

// Waits too short for a sample meanwhile: whoever gives the interpreter up goes to sleep, which is
// not what it had it for.
func TestShortWaitsForAnInterpreter(t *testing.T) {
	r := interpreted("take_gil")
	waiter := r.Thread(1)
	wait := *waiter.Waits[0]
	wait.TimeNs, wait.BlockedNs, wait.WakerKind, wait.WakerTid = -1e9, 4e5, recording.WakerThread, 2
	if frames := r.Names.Frames(r.HeldIn(waiter, &wait)); len(frames) != 1 || frames[0].Name != "refresh" {
		t.Errorf("held in %v, want refresh, where the other thread runs", frames)
	}
	wait.Stack = 2
	if frames := r.Names.Frames(r.HeldIn(waiter, &wait)); len(frames) != 1 || frames[0].Name != "look_up" {
		t.Errorf("held in %v, want look_up, where a lock of another kind is given up", frames)
	}
}
