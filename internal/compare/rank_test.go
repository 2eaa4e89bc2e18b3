package compare_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/comparability"
	"culprit/internal/compare/prepare"
	"culprit/internal/compare/rank"
	"culprit/internal/compare/units"
	"culprit/internal/stat"
	"culprit/recording"
)

// server makes runs of one side: so many calls of write, so long in each, and a function of its
// own.
func server(runs int, random *rand.Rand, callMs, calls, ownMs int64, own string) []*recording.Recording {
	var list []*recording.Recording
	for range runs {
		noise := random.Int64N(4)
		total := callMs + ownMs + noise
		m := newMade(float64(total)/1000, float64(total)/1000)
		m.runs(10, 10, 0, callMs*ms, "main;log;write;k:entry_SYSCALL_64;__x64_sys_write;ext4_write")
		m.runs(10, 10, callMs*ms, total*ms, "main;"+own)
		m.rec.Syscalls = []recording.Syscall{{Pid: 10, Comm: "prog", Name: "write", Count: calls}}
		list = append(list, m.rec)
	}
	return list
}

func ranked(t *testing.T, asked string, a, b []*recording.Recording) *rank.Ranking {
	t.Helper()
	work, err := units.Choose(asked, a, b)
	if err != nil {
		t.Fatal(err)
	}
	return rank.Of(comparedBy(t, compare.MetricCPU, a, b, compare.Options{Work: &work}), work, 0.95)
}

func itemNamed(t *testing.T, items []rank.Item, name string) rank.Item {
	t.Helper()
	for _, item := range items {
		if item.Name == name {
			return item
		}
	}
	t.Fatalf("no item %q among %d", name, len(items))
	return rank.Item{}
}

func TestRankingDividesTheChange(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 1))
	ranking := ranked(t, units.PerAuto, server(4, random, 100, 1000, 200, "work"),
		server(4, random, 220, 2000, 200, "work"))
	if ranking.Per.Name != "run" || !ranking.Known || ranking.Smallest <= 0 {
		t.Errorf("ranking %+v", ranking)
	}
	sum := 0.0
	for _, item := range ranking.Items {
		sum += item.Change.Value
	}
	if math.Abs(sum-ranking.Change.Value) > 1e-9 {
		t.Errorf("items add up to %v of %v", sum, ranking.Change.Value)
	}
	first := ranking.Items[0]
	if first.Signal != rank.SignalCall || first.Name != "write" || first.Where != "log" || !first.Decided ||
		!first.ShareKnown ||
		first.Share.Low > 1 || first.Share.High < 0.95 {
		t.Errorf("first item %+v", first)
	}
	// Twice the calls, each 1.1 times as dear: 100 → 110 µs.
	calls := first.Calls
	if calls == nil || math.Abs(calls.Often.Value-0.105) > 1e-6 || math.Abs(calls.Dearer.Value-0.015) > 1e-6 ||
		math.Abs(calls.CostB-110e-6) > 1e-9 {
		t.Errorf("calls %+v", calls)
	}
	if work := itemNamed(t, ranking.Items, "work"); work.Decided || work.Smallest <= 0 {
		t.Errorf("the work did not change: %+v", work)
	}
	if calls := itemNamed(t, ranking.Beside, "write calls"); calls.A != 1000 || calls.B != 2000 || calls.Unit != "calls" {
		t.Errorf("beside: %+v", calls)
	}
}

func TestRankingPerRequest(t *testing.T) {
	random := rand.New(rand.NewPCG(32, 1))
	// B did twice the work at the same cost of each.
	a, b := server(4, random, 100, 1000, 200, "work"), server(4, random, 200, 2000, 400, "work")
	ranking := ranked(t, "request=write", a, b)
	if ranking.Per.Name != "call of write" || math.Abs(stat.Average(ranking.A)-0.0003) > 3e-5 ||
		math.Abs(stat.Average(ranking.AbsoluteB)-0.6) > 0.01 {
		t.Errorf("ranking per call: %+v", ranking)
	}
	if item := itemNamed(t, ranking.Items, "write"); math.Abs(item.A-1e-4) > 1e-9 ||
		math.Abs(item.B-1e-4) > 1e-9 {
		t.Errorf("write: %+v", item)
	}
	for _, asked := range []string{"request=0", "request=x", "request=1,2,3", "mile", "run=3", "request=NaN"} {
		if _, err := units.Choose(asked, a, b); err == nil {
			t.Errorf("%s: no error", asked)
		}
	}
	for asked, want := range map[string]string{"second": "second", "cpu-second": "CPU second", "request=5,10": "request"} {
		if work, err := units.Choose(asked, a, b); err != nil || work.Name != want {
			t.Errorf("%s: %+v, %v", asked, work, err)
		}
	}
	if parts := ranked(t, "cpu-second", a, b); math.Abs(parts.Change.Value) > 1e-9 {
		t.Errorf("CPU time per CPU second changed by %v", parts.Change.Value)
	}
}

func TestOneRecordingASideDecidesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(33, 1))
	a, b := server(1, random, 100, 1000, 200, "work"), server(1, random, 300, 1000, 200, "work")
	ranking := ranked(t, units.PerAuto, a, b)
	if ranking.Known || ranking.Smallest != 0 {
		t.Errorf("ranking %+v", ranking)
	}
	for _, item := range ranking.Items {
		if item.Decided || item.ShareKnown || item.Smallest != 0 {
			t.Errorf("item %+v", item)
		}
	}
	warnings := comparability.Warnings(a, b, ranking.Per)
	if len(warnings) == 0 || !strings.Contains(warnings[0], "no spread") {
		t.Errorf("warnings %v", warnings)
	}
}

// An import has no table of system calls: their number is unknown there, not zero.
func TestWhatOneSideDidNotCountIsNoDifference(t *testing.T) {
	random := rand.New(rand.NewPCG(37, 1))
	a, b := server(3, random, 100, 1000, 200, "work"), server(3, random, 200, 1000, 200, "work")
	for _, rec := range b {
		rec.Syscalls = nil
		rec.Manifest.Format = "folded"
	}
	ranking := ranked(t, units.PerAuto, a, b)
	if item := itemNamed(t, ranking.Items, "write"); item.Calls != nil {
		t.Errorf("calls %+v", item.Calls)
	}
	for _, item := range ranking.Beside {
		if strings.Contains(item.Name, "write") {
			t.Errorf("beside %+v", item)
		}
	}
	if ranking.Per.Name != "CPU second" {
		t.Errorf("an import is compared per %s", ranking.Per.Name)
	}
}

// A helper that B's compiler inlined is the same time under another name.
func TestInlinedFunctionIsNoChange(t *testing.T) {
	random := rand.New(rand.NewPCG(34, 1))
	make := func(inlined bool) (list []*recording.Recording) {
		for range 4 {
			extra := random.Int64N(5)
			m := newMade(0.4, 0.4)
			helper := "main;parse;helper"
			if inlined {
				helper = "main;parse"
			}
			m.runs(10, 10, 0, 100*ms, "main;parse").runs(10, 10, 100*ms, 200*ms, helper)
			m.runs(10, 10, 200*ms, (300+extra)*ms, "main;other")
			list = append(list, m.rec)
		}
		return list
	}
	ranking := ranked(t, units.PerAuto, make(false), make(true))
	parse := itemNamed(t, ranking.Items, "parse")
	if parse.Decided || len(parse.Merged) != 1 || parse.Merged[0] != "helper" || math.Abs(parse.A-parse.B) > 0.01 {
		t.Errorf("parse: %+v", parse)
	}
	for _, item := range ranking.Items {
		if item.Name == "helper" {
			t.Errorf("the helper is counted twice: %+v", item)
		}
	}
}

// No difference anywhere: decided items must be as rare as the false discovery rate says.
func TestRankingOfEqualSidesRarelyAlarms(t *testing.T) {
	random := rand.New(rand.NewPCG(35, 1))
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	group := func() (list []*recording.Recording) {
		for range 5 {
			m := newMade(1, 1)
			at := int64(0)
			for _, name := range strings.Fields("a b c d e f g h i j k l m n o p") {
				length := 40 + random.Int64N(20)
				m.runs(10, 10, at*ms, (at+length)*ms, "main;"+name)
				at += length
			}
			m.rec.Manifest.Metrics[compare.MetricCPU] = float64(at) / 1000
			list = append(list, m.rec)
		}
		return list
	}
	alarms, coloured := 0, 0
	for range rounds {
		result := compared(t, compare.MetricCPU, group(), group())
		for _, item := range rank.Of(result, units.Work{}, 0.95).Items {
			if item.Decided {
				alarms++
				break
			}
		}
		for _, node := range result.Profile.Nodes {
			if node.Decided {
				coloured++
				break
			}
		}
	}
	if alarms > rounds/10 || coloured > rounds/6 {
		t.Errorf("of %d comparisons of equal sides %d decide an item, %d colour a frame", rounds, alarms, coloured)
	}
	t.Logf("of %d comparisons of equal sides %d decide an item, %d colour a frame", rounds, alarms, coloured)
}

