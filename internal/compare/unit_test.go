package compare_test

import (
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/units"
	"culprit/recording"
)

func TestUnitOfOneRecording(t *testing.T) {
	for _, each := range []struct {
		name     string
		manifest recording.Manifest
		unit     string
		amount   float64 // of 6
	}{
		{"a command", recording.Manifest{Target: recording.Target{Kind: "command"}, WindowNs: 3e9}, "run", 6},
		{"a process", recording.Manifest{Target: recording.Target{Kind: "pid"}, WindowNs: 3e9}, "second", 2},
		{"a cgroup", recording.Manifest{Target: recording.Target{Kind: "cgroup"}, WindowNs: 2e9}, "second", 3},
		{"no window", recording.Manifest{Target: recording.Target{Kind: "host"}}, "recording", 6},
	} {
		work, err := units.Choose(units.PerAuto, []*recording.Recording{{Manifest: each.manifest}}, nil)
		if unit := work.Unit(); err != nil || unit.Name != each.unit || unit.Amount(6) != each.amount {
			t.Errorf("%s: 6 are %v per %s, want %v per %s", each.name, unit.Amount(6), unit.Name, each.amount, each.unit)
		}
	}
}

func TestUnitDividesAmountsOnly(t *testing.T) {
	work := units.Work{Name: "request", A: []float64{90, 110}, B: []float64{100}}
	unit := work.Unit()
	for unitOf, want := range map[string]string{"s": "s", "ms": "ms", "": "", "s/run": "s/request"} {
		if word, counted := unit.Of(unitOf); word != want || counted != (unitOf == "s/run") {
			t.Errorf("%q is told as %q, counted %v", unitOf, word, counted)
		}
	}
	root := compare.ProfileNode{Name: "all", SelfA: 100, SelfB: 300, Change: 200, Low: 100, High: 300}
	tree := compare.Profile{Nodes: []compare.ProfileNode{root}}
	told := tree.Per(unit).Nodes[0]
	if told.SelfA != 1 || told.SelfB != 3 || told.Change != 2 || told.Low != 1 || told.High != 3 {
		t.Errorf("the tree's root is %+v", told)
	}
	if tree.Nodes[0].SelfA != 100 {
		t.Error("the given tree was changed")
	}
	var none *units.Work
	if unit := none.Unit(); unit.Name != "run" || unit.Amount(6) != 6 {
		t.Errorf("without work 6 are %v per %s", unit.Amount(6), unit.Name)
	}
}

// A command that -d cut short, or whose recorder was killed, is no whole one: it is compared by the
// second.
func TestCutCommandIsNoRun(t *testing.T) {
	command := func(endNs int64, metrics map[string]float64) *recording.Recording {
		return &recording.Recording{Processes: []recording.Process{{Pid: 7, EndNs: endNs}, {Pid: 8, EndNs: 1e9}},
			Manifest: recording.Manifest{Target: recording.Target{Kind: "command", Pid: 7}, WindowNs: 2e9, Metrics: metrics}}
	}
	whole := command(2e9, nil)
	for name, c := range map[string]struct {
		other *recording.Recording
		want  string
	}{
		"ended":             {command(1e9, nil), units.PerRun},
		"cut":               {command(0, nil), units.PerSecond},
		"waited for":        {command(0, map[string]float64{compare.MetricWall: 1.9}), units.PerRun},
		"without processes": {&recording.Recording{Manifest: whole.Manifest}, units.PerRun},
	} {
		work, err := units.Choose(units.PerAuto, []*recording.Recording{whole}, []*recording.Recording{c.other})
		one, errOne := units.Choose(units.PerAuto, []*recording.Recording{c.other}, nil)
		if err != nil || errOne != nil || work.Name != c.want || one.Name != c.want {
			t.Errorf("%s: divided by a %s (alone: %s), %v; want a %s", name, work.Name, one.Name, err, c.want)
		}
	}
}
