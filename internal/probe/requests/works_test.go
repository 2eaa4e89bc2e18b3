package requests

import (
	"testing"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/unwind"
	"culprit/recording"
)

// sampledThread is thread 3 of process 7, sampled at times in ms, and preempted at times; a CPU has
// a sample each 5 ms.
func sampledThread(samples []int64, preempted [][2]int64) *maker {
	m := &maker{window: &bpf.Window{EndNs: 1000 * ms}, waits: map[int32][]*recording.Wait{},
		traces: bpf.ThreadTraces{}, period: 5 * ms, works: map[int32][]work{}, tids: map[int32][]int32{7: {3}},
		starts: map[int]string{1: "main.job"}, usualKinds: map[int32]map[string]float64{}}
	for _, at := range samples {
		m.traces[3] = append(m.traces[3], &unwind.Trace{KtimeNs: at * ms, Stack: 1})
	}
	lost := func(from, length int64) {
		m.waits[3] = append(m.waits[3], &recording.Wait{Pid: 7, Tid: 3, TimeNs: from * ms, RunqueueNs: length * ms,
			State: "R"})
	}
	idle := func(from, length int64) {
		m.waits[3] = append(m.waits[3], &recording.Wait{Pid: 7, Tid: 3, TimeNs: from * ms, BlockedNs: length * ms,
			State: "S", Syscall: "epoll_wait"})
	}
	idle(0, 100)
	for _, each := range preempted {
		lost(each[0], each[1])
	}
	idle(140, 860)
	return m
}

// A thread that works from 100 to 140 ms and loses its CPU meanwhile is at work all the time.
func TestWorksOfAThreadThatLosesItsCPU(t *testing.T) {
	for name, each := range map[string]struct {
		samples   []int64
		preempted [][2]int64
		works     bool
	}{
		"it runs":                        {[]int64{102, 107, 112, 117, 122, 127, 132, 137}, nil, true},
		"it is preempted for most of it": {[]int64{102, 137}, [][2]int64{{103, 15}, {119, 15}}, true},
		"short waits left it few":        {[]int64{102, 137}, nil, false},
		"it never ran":                   {nil, [][2]int64{{101, 38}}, false},
		"it lost its CPU for a little of many short waits": {[]int64{102}, [][2]int64{{103, 5}}, false},
	} {
		works := sampledThread(each.samples, each.preempted).worksOf(3)
		if got := len(works) == 1 && works[0].fromNs == 100*ms && works[0].toNs == 140*ms; got != each.works {
			t.Errorf("%s: %+v", name, works)
		}
	}
}

func TestTimesOfKinds(t *testing.T) {
	m := sampledThread([]int64{102, 107, 137}, [][2]int64{{108, 25}})
	got := m.timesOfKinds(3, 100*ms, 140*ms)
	if want := (timeOfKind{seen: 3, ns: 40 * ms}); got["main.job"].seen != want.seen ||
		int64(got["main.job"].ns+0.5) != int64(want.ns) || len(got) != 1 {
		t.Errorf("%+v, wanted %+v", got, want)
	}
	if usual := m.usualOfKinds(7)["main.job"]; usual < 0.039 || usual > 0.041 {
		t.Errorf("usually %v of the window", usual)
	}
	if got := m.timesOfKinds(3, 200*ms, 240*ms); len(got) != 0 {
		t.Errorf("while it slept: %+v", got)
	}
}
