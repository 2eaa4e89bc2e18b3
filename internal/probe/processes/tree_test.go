package processes

import (
	"testing"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// story is a window's events, told shortly.
type story struct {
	followed, found, events, remaining []processesEvent
}

func event(kind uint32, time uint64, pid, tid uint32, cpuNs uint64, comm string) processesEvent {
	e := processesEvent{Kind: kind, Time: time, Tgid: pid, Tid: tid, OldTid: tid, CpuNs: cpuNs, ParentTgid: 1}
	for i := range comm {
		e.Comm[i] = int8(comm[i])
	}
	return e
}

func (s story) tell() *recording.Recording {
	rec := &recording.Recording{}
	window := &bpf.Window{Recording: rec, StartNs: 1000, EndNs: 2000, Comm: map[int32]string{}}
	newGrowth(window, s.followed).fill(s.found, s.events, s.remaining)
	return rec
}

// A pid that is used again within a window is two processes, each with its own time.
func TestPidUsedAgain(t *testing.T) {
	rec := story{events: []processesEvent{
		event(forked, 1100, 50, 50, 0, "one"), event(ended, 1200, 50, 50, 30, "one"),
		event(forked, 1300, 50, 50, 0, "two"), event(ended, 1400, 50, 50, 70, "two"),
	}}.tell()
	if len(rec.Processes) != 2 || len(rec.Threads) != 2 {
		t.Fatalf("%+v, %+v", rec.Processes, rec.Threads)
	}
	for i, want := range []recording.Process{
		{Pid: 50, Ppid: 1, StartNs: 100, EndNs: 200, Comm: "one", CPUNs: 30},
		{Pid: 50, Ppid: 1, StartNs: 300, EndNs: 400, Comm: "two", CPUNs: 70},
	} {
		if rec.Processes[i] != want {
			t.Errorf("%+v, want %+v", rec.Processes[i], want)
		}
	}
}

// A process lives as long as one of its threads does, whichever ended meanwhile.
func TestProcessOutlivesItsThreads(t *testing.T) {
	rec := story{
		found: []processesEvent{event(present, 1001, 60, 60, 500, "main"), event(present, 1002, 60, 61, 40, "worker"),
			event(present, 1003, 60, 62, 1, "born")},
		events: []processesEvent{event(forked, 1002, 60, 62, 0, "born"), // the walk came by after its start
			event(ended, 1400, 60, 62, 2, "born"), event(ended, 1500, 60, 61, 88, "worker")},
		remaining: []processesEvent{event(remaining, 2000, 60, 60, 600, "main")},
	}.tell()
	if len(rec.Processes) != 1 || len(rec.Threads) != 3 {
		t.Fatalf("%+v, %+v", rec.Processes, rec.Threads)
	}
	if p := rec.Processes[0]; p.EndNs != 0 || p.CPUNs != 150 || p.StartNs != 0 || p.Comm != "main" {
		t.Errorf("%+v", p)
	}
}

// A thread that executes takes over the first one's id; the first one ends under the other's.
func TestExecByAnotherThread(t *testing.T) {
	take := event(executed, 1500, 70, 70, 25, "new")
	take.OldTid = 71
	last := event(ended, 1900, 70, 70, 125, "new")
	last.ExitCode = 9
	rec := story{
		found: []processesEvent{event(present, 1001, 70, 70, 10, "old")},
		events: []processesEvent{event(forked, 1100, 70, 71, 0, "old"), take,
			event(ended, 1501, 70, 71, 15, "old"), last},
	}.tell()
	if len(rec.Processes) != 1 || len(rec.Threads) != 2 {
		t.Fatalf("%+v, %+v", rec.Processes, rec.Threads)
	}
	p := rec.Processes[0]
	if p.EndNs != 900 || p.CPUNs != 130 || p.Execs != 1 || p.ExitCode != -9 || p.Comm != "new" {
		t.Errorf("%+v", p)
	}
	for _, thread := range rec.Threads {
		if want := map[int32]int64{70: 125, 71: 5}[thread.Tid]; thread.CPUNs != want {
			t.Errorf("%+v, want %d ns", thread, want)
		}
	}
}

// A thread that ended after it was followed and before the walk at the window's begin has no row of
// its own there; what it used before it was followed is not of this window.
func TestEndBetweenFollowAndBegin(t *testing.T) {
	rec := story{followed: []processesEvent{event(present, 990, 65, 65, 5000, "brief")},
		events: []processesEvent{event(ended, 1001, 65, 65, 5003, "brief")}}.tell()
	if len(rec.Processes) != 1 || rec.Processes[0].CPUNs != 3 {
		t.Errorf("%+v", rec.Processes)
	}
}

// What the window before left in the ring is not of this one.
func TestStragglersAreLeftOut(t *testing.T) {
	rec := story{events: []processesEvent{event(forked, 900, 80, 80, 0, "late")}}.tell()
	if len(rec.Processes)+len(rec.Threads) != 0 {
		t.Errorf("%+v, %+v", rec.Processes, rec.Threads)
	}
}

func TestExitCode(t *testing.T) {
	for status, want := range map[int32]int32{0: 0, 7 << 8: 7, 255 << 8: 255, 9: -9, 139: -11} {
		if got := exitCode(status); got != want {
			t.Errorf("status %#x: %d, want %d", status, got, want)
		}
	}
}
