package cause

import (
	"slices"
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/recording"
)

// timerStack is a stack of a program with the functions given below those of its run time.
func timerStack(kind recording.FrameKind, file string, loop []string, own ...string) (frames []recording.Frame) {
	for _, name := range loop {
		frames = append(frames, recording.Frame{Name: name, Kind: kind, File: file})
	}
	for _, name := range own {
		frames = append(frames, recording.Frame{Name: name, Kind: kind, File: "/srv/app/main"})
	}
	return frames
}

// A ticker of asyncio is named by what its loop runs on a tick, not by the loop, which is all that
// its waits show.
func TestTickerOfAsyncio(t *testing.T) {
	const events = "/usr/lib/python3.11/asyncio/events.py"
	ran := timerStack(recording.KindPython, events, []string{"Handle._run"}, "Carts.sweep", "old")
	loop := timerStack(recording.KindNative, "", nil, "select_epoll_poll", "epoll_wait")
	one := func(value float64) []float64 { return []float64{value, value} }
	path := compare.Path{Kind: compare.Running, Process: "shop", Ticking: true, Frames: ran, A: one(0), B: one(0.4)}
	wait := compare.Wait{Path: compare.Path{Kind: compare.Blocked, Process: "shop", Ticking: true, Frames: loop,
		Syscall: "epoll_wait", WakerKind: recording.WakerTimer, A: one(0.1), B: one(1)}, CountA: one(2), CountB: one(300)}
	for _, test := range []struct {
		file, first string
	}{{events, "Carts.sweep"}, {"/srv/app/queue.py", "select_epoll_poll"}} {
		path.Frames = slices.Clone(ran)
		path.Frames[0].File = test.file
		claims := found(newScene(Input{Result: &compare.Result{Metric: compare.MetricCPU, A: one(1), B: one(1.4),
			Paths: []compare.Path{path}, Waits: []compare.Wait{wait}, Counts: []compare.Count{
				{Name: counts.Ticks, Key: "shop", A: one(0), B: one(300)},
				{Name: counts.TickInterval, Key: "shop", A: one(0), B: one(0.005)}}}}), findTicker)
		if len(claims) != 1 || claims[0].where()[0] != test.first {
			t.Errorf("%s: %+v, want %s first", test.file, claims, test.first)
		}
	}
}

// Code that a timer runs may cost more because the timer fires more often: that is said where most
// of the growth is below timers.
func TestCodeBelowTimers(t *testing.T) {
	node := timerStack(recording.KindNode, "node:internal/timers", []string{"processTimers", "listOnTimeout"}, "sweep")
	java := timerStack(recording.KindJVM, "", []string{
		"java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask.run"}, "Carts.sweep")
	request := timerStack(recording.KindNode, "node:_http_server", []string{"parserOnIncoming"}, "answer", "sweep")
	for _, test := range []struct {
		name    string
		timed   []recording.Frame
		request float64 // growth of the same function below requests
		told    bool
	}{
		{"setInterval", node, 0.1, true},
		{"a scheduled executor", java, 0.1, true},
		{"most of it is below requests", node, 0.9, false},
		{"all of it is", request, 0.1, false},
	} {
		path := func(frames []recording.Frame, a, b float64) compare.Path {
			return compare.Path{Kind: compare.Running, Frames: frames, A: []float64{a}, B: []float64{b}}
		}
		c := &claim{cause: CodeGrew}
		(&scene{}).tellTimer(c, []int{0, 1}, []compare.Path{path(test.timed, 0.1, 0.5), path(request, 0.1, 0.1+test.request)})
		told := slices.Contains(c.doubtful(), uncountedTimer) && len(c.evidence) == 1 && c.evidence[0].B == 0.5
		if told != test.told || !told && len(c.evidence)+len(c.against) > 0 {
			t.Errorf("%s: told %v, want %v: %+v", test.name, told, test.told, c)
		}
	}
}
