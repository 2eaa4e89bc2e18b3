package event

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// generic are the names that every kernel knows, as perf writes them
// (include/uapi/linux/perf_event.h).
var generic = map[string]Event{
	"cpu-cycles":              {Kind: Hardware, Config: unix.PERF_COUNT_HW_CPU_CYCLES},
	"cycles":                  {Kind: Hardware, Config: unix.PERF_COUNT_HW_CPU_CYCLES},
	"instructions":            {Kind: Hardware, Config: unix.PERF_COUNT_HW_INSTRUCTIONS},
	"cache-references":        {Kind: Hardware, Config: unix.PERF_COUNT_HW_CACHE_REFERENCES},
	"cache-misses":            {Kind: Hardware, Config: unix.PERF_COUNT_HW_CACHE_MISSES},
	"branches":                {Kind: Hardware, Config: unix.PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	"branch-instructions":     {Kind: Hardware, Config: unix.PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	"branch-misses":           {Kind: Hardware, Config: unix.PERF_COUNT_HW_BRANCH_MISSES},
	"bus-cycles":              {Kind: Hardware, Config: unix.PERF_COUNT_HW_BUS_CYCLES},
	"stalled-cycles-frontend": {Kind: Hardware, Config: unix.PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	"stalled-cycles-backend":  {Kind: Hardware, Config: unix.PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	"ref-cycles":              {Kind: Hardware, Config: unix.PERF_COUNT_HW_REF_CPU_CYCLES},
	"cpu-clock":               software(Clock, unix.PERF_COUNT_SW_CPU_CLOCK),
	"task-clock":              software(Clock, unix.PERF_COUNT_SW_TASK_CLOCK),
	"page-faults":             software(Software, unix.PERF_COUNT_SW_PAGE_FAULTS),
	"faults":                  software(Software, unix.PERF_COUNT_SW_PAGE_FAULTS),
	"context-switches":        software(Software, unix.PERF_COUNT_SW_CONTEXT_SWITCHES),
	"cs":                      software(Software, unix.PERF_COUNT_SW_CONTEXT_SWITCHES),
	"cpu-migrations":          software(Software, unix.PERF_COUNT_SW_CPU_MIGRATIONS),
	"migrations":              software(Software, unix.PERF_COUNT_SW_CPU_MIGRATIONS),
	"minor-faults":            software(Software, unix.PERF_COUNT_SW_PAGE_FAULTS_MIN),
	"major-faults":            software(Software, unix.PERF_COUNT_SW_PAGE_FAULTS_MAJ),
	"alignment-faults":        software(Software, unix.PERF_COUNT_SW_ALIGNMENT_FAULTS),
	"emulation-faults":        software(Software, unix.PERF_COUNT_SW_EMULATION_FAULTS),
	"dummy":                   software(Software, unix.PERF_COUNT_SW_DUMMY),
	"bpf-output":              software(Software, unix.PERF_COUNT_SW_BPF_OUTPUT),
	"cgroup-switches":         software(Software, perfCountSWCgroupSwitches),
}

// perfCountSWCgroupSwitches is PERF_COUNT_SW_CGROUP_SWITCHES, since Linux 5.13.
const perfCountSWCgroupSwitches = 11

func software(kind Kind, config uint64) Event {
	known := Event{Kind: kind, Type: unix.PERF_TYPE_SOFTWARE, Config: config}
	if kind == Clock {
		known.Unit = "ns"
	}
	return known
}

// caches, operations and results make up the names of events of caches, "L1-dcache-load-misses".
var (
	caches = map[string]uint64{"L1-dcache": unix.PERF_COUNT_HW_CACHE_L1D, "L1-icache": unix.PERF_COUNT_HW_CACHE_L1I,
		"LLC": unix.PERF_COUNT_HW_CACHE_LL, "dTLB": unix.PERF_COUNT_HW_CACHE_DTLB, "iTLB": unix.PERF_COUNT_HW_CACHE_ITLB,
		"branch": unix.PERF_COUNT_HW_CACHE_BPU, "node": unix.PERF_COUNT_HW_CACHE_NODE}
	operations = map[string]uint64{"load": unix.PERF_COUNT_HW_CACHE_OP_READ, "store": unix.PERF_COUNT_HW_CACHE_OP_WRITE,
		"prefetch": unix.PERF_COUNT_HW_CACHE_OP_PREFETCH}
)

// cacheEvent finds "L1-dcache-loads" and "L1-dcache-load-misses".
func cacheEvent(name string) (Event, bool) {
	for cache, number := range caches {
		rest, found := strings.CutPrefix(name, cache+"-")
		if !found {
			continue
		}
		for operation, code := range operations {
			result := uint64(unix.PERF_COUNT_HW_CACHE_RESULT_ACCESS)
			switch rest {
			case operation + "s", operation + "es":
			case operation + "-misses":
				result = unix.PERF_COUNT_HW_CACHE_RESULT_MISS
			default:
				continue
			}
			return Event{Kind: Hardware, Type: unix.PERF_TYPE_HW_CACHE, Config: number | code<<8 | result<<16}, true
		}
	}
	return Event{}, false
}

// Generic are the names that every kernel knows, whether or not the host has them.
func Generic() []string { return slices.Sorted(maps.Keys(generic)) }

// aliases are second names, by which no event is called that only its encoding is known of.
var aliases = []string{"cpu-cycles", "branch-instructions", "faults", "cs", "migrations"}

// NameOf is what an event of an encoding is called: as it is typed where it has a general name,
// else by its PMU.
func NameOf(kind uint32, config uint64, source Source) string {
	for _, name := range Generic() {
		if known := generic[name]; known.Type == kind && known.Config == config && !slices.Contains(aliases, name) {
			return name
		}
	}
	switch kind {
	case unix.PERF_TYPE_RAW:
		return "r" + strconv.FormatUint(config, 16)
	case unix.PERF_TYPE_HW_CACHE:
		return cacheName(config)
	case unix.PERF_TYPE_TRACEPOINT:
		return "tracepoint " + strconv.FormatUint(config, 10)
	case unix.PERF_TYPE_BREAKPOINT:
		return "breakpoint"
	}
	for _, pmu := range source.PMUs() {
		if text, err := source.read(devices, pmu, "type"); err == nil && text == strconv.FormatUint(uint64(kind), 10) {
			return pmu + "/config=0x" + strconv.FormatUint(config, 16) + "/"
		}
	}
	return fmt.Sprintf("type %d, config 0x%x", kind, config)
}

// cacheName is the reverse of cacheEvent.
func cacheName(config uint64) string {
	for _, cache := range slices.Sorted(maps.Keys(caches)) {
		for _, operation := range slices.Sorted(maps.Keys(operations)) {
			many := operation + "s"
			if strings.HasSuffix(operation, "ch") {
				many = operation + "es"
			}
			for _, result := range []string{many, operation + "-misses"} {
				name := cache + "-" + result
				if found, known := cacheEvent(name); known && found.Config == config {
					return name
				}
			}
		}
	}
	return fmt.Sprintf("cache event 0x%x", config)
}

// standIns say what evidence there is on a host whose CPU does not count.
var standIns = []struct{ part, text string }{
	{"energy", "task-clock (time on a CPU) is the nearest to energy where none is told, as in most virtual machines"},
	{"uncore", "nothing stands in for counters outside of the cores"},
	{"cycles", "task-clock (time on a CPU) stands in for cycles"},
	{"instructions", "nothing counts instructions here; task-clock and `culprit record` tell time by code"},
	{"LLC", "`culprit record` finds cache lines that threads share by sampling"},
	{"cache", "`culprit record` finds cache lines that threads share by sampling"},
	{"branch", "nothing stands in for branches; `culprit record` tells time by code"},
	{"stalled", "nothing stands in for stalls; `culprit record` tells time by code"},
	{"TLB", "page-faults and the facts about huge pages are what is left of it"},
}

// StandIn says what stands in for a hardware event on a host without it.
func StandIn(name string) string {
	for _, each := range standIns {
		if strings.Contains(name, each.part) {
			return each.text
		}
	}
	return "software events and tracepoints count on every host"
}
