package compare_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/internal/compare/perrun"
	"culprit/internal/compare/rank"
	"culprit/internal/compare/settings"
	"culprit/internal/compare/units"
	"culprit/internal/stat"
	"culprit/recording"
)

func compared(t *testing.T, metric string, a, b []*recording.Recording) *compare.Result {
	t.Helper()
	return comparedBy(t, metric, a, b, compare.Options{})
}

func comparedBy(t *testing.T, metric string, a, b []*recording.Recording, opts compare.Options) *compare.Result {
	t.Helper()
	results, err := compare.Compare(a, b, opts)
	if err != nil {
		t.Fatal(err)
	}
	result, err := results.Of(metric)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// noisy makes runs of one side whose work takes so many milliseconds, with noise.
func noisy(runs int, random *rand.Rand, loopMs, workMs int64) []*recording.Recording {
	var list []*recording.Recording
	for range runs {
		work := workMs + random.Int64N(5)
		m := newMade(float64(loopMs+work)/1000, float64(loopMs+work)*1.1/1000)
		m.runs(10, 10, 0, loopMs*ms, "main;loop").runs(10, 10, loopMs*ms, (loopMs+work)*ms, "main;work")
		list = append(list, m.rec)
	}
	return list
}

func TestSamplesAddUpToExactCPUTime(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	result := compared(t, compare.MetricCPU, noisy(4, random, 300, 100), noisy(3, random, 300, 250))
	if len(result.A) != 4 || len(result.B) != 3 {
		t.Fatalf("runs: %v and %v", result.A, result.B)
	}
	for i, want := range result.A {
		sum := 0.0
		for _, path := range result.Paths {
			sum += path.A[i]
		}
		if math.Abs(sum-want) > 1e-9 {
			t.Errorf("run %d: samples add up to %v of %v", i, sum, want)
		}
	}
	var work *compare.ProfileNode
	for i := range result.Profile.Nodes {
		if node := &result.Profile.Nodes[i]; node.Name == "work" {
			work = node
		} else if node.Name == "loop" && node.Decided {
			t.Error("the loop did not change")
		}
	}
	if work == nil || !work.Decided || work.Depth != 2 || work.Low > 0.165 || work.High < 0.165 {
		t.Errorf("work: %+v", work)
	}
	for i := range result.Paths {
		path := &result.Paths[i]
		if path.Frames[1].Name != "work" {
			continue
		}
		share, known := perrun.Share(path.A, path.B, result.A, result.B, 0.95)
		if !known || share.Low > 1 || share.High < 1 || share.High-share.Low > 0.1 {
			t.Errorf("share of work is %+v", share)
		}
	}
}

func TestOneRunASideSaysThatItDoesNotKnow(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	result := compared(t, compare.MetricCPU, noisy(1, random, 300, 100), noisy(1, random, 300, 200))
	for _, node := range result.Profile.Nodes {
		if node.Decided || node.Low > 0 && node.Name != "all" {
			t.Errorf("decided on one run a side: %+v", node)
		}
	}
	share, known := perrun.Share(result.Paths[0].A, result.Paths[0].B, result.A, result.B, 0.95)
	if known || share.Low != -10 || share.High != 10 || share.Value < 0.9 {
		t.Errorf("share %+v, known %v", share, known)
	}
}

func TestNoSamplesOnOneSide(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	b := noisy(3, random, 300, 100)
	for _, rec := range b {
		rec.Samples = nil
	}
	result := compared(t, compare.MetricCPU, noisy(3, random, 300, 100), b)
	sum := 0.0
	for _, path := range result.Paths {
		sum += stat.Average(path.B)
	}
	if math.Abs(sum-stat.Average(result.B)) > 1e-9 || len(result.Unseen) == 0 {
		t.Errorf("B adds up to %v of %v, unseen %v", sum, stat.Average(result.B), result.Unseen)
	}
}

func TestOneSided(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	result := compared(t, compare.MetricWall, noisy(3, random, 300, 100), nil)
	if !result.OneSided || len(result.B) != 0 || len(result.Facts) != 0 {
		t.Errorf("%+v", result)
	}
	items := rank.Of(result, units.Work{}, 0.95).Differences(10)
	if len(items) == 0 || items[0].Name != "loop" || items[0].Share.Value < 0.7 || items[0].Share.Value > 0.8 {
		t.Errorf("items %+v", items)
	}
}

func TestTickerAndCounts(t *testing.T) {
	m := newMade(1, 0.03).threadFrom(10, 11, 0)
	// Any of the runtime's threads takes the tick: alone none is regular, together they are.
	random := rand.New(rand.NewPCG(5, 5))
	for at := ms; at < 999*ms; at += ms {
		tid := int32(10 + random.IntN(2))
		m.waits(recording.Wait{TimeNs: at - 900e3, BlockedNs: 850e3 + random.Int64N(50e3), Pid: 10, Tid: tid,
			WakerKind: recording.WakerTimer, Syscall: "epoll_pwait"}, "g:runtime.mcall;runtime.findRunnable")
	}
	m.rec.Syscalls = []recording.Syscall{{Pid: 10, Comm: "prog", Name: "futex", Count: 2900},
		{Pid: 11, Comm: "other", Name: "futex", Count: 100, Bytes: 5}}
	m.process(20, 10, 5, 6, "tool").process(21, 10, 7, 8, "tool")
	result := compared(t, compare.MetricCPU, []*recording.Recording{m.rec}, nil)
	want := map[[2]string]float64{{"syscall.futex.count", ""}: 3000, {"syscall.futex.count", "other"}: 100,
		{counts.TimerWakeups, ""}: 998, {counts.Ticks, "prog"}: 998, {counts.Processes, "tool"}: 2, {counts.Processes, ""}: 2}
	for _, count := range result.Counts {
		if expected, listed := want[[2]string{count.Name, count.Key}]; listed {
			if count.A[0] != expected {
				t.Errorf("%s %q is %v, want %v", count.Name, count.Key, count.A[0], expected)
			}
			delete(want, [2]string{count.Name, count.Key})
		}
		if count.Name == counts.TickInterval && math.Abs(count.A[0]-0.001) > 0.0001 {
			t.Errorf("interval %v s", count.A[0])
		}
	}
	if len(want) > 0 {
		t.Errorf("missing counts %v", want)
	}
}

func TestIrregularTimersAreNoTicker(t *testing.T) {
	m := newMade(1, 0.5)
	random := rand.New(rand.NewPCG(6, 6))
	at := int64(0)
	for range 60 {
		blocked := ms + random.Int64N(25*ms)
		m.waits(recording.Wait{TimeNs: at, BlockedNs: blocked, Pid: 10, Tid: 10, WakerKind: recording.WakerTimer},
			"main;retry;nanosleep")
		at += blocked + random.Int64N(5*ms)
	}
	for _, count := range compared(t, compare.MetricCPU, []*recording.Recording{m.rec}, nil).Counts {
		if count.Name == counts.Ticks {
			t.Errorf("a back-off is taken for a ticker: %+v", count)
		}
	}
}

func TestManyShortProcesses(t *testing.T) {
	m := newMade(1, 0.5)
	for i := range int64(40) {
		pid := int32(100 + i)
		m.process(pid, 10, 20*i*ms+1, (20*i+10)*ms, "tool").threadFrom(pid, pid, 20*i*ms+1)
		m.runs(pid, pid, 20*i*ms, (20*i+10)*ms, "tool_main")
	}
	m.process(90, 10, 5*ms, 990*ms, "server").threadFrom(90, 90, 5*ms).runs(90, 90, 5*ms, 200*ms, "serve")
	for _, path := range compared(t, compare.MetricCPU, []*recording.Recording{m.rec}, nil).Paths {
		if path.Short != (path.Process == "tool") || path.Parent != "prog" {
			t.Errorf("%s: short %v, parent %q", path.Process, path.Short, path.Parent)
		}
	}
}

// A process has its children's name where they run no other program: it is none of the short-lived
// ones.
func TestParentOfShortProcessesOfItsName(t *testing.T) {
	m := newMade(1, 0.5)
	m.process(90, 10, 5*ms, 990*ms, "store").threadFrom(90, 90, 5*ms).runs(90, 90, 5*ms, 200*ms, "serve")
	for i := range int64(4) {
		pid := int32(100 + i)
		m.process(pid, 90, 200*i*ms+10*ms, (200*i+60)*ms, "store").threadFrom(pid, pid, 200*i*ms+10*ms)
		m.runs(pid, pid, (200*i+10)*ms, (200*i+60)*ms, "write_out")
	}
	for _, path := range compared(t, compare.MetricCPU, []*recording.Recording{m.rec}, nil).Paths {
		if path.Short != (path.Parent == "store") {
			t.Errorf("%s of %s: short %v", path.Process, path.Parent, path.Short)
		}
	}
}

func TestFactsThatDiffer(t *testing.T) {
	with := func(facts ...string) *recording.Recording {
		m := newMade(1, 1)
		for i := 0; i < len(facts); i += 2 {
			m.rec.Facts = append(m.rec.Facts, recording.Fact{Name: facts[i], Value: facts[i+1], Source: "s"})
		}
		return m.rec
	}
	a := []*recording.Recording{with("thp", "always", "varies", "1", "target.command", "x"), with("thp", "always",
		"varies", "2")}
	b := []*recording.Recording{with("thp", "never", "varies", "2", "target.command", "y"), with("thp", "never", "new",
		"1")}
	changes := compared(t, compare.MetricCPU, a, b).Facts
	want := compare.FactChange{Name: "thp", A: "always", B: "never", Source: "s"}
	if len(changes) != 2 || changes[0].Name != "new" || changes[1] != want {
		t.Errorf("changes %+v", changes)
	}
}

func TestSameInputSameResult(t *testing.T) {
	compareOnce := func() *compare.Result {
		random := rand.New(rand.NewPCG(7, 7))
		return compared(t, compare.MetricWall, noisy(3, random, 300, 100), noisy(3, random, 300, 200))
	}
	first, second := compareOnce(), compareOnce()
	for i := range first.Paths {
		if stat.Average(first.Paths[i].B) != stat.Average(second.Paths[i].B) ||
			len(first.Paths[i].Frames) != len(second.Paths[i].Frames) {
			t.Fatalf("path %d differs", i)
		}
	}
}

// TestSettingsOfATargetThatWasOverTooSoon: what nobody could read is no difference, and no side's
// facts.
func TestSettingsOfATargetThatWasOverTooSoon(t *testing.T) {
	with := func(facts ...recording.Fact) *recording.Recording {
		return small(func(rec *recording.Recording) {
			rec.Facts = append([]recording.Fact{{Name: "cpu.count", Value: "2"}}, facts...)
		})
	}
	unread, plain := with(), with(recording.Fact{Name: "target.nice", Value: "0"})
	tuned := with(recording.Fact{Name: "target.nice", Value: "0"},
		recording.Fact{Name: "target.environment.NODE_OPTIONS", Value: "--jitless"})
	if changes := comparedPair(t, compare.MetricWall, unread, tuned).Facts; len(changes) != 0 {
		t.Errorf("A was not read: %+v", changes)
	}
	changes := comparedPair(t, compare.MetricWall, plain, tuned).Facts
	if len(changes) != 1 || changes[0].B != "--jitless" {
		t.Errorf("both were read: %+v, want the option", changes)
	}
	if facts := settings.Of([]*recording.Recording{plain, tuned, unread}); len(facts) != len(tuned.Facts) {
		t.Errorf("%d facts, want those of the last one that was read", len(facts))
	}
	if facts := settings.Of(nil); facts != nil {
		t.Errorf("nothing recorded: %v", facts)
	}
}

// Where both sides lack the same thing, the error names A, whatever the order of a map is.
func TestErrorsNameAFirst(t *testing.T) {
	unusable := func() []*recording.Recording {
		rec := newMade(1, 1).rec
		rec.Manifest.Metrics = nil
		return []*recording.Recording{rec}
	}
	missing := []*recording.Recording{nil}
	for range 20 {
		_, err := compare.Compare(missing, missing, compare.Options{})
		if err == nil || !strings.Contains(err.Error(), "recording 1 of A ") {
			t.Fatalf("compare: %v", err)
		}
		_, err = units.Choose("cpu-second", unusable(), unusable())
		if err == nil || !strings.Contains(err.Error(), "recording 1 of A ") {
			t.Fatalf("unit of work: %v", err)
		}
	}
}
