package cause

import (
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// crowded is a server that waits for a CPU while its own logger, or somebody else, has it.
func crowded(runner string, own bool, wakes float64) *scene {
	code := func(process, name string, a, b float64) compare.Path {
		return compare.Path{Kind: compare.Running, Process: process, Comm: process, A: []float64{a, a}, B: []float64{b, b},
			Frames: []recording.Frame{{Name: "main", Kind: recording.KindNative}, {Name: name, Kind: recording.KindNative}}}
	}
	queue := compare.Path{Kind: compare.Runnable, Process: "server", Comm: "server", WakerComm: runner, WakerOwn: own,
		Frames: []recording.Frame{{Name: "main", Kind: recording.KindNative}, {Name: "serve", Kind: recording.KindNative}},
		A:      []float64{0.01, 0.01}, B: []float64{1.01, 1.01}}
	wake := compare.Wait{Path: compare.Path{Kind: compare.Blocked, Process: "server", WakerComm: runner, WakerOwn: own},
		CountA: []float64{wakes, wakes}, CountB: []float64{wakes, wakes}}
	if runner == "interpreted" {
		wake.Frames = []recording.Frame{{Name: "take_gil", Kind: recording.KindNative}}
	}
	serve := code("server", "serve", 1, 1)
	return newScene(Input{
		Result: &compare.Result{Metric: compare.MetricWall, A: []float64{1.01, 1.01}, B: []float64{2.01, 2.01},
			Paths: []compare.Path{serve, queue}, Waits: []compare.Wait{wake}},
		CPU: &compare.Result{Metric: compare.MetricCPU, A: []float64{1.1, 1.1}, B: []float64{2.1, 2.1},
			Paths: []compare.Path{serve, code(runner, "compress", 0.1, 1.1)}}})
}

func TestAHelperIsNoCompetitor(t *testing.T) {
	for _, each := range []struct {
		name, runner string
		own          bool
		wakes        float64
		cause        ID
		places       string
	}{
		{"somebody else", "logger", false, 0, "cpu.starved", "CPU used by logger"},
		{"one of the tree that computes for itself", "logger", true, 0, "cpu.starved", "CPU used by logger"},
		{"a child that woke its parent at its end", "logger", true, 1, "cpu.starved", "CPU used by logger"},
		{"one that works for the server", "logger", true, 100, "code.grew", "compress"},
		{"one that gives the interpreter away", "interpreted", true, 100, "cpu.starved", "CPU used by interpreted"},
	} {
		s := crowded(each.runner, each.own, each.wakes)
		claims := found(s, findStarved, findHelper)
		if len(claims) != 1 || claims[0].cause != each.cause || !strings.Contains(claims[0].where()[0], each.places) {
			t.Errorf("%s: got %d claims, %+v", each.name, len(claims), claims)
		}
	}
}

// A service's threads wait for each other's turns on the CPU: what makes these longer makes the
// queue longer.
func TestTheQueueFollowsWhatTheOthersRan(t *testing.T) {
	own := func(kind compare.PathKind, name string, a, b float64) compare.Path {
		path := compare.Path{Kind: kind, Process: "relay", Comm: "relay", A: three(a), B: three(b),
			Frames: []recording.Frame{{Name: "serve", Kind: recording.KindNative}, {Name: name, Kind: recording.KindNative}}}
		if kind == compare.Runnable {
			path.WakerComm, path.WakerOwn = "relay", true
		}
		return path
	}
	for _, test := range []struct {
		name   string
		lookUp float64 // seconds in B, of 0.5 in A
		hertz  string
		cause  ID
		place  string
	}{
		{"interrupts of a profiler at all code alike", 0.58, "8000", MonitorAttached, "target.counted=perf samples"},
		{"one function does more besides", 0.95, "8000", CodeGrew, "serve;look_up"},
		{"too few samples for it", 0.58, "99", CodeGrew, "serve"},
	} {
		wake := compare.Wait{Path: compare.Path{Kind: compare.Blocked, Process: "relay", WakerComm: "relay", WakerOwn: true},
			CountA: three(100), CountB: three(100)}
		paths := []compare.Path{own(compare.Running, "gather", 0.5, 0.58), own(compare.Running, "look_up", 0.5, test.lookUp),
			own(compare.Runnable, "gather", 0.3, 0.9)}
		wall := &compare.Result{Metric: compare.MetricWall, A: three(1.3), B: three(1.48 + test.lookUp), Paths: paths,
			Waits: []compare.Wait{wake}, Facts: []compare.FactChange{
				{Name: "target.counted", A: "none", B: "perf samples 1 event"}, {Name: "target.sampled_hz", A: "0", B: test.hertz}}}
		cpu := &compare.Result{Metric: compare.MetricCPU, A: three(1), B: three(0.58 + test.lookUp), Paths: paths[:2]}
		suspects := Judge(Input{Result: wall, Wall: wall, CPU: cpu}).Suspects
		if len(suspects) == 0 || suspects[0].Cause != test.cause || !strings.HasPrefix(suspects[0].Where[0], test.place) ||
			suspects[0].Share.Value < 0.7 {
			t.Errorf("%s: %s", test.name, described(suspects))
		}
	}
}

func TestCompetitorsAreNamedWithTheirShares(t *testing.T) {
	c := &claim{}
	c.nameCompetitors(map[string]float64{"hog": 0.6, "cron": 0.2, "backup": 0.1, "dd": 0.06, "tar": 0.04, "calmer": -0.5})
	if want := []string{"CPU used by hog", "CPU used by cron", "CPU used by backup"}; strings.Join(c.where(), ";") !=
		strings.Join(want, ";") {
		t.Errorf("places are %v", c.where())
	}
	for i, want := range []string{"hog ran, 60 %", "cron ran, 20 %", "backup ran, 10 %", "2 others ran, 10 %"} {
		if i >= len(c.evidence) || !strings.Contains(c.evidence[i].Text, want) {
			t.Errorf("evidence %d lacks %q: %+v", i, want, c.evidence)
		}
	}
}
