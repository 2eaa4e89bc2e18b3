package event

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// put adds files to a fixture.
func put(t *testing.T, source Source, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(source.Root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const cpuinfo = "processor\t: 0\nvendor_id\t: %s\ncpu family\t: 6\nmodel\t\t: %d\nmodel name\t: A Processor\n" +
	"stepping\t: 4\n"

func cpuOf(vendor, model string) map[string]string {
	return map[string]string{"proc/cpuinfo": strings.NewReplacer("%s", vendor, "%d", model).Replace(cpuinfo)}
}

// Names that a CPU's maker published are encoded by the list of the model, and by the kernel's
// fields.
func TestPublishedEvents(t *testing.T) {
	source := machine(t)
	for _, each := range []struct {
		model, name string
		config, ext uint64
		fails       string
	}{
		{"143", "br_misp_retired.all_branches", 0xc5, 0, ""},
		{"143", "BR_MISP_RETIRED.ALL_BRANCHES", 0xc5, 0, ""},
		{"143", "topdown.slots", 0x400, 0, ""},
		{"143", "ocr.demand_data_rd.l3_miss", 0x12a, 0x3fbfc00001, ""},
		{"85", "inst_retired.any", 0xc0, 0, ""}, // stepping 4: Skylake, not Cascade Lake
		{"85", "topdown.slots", 0, 0, "is of other CPUs (EMR,"},
		{"143", "br_misp_retired.al_branches", 0, 0, "no event"},
	} {
		put(t, source, cpuOf("GenuineIntel", each.model))
		list, err := Parse(each.name, source)
		if each.fails != "" {
			if err == nil || !strings.Contains(err.Error(), each.fails) {
				t.Errorf("%s of model %s: %v", each.name, each.model, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s of model %s: %v", each.name, each.model, err)
			continue
		}
		if got := list[0]; got.Type != 4 || got.Config != each.config || got.Config1 != each.ext || got.Name != each.name {
			t.Errorf("%s of model %s: %+v", each.name, each.model, got)
		}
	}
	put(t, source, cpuOf("GenuineIntel", "143"))
	if names := source.Published(); len(names) < 300 || !slices.Contains(names, "machine_clears.count") {
		t.Errorf("%d events of Sapphire Rapids", len(names))
	}
	put(t, source, cpuOf("CentaurHauls", "17"))
	if names := source.Published(); len(names) > 0 {
		t.Errorf("%d events of another maker's CPU", len(names))
	}
	_, err := Parse("topdown.slots", source)
	if err == nil || !strings.Contains(err.Error(), "not of this one (A Processor)") {
		t.Errorf("an event of another maker: %v", err)
	}
	none := Source{Root: t.TempDir()}
	put(t, none, cpuOf("GenuineIntel", "143"))
	if _, err = Parse("topdown.slots", none); err == nil || !strings.Contains(err.Error(), "no hardware counters") {
		t.Errorf("a host without a PMU: %v", err)
	}
}

// AMD's cores are told by family and model, as their events differ.
func TestEventsOfAMD(t *testing.T) {
	source := machine(t)
	cpu := func(family, model string) {
		text := strings.NewReplacer("%s", "AuthenticAMD", ": 6", ": "+family, "%d", model).Replace(cpuinfo)
		put(t, source, map[string]string{"proc/cpuinfo": text})
	}
	for _, each := range []struct {
		family, model, name string
		config              uint64
		fails               string
	}{
		{"25", "17", "retired_mispredicted_branch_instructions", 0, "no event"},
		{"25", "17", "retired_branch_instructions_mispredicted", 0xc3, ""},
		{"25", "160", "retired_branch_instructions_mispredicted", 0xc3, ""}, // Bergamo
		{"25", "17", "RETIRED_SSE_AVX_FLOPS", 0x1f03, ""},                   // all of its parts
		{"25", "17", "retired_sse_avx_flops.div_flops", 0x403, ""},
		{"25", "1", "retired_sse_avx_flops.bfloat_mac_flops", 0, "of other CPUs (Zen4"}, // Milan is Zen 3
		{"23", "49", "cycles_not_in_halt", 0x76, ""},                                    // Rome
		{"26", "2", "cycles_not_in_halt", 0x76, ""},                                     // Turin
		{"26", "80", "dispatch_stalls_1.fe_no_ops", 0, "of other CPUs (Zen4, Zen5)"},    // Zen 6
		{"23", "1", "instruction_cache_lines_invalidated", 0, "is counted in parts: instruction_cache_lines_invalidated."},
		{"21", "2", "retired_branch_instructions_mispredicted", 0, "of other CPUs (Zen1"},
	} {
		cpu(each.family, each.model)
		list, err := Parse(each.name, source)
		switch {
		case each.fails != "":
			if err == nil || !strings.Contains(err.Error(), each.fails) {
				t.Errorf("%s of family %s, model %s: %v", each.name, each.family, each.model, err)
			}
		case err != nil:
			t.Errorf("%s of family %s, model %s: %v", each.name, each.family, each.model, err)
		case list[0].Type != 4 || list[0].Config != each.config:
			t.Errorf("%s of family %s, model %s: %+v", each.name, each.family, each.model, list[0])
		}
	}
}

// Arm's cores are told by maker and part. What the PMU does not list among those events that all of
// them may have, it does not count: it would read 0.
func TestEventsOfArm(t *testing.T) {
	const cpu = "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0x%s\nCPU revision\t: 1\n"
	const pmu = "sys/bus/event_source/devices/armv8_pmuv3_0/"
	source := Source{Root: t.TempDir()}
	put(t, source, map[string]string{"proc/cpuinfo": strings.Replace(cpu, "%s", "d0c", 1), pmu + "type": "8",
		pmu + "format/event": "config:0-15", pmu + "events/cpu_cycles": "event=0x0011",
		pmu + "events/l1d_cache_refill": "event=0x0003", "sys/bus/event_source/devices/arm_cmn_0/type": "9"})
	list, err := Parse("l1d_cache_refill,L1D_CACHE_REFILL,l1d_cache_rd", source)
	if err != nil || list[0].Type != 8 || list[0].Config != 3 || list[1].Config != 3 || list[2].Config != 0x40 {
		t.Errorf("%+v, %v", list, err)
	}
	if names := source.Published(); len(names) < 80 || !slices.Contains(names, "stall_frontend") {
		t.Errorf("%d events of Neoverse N1", len(names))
	}
	if _, err := Parse("stall_frontend", source); err == nil || !strings.Contains(err.Error(), "does not count it") {
		t.Errorf("an event that the PMU does not list: %v", err)
	}
	put(t, source, map[string]string{"proc/cpuinfo": strings.Replace(cpu, "%s", "d99", 1)})
	_, err = Parse("l1d_cache_rd", source)
	if err == nil || !strings.Contains(err.Error(), "not of this one (implementer 0x41, part 0xd99)") {
		t.Errorf("an event of another core: %v", err)
	}
	put(t, source, map[string]string{"proc/cpuinfo": strings.Replace(cpu, "%s", "d08", 1),
		"sys/bus/event_source/devices/armv8_cortex_a53/type": "10"})
	if names := source.Published(); len(names) > 0 {
		t.Errorf("%d events where cores of two kinds share the host", len(names))
	}
}

// The events of the kernel's PMU need not be told with its name.
func TestEventsOfTheCorePMU(t *testing.T) {
	list, err := Parse("mem-loads", machine(t))
	if err != nil || list[0].Config != 0x1cd || list[0].Type != 4 {
		t.Errorf("%+v, %v", list, err)
	}
}
