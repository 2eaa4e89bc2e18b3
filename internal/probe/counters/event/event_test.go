package event

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// machine is a host with the PMUs of a server, as sysfs shows them.
func machine(t *testing.T) Source {
	t.Helper()
	files := map[string]string{
		"sys/bus/event_source/devices/cpu/type":                         "4",
		"sys/bus/event_source/devices/cpu/format/event":                 "config:0-7,32-35",
		"sys/bus/event_source/devices/cpu/format/umask":                 "config:8-15",
		"sys/bus/event_source/devices/cpu/format/edge":                  "config:18",
		"sys/bus/event_source/devices/cpu/format/offcore_rsp":           "config1:0-63",
		"sys/bus/event_source/devices/cpu/format/strange":               "config9:0-1",
		"sys/bus/event_source/devices/cpu/events/mem-loads":             "event=0xcd,umask=0x1",
		"sys/bus/event_source/devices/msr/type":                         "9",
		"sys/bus/event_source/devices/msr/format/event":                 "config:0-63",
		"sys/bus/event_source/devices/msr/events/tsc":                   "event=0x00",
		"sys/bus/event_source/devices/msr/events/smi":                   "event=0x04",
		"sys/bus/event_source/devices/power/type":                       "12",
		"sys/bus/event_source/devices/power/cpumask":                    "0,18",
		"sys/bus/event_source/devices/power/format/event":               "config:0-7",
		"sys/bus/event_source/devices/power/events/energy-pkg":          "event=0x02",
		"sys/bus/event_source/devices/power/events/energy-pkg.scale":    "2.3283064365386962890625e-10",
		"sys/bus/event_source/devices/power/events/energy-pkg.unit":     "Joules",
		"sys/kernel/tracing/events/sched/sched_switch/id":               "316",
		"sys/bus/event_source/devices/cpu/events/mem-loads.per-package": "1",
	}
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Source{Root: root}
}

