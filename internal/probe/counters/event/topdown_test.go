package event

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestTopDown(t *testing.T) {
	source := machine(t)
	if _, err := Parse("topdown", source); err == nil || !strings.Contains(err.Error(), "no events of slots") {
		t.Errorf("a PMU without slots: %v", err)
	}
	const events = "sys/bus/event_source/devices/cpu/events/"
	put(t, source, map[string]string{events + "slots": "event=0x00,umask=0x4",
		events + "topdown-retiring": "event=0x00,umask=0x80",
		events + "topdown-bad-spec": "event=0x00,umask=0x81", events + "topdown-fe-bound": "event=0x00,umask=0x82",
		events + "topdown-be-bound": "event=0x00,umask=0x83"})
	list, err := Parse("task-clock,topdown", source)
	if err != nil || len(list) != 6 || list[1].Name != "slots" || list[1].Config != 0x400 || list[5].Config != 0x8300 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, each := range list[1:] {
		if each.Group != list[1].Group || each.Group < 0 {
			t.Errorf("%s is not in the group of the slots", each.Name)
		}
	}
	if _, err := Parse("topdown", Source{Root: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "no PMU") {
		t.Errorf("a host without a PMU: %v", err)
	}
}

// slotsOf makes a host of a maker's CPU with the PMU that its kernel shows.
func slotsOf(t *testing.T, cpu string, files map[string]string) Source {
	t.Helper()
	source := Source{Root: t.TempDir()}
	put(t, source, map[string]string{"proc/cpuinfo": cpu})
	put(t, source, files)
	return source
}

func amd(t *testing.T, family, model string) Source {
	const pmu = "sys/bus/event_source/devices/cpu/"
	return slotsOf(t, "vendor_id\t: AuthenticAMD\ncpu family\t: "+family+"\nmodel\t: "+model+
		"\nmodel name\t: AMD EPYC\nstepping\t: 1\n", map[string]string{pmu + "type": "4",
		pmu + "format/event": "config:0-7,32-35", pmu + "format/umask": "config:8-15"})
}

func arm(t *testing.T, part, revision string, listed ...string) Source {
	const pmu = "sys/bus/event_source/devices/armv8_pmuv3_0/"
	files := map[string]string{pmu + "type": "8", pmu + "format/event": "config:0-15"}
	for i, name := range append(listed, "cpu_cycles", "br_mis_pred") {
		files[pmu+"events/"+name] = "event=" + []string{"0x3e", "0x3d", "0x3a", "0x3b", "0x11", "0x10"}[i+4-len(listed)]
	}
	return slotsOf(t, "CPU implementer\t: 0x41\nCPU variant\t: 0x"+revision[1:2]+"\nCPU part\t: "+part+
		"\nCPU revision\t: "+revision[3:]+"\n", files)
}

// The slots of AMD's pipelines are counted by six events, of which one is left to the NMI watchdog
// where that is on.
func TestTopDownOfAMD(t *testing.T) {
	for _, model := range []struct {
		family, model string
		width         float64
	}{{"25", "17", 6}, {"25", "160", 6}, {"26", "2", 8}, {"26", "68", 8}} {
		source := amd(t, model.family, model.model)
		list, err := Parse("topdown", source)
		if err != nil || len(list) != 6 || len(list[0].Shares) != 5 {
			t.Fatalf("family %s, model %s: %+v, %v", model.family, model.model, list, err)
		}
		for _, each := range list {
			if each.Type != 4 || each.Group != 0 {
				t.Errorf("%+v", each)
			}
		}
		at := slices.IndexFunc(list, func(e Event) bool { return e.Name == "ops_dispatched" })
		if at < 0 || list[at].Config != 0x7aa {
			t.Errorf("what is dispatched: %+v", list)
		}
		retiring := list[0].Shares[0]
		if got := retiring.Value([]float64{3000, 1000}); retiring.Name != "retiring" || got != 3/model.width {
			t.Errorf("3 operations a cycle of %v slots: %s is %v", model.width, retiring.Text, got)
		}
		put(t, source, map[string]string{"proc/sys/kernel/nmi_watchdog": "1"})
		if list, err = Parse("topdown", source); err != nil || len(list) != 5 || len(list[0].Shares) != 4 {
			t.Errorf("beside the watchdog: %+v, %v", list, err)
		}
	}
	for _, model := range [][2]string{{"25", "1"}, {"26", "80"}} { // Zen 3 and Zen 6
		_, err := Parse("topdown", amd(t, model[0], model[1]))
		if err == nil || !strings.Contains(err.Error(), "AMD's since Zen 4") || !strings.Contains(err.Error(), "AMD EPYC") {
			t.Errorf("family %s, model %s: %v", model[0], model[1], err)
		}
	}
}

// Arm's formulas are those of the core and its revision. Their four parts add up to one, whatever
// was counted.
func TestTopDownOfArm(t *testing.T) {
	all := []string{"stall_slot_frontend", "stall_slot_backend", "op_retired", "op_spec"}
	for _, core := range []struct{ part, revision string }{{"0xd40", "r1p2"}, {"0xd49", "r0p1"}, {"0xd49", "r0p3"},
		{"0xd4f", "r0p1"}, {"0xd83", "r0p0"}, {"0xd84", "r0p1"}, {"0xd8e", "r0p1"}} {
		list, err := Parse("topdown", arm(t, core.part, core.revision, all...))
		if err != nil || len(list) != 6 || len(list[0].Shares) != 4 {
			t.Fatalf("%s %s: %+v, %v", core.part, core.revision, list, err)
		}
		counted := map[string]float64{"cpu_cycles": 1000, "stall_slot_frontend": 900, "stall_slot_backend": 1700,
			"op_retired": 1900, "op_spec": 2300, "br_mis_pred": 7, "stall_frontend_flush": 60}
		sum := 0.0
		for _, share := range list[0].Shares {
			var counts []float64
			for _, name := range share.Events {
				if counted[name] == 0 {
					t.Errorf("%s of %s: no such event was expected: %s", share.Name, core.part, name)
				}
				counts = append(counts, counted[name])
			}
			sum += share.Value(counts)
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s %s: the parts add up to %v", core.part, core.revision, sum)
		}
	}
	// What slots nobody filled are counted a cycle too much on the first revisions of N2, as Arm
	// says.
	backend := func(revision string) string {
		list, err := Parse("topdown", arm(t, "0xd49", revision, all...))
		if err != nil {
			t.Fatal(err)
		}
		return list[0].Shares[2].Text
	}
	if before, after := backend("r0p2"), backend("r0p3"); before == after {
		t.Errorf("both revisions compute frontend-bound by %s", before)
	}
}

func TestTopDownRefused(t *testing.T) {
	all := []string{"stall_slot_frontend", "stall_slot_backend", "op_retired", "op_spec"}
	width := arm(t, "0xd4f", "r0p1", all...)
	put(t, width, map[string]string{"sys/bus/event_source/devices/armv8_pmuv3_0/caps/slots": "0x0000000a"})
	for want, source := range map[string]Source{
		"Arm's in Neoverse V1, N2 and later":                       arm(t, "0xd0c", "r4p1"), // N1
		"implementer 0x41, part 0xd08":                             arm(t, "0xd08", "r0p3"), // the emulator's
		"does not list stall_slot_frontend, which would then read": arm(t, "0xd4f", "r0p1"),
		"has 10 slots in a cycle":                                  width,
	} {
		if list, err := Parse("topdown", source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v; want %q", list, err, want)
		}
	}
	put(t, width, map[string]string{"sys/bus/event_source/devices/armv8_pmuv3_0/caps/slots": "0x00000008"})
	if _, err := Parse("topdown", width); err != nil {
		t.Errorf("as many slots as the formula has: %v", err)
	}
}

func TestFormula(t *testing.T) {
	formula, err := parseFormula("a.b * 4 - 2 * (c / 2 + a.b) / 4 + 1.5")
	if err != nil || !slices.Equal(formula.Events, []string{"a.b", "c"}) {
		t.Fatalf("%+v, %v", formula, err)
	}
	if got := formula.Value([]float64{3, 8}); got != 10 {
		t.Errorf("12 - 3.5 + 1.5 is %v", got)
	}
	for _, wrong := range []string{"", "a +", "(a", "a)", "a b", "a % b", "* a", "()", strings.Repeat("(", 99)} {
		if formula, err := parseFormula(wrong); err == nil {
			t.Errorf("%q is read as %+v", wrong, formula)
		}
	}
}