func TestCutKeepsWhatLiesWithin(t *testing.T) {
	m := newMade(1, 1).runs(10, 10, 0, 1000*ms, "main;work")
	m.waits(recording.Wait{TimeNs: 300 * ms, BlockedNs: 300 * ms, RunqueueNs: 100 * ms, Pid: 10, Tid: 10}, "main;nap")
	m.process(20, 10, 100*ms, 200*ms, "early").process(21, 10, 450*ms, 900*ms, "late")
	m.rec.Syscalls = []recording.Syscall{{Pid: 10, Name: "write", Count: 5}}
	cut, err := prepare.Cut(m.rec, 400*ms, 650*ms)
	if err != nil {
		t.Fatal(err)
	}
	if cut.Manifest.WindowNs != 250*ms || len(cut.Samples) != 250 || cut.Samples[0].TimeNs != 0 || len(cut.Syscalls) != 0 {
		t.Errorf("window %d, %d samples", cut.Manifest.WindowNs, len(cut.Samples))
	}
	if w := cut.Waits[0]; w.TimeNs != 0 || w.BlockedNs != 200*ms || w.RunqueueNs != 50*ms {
		t.Errorf("wait %+v", w)
	}
	if len(cut.Processes) != 2 || cut.Processes[1].StartNs != 50*ms || cut.Processes[1].EndNs != 0 {
		t.Errorf("processes %+v", cut.Processes)
	}
	if full := prepare.Measured(cut); math.Abs(full.Manifest.Metrics[compare.MetricCPU]-0.25) > 1e-9 ||
		full.Manifest.Metrics[compare.MetricWall] != 0.25 {
		t.Errorf("metrics %v", full.Manifest.Metrics)
	}
	for _, window := range [][2]int64{{-1, 5}, {5, 5}, {0, 1001 * ms}} {
		if _, err := prepare.Cut(m.rec, window[0], window[1]); err == nil {
			t.Errorf("window %v: no error", window)
		}
	}
}

func TestWarningsOfWhatIsNotComparable(t *testing.T) {
	random := rand.New(rand.NewPCG(36, 1))
	change := func(edit func(*recording.Recording)) []*recording.Recording {
		list := server(2, random, 100, 1000, 200, "work")
		for _, rec := range list {
			rec.Manifest.Target.Command = "prog"
			rec.Facts = []recording.Fact{{Name: "cpu.count", Value: "2"}, {Name: "kernel.release", Value: "6.1"}}
			for i := range rec.Frames {
				rec.Frames[i].BuildID = "aa"
			}
			if edit != nil {
				edit(rec)
			}
		}
		return list
	}
	for want, edit := range map[string]func(*recording.Recording){
		"number of CPUs 2 and 8":     func(r *recording.Recording) { r.Facts[0].Value = "8" },
		"kernel 6.1 and 6.2":         func(r *recording.Recording) { r.Facts[1].Value = "6.2" },
		`commands: "prog" and "new"`: func(r *recording.Recording) { r.Manifest.Target.Command = "new" },
		"other builds of prog":       func(r *recording.Recording) { r.Frames[0].BuildID = "bb"; r.Frames = r.Frames[:1] },
		"99 times a second":          func(r *recording.Recording) { r.Manifest.Hz = 99 },
		"an import of folded": func(r *recording.Recording) {
			r.Manifest.Format = "folded"
		},
		"calls of read per second": func(r *recording.Recording) {
			r.Syscalls = append(r.Syscalls, recording.Syscall{Name: "read", Count: 9000})
		},
	} {
		a, b := change(nil), change(edit)
		work, err := units.Choose(units.PerSecond, a, b)
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(comparability.Warnings(a, b, work), "\n"); !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
	same := change(nil)
	if list := comparability.Warnings(same, same, units.Work{Name: "run"}); len(list) > 0 {
		t.Errorf("warnings of the same: %v", list)
	}
}