func TestEncodings(t *testing.T) {
	source := machine(t)
	const user, kernel, hypervisor = unix.PerfBitExcludeUser, unix.PerfBitExcludeKernel, unix.PerfBitExcludeHv
	for name, want := range map[string]Event{
		"cycles":                     {Kind: Hardware, Type: 0, Config: 0},
		"branch-misses:u":            {Kind: Hardware, Type: 0, Config: 5, Bits: kernel | hypervisor},
		"instructions:uk":            {Kind: Hardware, Type: 0, Config: 1, Bits: hypervisor},
		"task-clock":                 {Kind: Clock, Type: 1, Config: 1, Unit: "ns"},
		"cs":                         {Kind: Software, Type: 1, Config: 3},
		"L1-dcache-load-misses":      {Kind: Hardware, Type: 3, Config: 0x10000},
		"LLC-stores":                 {Kind: Hardware, Type: 3, Config: 0x102},
		"dTLB-prefetches":            {Kind: Hardware, Type: 3, Config: 0x203},
		"r1a2":                       {Kind: Hardware, Type: 4, Config: 0x1a2},
		"r3c:k":                      {Kind: Hardware, Type: 4, Config: 0x3c, Bits: user | hypervisor},
		"cpu/mem-loads/":             {Kind: Hardware, Type: 4, Config: 0x1cd},
		"cpu/mem-loads/u":            {Kind: Hardware, Type: 4, Config: 0x1cd, Bits: kernel | hypervisor},
		"cpu/config=0x13c/":          {Kind: Hardware, Type: 4, Config: 0x13c},
		"cpu/event=0x1b7,umask=1/":   {Kind: Hardware, Type: 4, Config: 0x1_0000_01b7},
		"cpu/event=0x3c,edge/":       {Kind: Hardware, Type: 4, Config: 0x4003c},
		"cpu/config=1,config1=0xff/": {Kind: Hardware, Type: 4, Config: 1, Config1: 0xff},
		"cpu/event=1,offcore_rsp=7/": {Kind: Hardware, Type: 4, Config: 1, Config1: 7},
		"msr/tsc/":                   {Kind: Free, Type: 9},
		"msr/smi/":                   {Kind: Free, Type: 9, Config: 4},
		"power/energy-pkg/": {Kind: Package, Type: 12, Config: 2, Scale: 2.3283064365386962890625e-10,
			Unit: "Joules", CPUs: []int{0, 18}},
		"sched:sched_switch": {Kind: Tracepoint, Type: 2, Config: 316},
	} {
		list, err := Parse(name, source)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := list[0]
		if got.Name != name || got.Group != -1 || got.Kind != want.Kind || got.Type != want.Type ||
			got.Config != want.Config || got.Config1 != want.Config1 || got.Bits != want.Bits || got.Scale != want.Scale ||
			got.Unit != want.Unit || len(got.CPUs) != len(want.CPUs) {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
	}
}

func TestGroups(t *testing.T) {
	list, err := Parse("cs,{cycles,instructions}:u, {branches,cpu/event=1,umask=2/},cs", machine(t))
	if err != nil {
		t.Fatal(err)
	}
	wantGroups, wantNames := []int{-1, 0, 0, 1, 1, -1}, "cs cycles:u instructions:u branches cpu/event=1,umask=2/ cs#2"
	if got := strings.Join(list.Names(), " "); got != wantNames {
		t.Errorf("names are %q", got)
	}
	for i, group := range wantGroups {
		if list[i].Group != group {
			t.Errorf("%s is in group %d, want %d", list[i].Name, list[i].Group, group)
		}
	}
}

// What makes no sense is refused in one line that names it.
func TestBadEvents(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "a name is empty",
		"cycles,,cs":                  "a name is empty",
		"{cycles":                     "not closed",
		"{a,{b}}":                     "braces",
		"cycles}":                     "braces",
		"{cycles}u":                   "after the brace",
		"cycls":                       "did you mean cycles",
		"sundial":                     "count --list",
		"cpu/mem-loads":               "slash is not closed",
		"gpu/x/":                      `no PMU "gpu"; it has cpu, msr, power`,
		"cpu/nonsense/":               `no event and no term "nonsense"; it has cpu/mem-loads/`,
		"cpu/event=0x1000/":           "needs more than its 12 bits",
		"cpu/event=x/":                "no number",
		"cpu/strange=1/":              "not known",
		"cpu/..%2f/":                  "is no term",
		"../cpu/event=1/":             "not closed",
		"task-clock:u":                "cannot be split",
		"sched:sched_nothing":         "no tracepoint sched_nothing in sched",
		"task-clock:zz":               `event task-clock: no modifier "zz"`,
		"sched:*":                     "patterns are not resolved",
		"{}":                          `group "{}" is empty`,
		"{topdown}":                   "a group already",
		"gpu/energy-pkg/":             "nearest to energy",
		"uncore_imc/cas_count_read/":  "outside of the cores",
		"{cycles:u,branches}:k":       "modifiers of its own",
		"cpu/event=1/z":               `no modifier "z"`,
		"r" + strings.Repeat("f", 17): "no event",
	} {
		if list, err := Parse(text, machine(t)); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%q gives %v, %v, want an error with %q", text, list, err, want)
		}
	}
	many := strings.Repeat("r1,", 33)
	for i := range 33 {
		many = strings.Replace(many, "r1,", "r1"+strings.Repeat("0", i%8)+string(rune('0'+i/8))+",", 1)
	}
	_, err := Parse(strings.TrimSuffix(many, ","), machine(t))
	if err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("33 events: %v", err)
	}
}

// Each refusal of the kernel is told with what stands against it.
func TestExplain(t *testing.T) {
	with, without := machine(t), Source{Root: t.TempDir()}
	cycles := Event{Name: "cycles", Kind: Hardware}
	for _, each := range []struct {
		source Source
		err    error
		want   string
	}{
		{with, unix.EACCES, "perf_event_paranoid"}, {with, unix.ENOENT, "the PMU cpu"},
		{without, unix.ENOENT, "no hardware counters"}, {without, unix.EOPNOTSUPP, "task-clock (time on a CPU) stands in"},
		{with, unix.EMFILE, "ulimit"}, {with, unix.EBUSY, "doctor"}, {with, unix.ENOSYS, "sandbox"},
	} {
		err := cycles.Explain(each.source, each.err)
		if !strings.HasPrefix(err.Error(), "event cycles: ") || !strings.Contains(err.Error(), each.want) {
			t.Errorf("%v: %v", each.err, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("cycles,{instructions,cpu/event=1/}:u,sched:sched_switch")
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Parse(text, Source{Root: root})
		if err == nil && (len(list) == 0 || len(list) > Max) {
			t.Errorf("%q gives %d events", text, len(list))
		}
	})
}

func TestNameOf(t *testing.T) {
	for name, of := range map[string]struct {
		kind   uint32
		config uint64
	}{
		"cycles": {0, 0}, "branches": {0, 4}, "context-switches": {1, 3}, "r1c2": {4, 0x1c2},
		"L1-dcache-load-misses": {3, 0x10000}, "L1-dcache-prefetches": {3, 0x200}, "type 77, config 0x5": {77, 5},
	} {
		if got := NameOf(of.kind, of.config, Source{Root: t.TempDir()}); got != name {
			t.Errorf("%d, %#x: %q, not %q", of.kind, of.config, got, name)
		}
	}
}
