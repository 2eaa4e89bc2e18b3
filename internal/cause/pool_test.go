package cause

import (
	"slices"
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// A sleeper that is asked over fewer connections, for as many answers, sleeps as before: what holds
// the requests back goes first. Without that the sleeps stay what is told.
func TestFewerAtOnce(t *testing.T) {
	stack := func(kind recording.FrameKind, names ...string) (frames []recording.Frame) {
		for _, name := range names {
			frames = append(frames, recording.Frame{Name: name, Kind: kind})
		}
		return append(frames, recording.Frame{Name: "do_epoll_wait", Kind: recording.KindKernel})
	}
	goTask := stack(recording.KindGo, "runtime.mcall", "runtime.park_m", "runtime.findRunnable", "runtime.netpoll")
	nodeLoop := stack(recording.KindNative, "node::SpinEventLoopInternal", "uv_run", "uv__io_poll")
	for _, test := range []struct {
		name                           string
		frames                         []recording.Frame
		accepted, opened, sent, length sides
		first                          string // "": the sleep is what is told
	}{
		{"a proxy's limit before a server in Go", goTask, sides{13, 5}, sides{13, 5}, sides{9e4, 9e4}, sides{2e-3, 2.2e-3},
			"process proxy"},
		{"a pool before one in Node", nodeLoop, sides{40, 4}, sides{41, 5}, sides{9e4, 8.8e4}, sides{2e-3, 3e-3},
			"process proxy"},
		{"the client is on another host", goTask, sides{13, 5}, sides{1, 1}, sides{9e4, 9e4}, sides{2e-3, 2.2e-3},
			"run_loop;epoll_wait"},
		{"as many connections", goTask, sides{13, 13}, sides{13, 13}, sides{9e4, 9e4}, sides{2e-3, 2.2e-3}, ""},
		{"fewer requests", goTask, sides{13, 5}, sides{13, 5}, sides{9e4, 3e4}, sides{2e-3, 2.2e-3}, ""},
		{"each sleep is longer", goTask, sides{13, 5}, sides{13, 5}, sides{9e4, 9e4}, sides{2e-3, 6e-3}, ""},
	} {
		slept := sides{0.5, 1.5}
		sleep := compare.Wait{Path: compare.Path{Kind: compare.Blocked, Process: "server", Frames: test.frames,
			Syscall: "epoll_wait", WakerKind: recording.WakerTimer, A: three(slept.a), B: three(slept.b)},
			CountA: three(slept.a / test.length.a), CountB: three(slept.b / test.length.b)}
		proxy := compare.Wait{Path: compare.Path{Kind: compare.Blocked, Process: "proxy", Syscall: "epoll_wait",
			Frames: stack(recording.KindNative, "run_loop"), WakerKind: recording.WakerThread, WakerOwn: true,
			A: three(0.5), B: three(1.5)}, CountA: three(200), CountB: three(400)}
		count := func(name, process string, of sides) compare.Count {
			return compare.Count{Name: "syscall." + name, Key: process, A: three(of.a), B: three(of.b)}
		}
		suspects := Judge(Input{Result: &compare.Result{Metric: compare.MetricWall, A: three(0.6), B: three(1.7),
			Paths: []compare.Path{sleep.Path}, Waits: []compare.Wait{sleep, proxy}, Counts: []compare.Count{
				count("accept4.count", "server", test.accepted.plus(sides{9, 9})), count("accept4.errors", "server", sides{9, 9}),
				count("write.bytes", "server", test.sent), count("connect.count", "proxy", test.opened)}},
			CommandA: "serve 'limit 16' ask", CommandB: "serve 'limit 4' ask"}).Suspects
		if len(suspects) == 0 || suspects[0].Cause != "sleep.deliberate" {
			t.Errorf("%s: %s", test.name, described(suspects))
			continue
		}
		first, told := suspects[0].Where, suspects[0].Claim == fewerClaim
		if told != (test.first != "") || told && first[0] != test.first {
			t.Errorf("%s: claim %q, where %q, want %q first", test.name, suspects[0].Claim, first, test.first)
		}
		unseen := slices.ContainsFunc(suspects[0].Against, func(text string) bool {
			return strings.Contains(text, "is not seen")
		})
		if told == unseen {
			t.Errorf("%s: what is seen now is said not to be, or the other way round: %q", test.name, suspects[0].Against)
		}
		setting := slices.ContainsFunc(suspects[0].Evidence, func(e Evidence) bool {
			return strings.HasSuffix(e.Text, "'limit 16' against 'limit 4'")
		})
		if setting != strings.HasPrefix(test.first, "process") {
			t.Errorf("%s: the word in which the commands differ: %v", test.name, setting)
		}
	}
}
