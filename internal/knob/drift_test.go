package knob

import (
	"slices"
	"testing"

	"culprit/recording"
)

func TestDrifts(t *testing.T) {
	before := []recording.Fact{{Name: "a", Value: "1", Source: "/a"}, {Name: "b", Value: "2", Source: "/b"},
		{Name: "c", Value: "3", Source: "/c"}}
	after := []recording.Fact{{Name: "b", Value: "20", Source: "/b"}, {Name: "c", Value: "3", Source: "/c"},
		{Name: "d", Value: "4", Source: "/d"}}
	want := []Drift{{"b", "/b", "2", "20"}, {"d", "/d", "", "4"}, {"a", "/a", "1", ""}}
	if got := Drifts(before, after); !slices.Equal(got, want) {
		t.Errorf("drifts are %+v, want %+v", got, want)
	}
	if got := Drifts(before, before); got != nil {
		t.Errorf("no change is told as %+v", got)
	}
}

// A knob that is flipped is a drift, one that was put back is none.
func TestDriftOfAnExperiment(t *testing.T) {
	newState(t)
	root := machine(t, "tsc", "tsc", "kvm-clock")
	before := Snapshot(root)
	change, err := Begin(t.Context(), ClockSource(root))
	must(t, err)
	must(t, change.Set("clocksource", "kvm-clock"))
	drifts := Drifts(before, Snapshot(root))
	if len(drifts) != 1 || drifts[0].Name != "clocksource.current" || drifts[0].After != "kvm-clock" {
		t.Errorf("flipped, the drifts are %+v", drifts)
	}
	must(t, change.Restore())
	if drifts := Drifts(before, Snapshot(root)); drifts != nil {
		t.Errorf("put back, the drifts are %+v", drifts)
	}
}

func TestManagers(t *testing.T) {
	root := tree(t, map[string]string{"/proc/12/comm": "irqbalance", "/proc/7/comm": "power-profiles-",
		"/proc/300/comm": "tuned", "/proc/9/comm": "tunedx", "/proc/self/comm": "tuned"})
	found := Managers(root)
	if len(found) != 3 || found[0].Name != "power-profiles-daemon" || found[1].Pid != 12 || found[2].Name != "TuneD" {
		t.Fatalf("found %+v", found)
	}
	if !found[0].Sets("governor") || found[0].Sets("vm.swappiness") || !found[1].Sets("irq.4.affinity") ||
		found[1].Sets("nice") || !found[2].Sets("vm.swappiness") {
		t.Error("a manager's knobs are wrong")
	}
}
