package compare_test

import (
	"strings"

	"culprit/internal/compare"
	"culprit/recording"
)

// made builds a recording by hand. Stacks are written "main;work;k:do_syscall_64":
// the letter before a colon says the kind of the frames from there on.
type made struct {
	rec    *recording.Recording
	frames map[recording.Frame]int32
	stacks map[string]int32
}

const ms = int64(1e6)

func newMade(wall, cpu float64) *made {
	m := &made{rec: &recording.Recording{}, frames: map[recording.Frame]int32{}, stacks: map[string]int32{}}
	m.rec.Manifest = recording.Manifest{Schema: 1, Hz: 1000, SliceNs: ms, WindowNs: int64(wall * 1e9),
		Metrics: map[string]float64{compare.MetricWall: wall, compare.MetricCPU: cpu},
		Target:  recording.Target{Kind: "command", Pid: 10}}
	m.process(10, 1, 0, m.rec.Manifest.WindowNs, "prog")
	m.threadFrom(10, 10, 0)
	return m
}

func (m *made) process(pid, ppid int32, from, to int64, name string) *made {
	m.rec.Processes = append(m.rec.Processes, recording.Process{Pid: pid, Ppid: ppid, StartNs: from, EndNs: to,
		Comm: name, Command: "/usr/bin/" + name, Execs: 1})
	return m
}

func (m *made) threadFrom(pid, tid int32, from int64) *made {
	m.rec.Threads = append(m.rec.Threads, recording.Thread{Pid: pid, Tid: tid, Comm: "prog", StartNs: from})
	return m
}

var kinds = map[string]recording.FrameKind{"n": recording.KindNative, "k": recording.KindKernel,
	"v": recording.KindVDSO, "j": recording.KindJVM, "g": recording.KindGo, "p": recording.KindPython,
	"s": recording.KindNode}

func (m *made) stack(text string) int32 {
	if text == "" {
		return recording.NoStack
	}
	if id, known := m.stacks[text]; known {
		return id
	}
	kind := recording.KindNative
	var stack recording.Stack
	for _, name := range strings.Split(text, ";") {
		if letter, rest, found := strings.Cut(name, ":"); found && kinds[letter] != "" {
			kind, name = kinds[letter], rest
		}
		frame := recording.Frame{Name: name, Kind: kind, Module: "prog"}
		id, known := m.frames[frame]
		if !known {
			id = int32(len(m.rec.Frames))
			m.frames[frame] = id
			m.rec.Frames = append(m.rec.Frames, frame)
		}
		stack.Frames = append(stack.Frames, id)
	}
	id := int32(len(m.rec.Stacks))
	m.rec.Stacks = append(m.rec.Stacks, stack)
	m.stacks[text] = id
	return id
}

// runs adds one sample for each millisecond of a stretch.
func (m *made) runs(pid, tid int32, from, to int64, stack string) *made {
	for at := from; at < to; at += ms {
		m.rec.Samples = append(m.rec.Samples, recording.Sample{Signal: recording.SignalCPU, TimeNs: at / ms * ms,
			Pid: pid, Tid: tid, Stack: m.stack(stack), Count: 1, ValueNs: min(ms, to-at), Target: true, Comm: "prog"})
	}
	return m
}

func (m *made) waits(wait recording.Wait, stack string) *made {
	wait.Stack = m.stack(stack)
	if wait.WakerStack == 0 {
		wait.WakerStack = recording.NoStack
	}
	m.rec.Waits = append(m.rec.Waits, wait)
	return m
}
