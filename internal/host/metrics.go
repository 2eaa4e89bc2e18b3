package host

import (
	"path"
	"sort"
	"strconv"
	"strings"

	"culprit/recording"
)

// Limits of what one reading takes: a host may have thousands of each.
const (
	meteredCPUs    = 64
	meteredDevices = 32
	meteredGroups  = 16
	statLimit      = 1 << 20 // bytes of /proc/stat; its lines of CPUs come first
)

// Meter reads the numbers of a machine that go up and down, or only up: CPU time
// by state, run queue, memory, disks, network, reclaim and faults, pressure, and
// the same of the cgroups of one process. Names are dotted with the unit last;
// counters are as they stand, so that any two readings give a rate. It is safe
// for one goroutine at a time.
//
//	meter := host.NewMeter("/", pid)
//	rows := meter.Read(0)
type Meter struct {
	files   tree
	process string       // whose cgroups are read; "" for nobody's
	groups  string       // its memberships as they were when members was made
	members []membership // of that process
	quotas  []ancestor   // the cgroups that can hold its CPU time back

	timeNs int64
	rows   []recording.Metric
}

// ancestor is a cgroup in whose quota a process runs.
type ancestor struct{ folder, path string }

// NewMeter returns a meter of the machine below root; pid 0 leaves the cgroups out.
func NewMeter(root string, pid int) *Meter {
	meter := &Meter{files: tree{root}}
	if pid > 0 {
		meter.process = strconv.Itoa(pid)
	}
	return meter
}

// Read returns every number that can be read now, with the time that is given. What is missing is
// left out.
func (meter *Meter) Read(timeNs int64) []recording.Metric {
	meter.timeNs, meter.rows = timeNs, nil
	meter.processors()
	meter.memory()
	meter.disks()
	meter.network()
	meter.pressure("pressure.", "", "/proc/pressure", "")
	meter.cgroups()
	return meter.rows
}

func (meter *Meter) add(name, scope string, value float64) {
	meter.rows = append(meter.rows, recording.Metric{TimeNs: meter.timeNs, Name: name, Scope: clean(scope, 256),
		Value: value})
}

// number adds a number that was read as text, times a unit; what is none is left out.
func (meter *Meter) number(name, scope, text string, unit float64) {
	if value, err := strconv.ParseFloat(text, 64); err == nil && value >= 0 {
		meter.add(name, scope, value*unit)
	}
}

// hostCounters are lines of /proc/stat beside those of the CPUs.
var hostCounters = map[string]string{"ctxt": "scheduler.switches", "processes": "processes.forks",
	"procs_running": "scheduler.running", "procs_blocked": "scheduler.blocked"}

func (meter *Meter) processors() {
	text, _ := meter.files.read("/proc/stat", statLimit) // of a longer file the first part is true
	cpus := 0
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		if name, known := hostCounters[words[0]]; known {
			meter.number(name, "", words[1], 1)
			continue
		}
		if !strings.HasPrefix(words[0], "cpu") {
			continue
		}
		times, err := parseCPUTimes("cpu" + strings.TrimPrefix(line, words[0]))
		switch {
		case err != nil:
		case words[0] == "cpu":
			for name, value := range map[string]float64{"user": times.User, "system": times.System,
				"idle": times.Idle, "iowait": times.IOWait, "steal": times.Steal} {
				meter.add("cpu."+name+"_s", "", value)
			}
		case cpus < meteredCPUs:
			cpus++
			meter.add("cpu.busy_s", words[0], times.Busy())
		}
	}
}

// memoryLines are lines of /proc/meminfo.
var memoryLines = map[string]string{"MemFree": "free", "MemAvailable": "available", "Cached": "cached",
	"Dirty": "dirty", "Writeback": "writeback", "AnonPages": "anonymous", "Slab": "slab", "SwapFree": "swap_free",
	"AnonHugePages": "huge_anonymous"}

// vmCounters are lines of /proc/vmstat; pages where the name says so.
var vmCounters = map[string]string{"pgfault": "vm.faults", "pgmajfault": "vm.major_faults",
	"pgscan_kswapd": "vm.scanned_in_background_pages", "pgscan_direct": "vm.scanned_directly_pages",
	"pgsteal_kswapd": "vm.reclaimed_in_background_pages", "pgsteal_direct": "vm.reclaimed_directly_pages",
	"pswpin": "vm.swapped_in_pages", "pswpout": "vm.swapped_out_pages",
	"workingset_refault_file": "vm.refaulted_file_pages", "workingset_refault_anon": "vm.refaulted_anonymous_pages",
	"nr_dirtied": "vm.dirtied_pages", "nr_written": "vm.written_back_pages",
	"nr_throttled_written": "vm.written_back_throttled_pages", "compact_stall": "vm.compaction_stalls",
	"allocstall_normal": "vm.allocation_stalls", "allocstall_movable": "vm.allocation_stalls_movable",
	"thp_fault_alloc": "vm.huge_faults", "thp_fault_fallback": "vm.huge_faults_failed",
	"numa_hint_faults": "vm.numa_hint_faults", "numa_pages_migrated": "vm.numa_migrated_pages",
	"oom_kill": "vm.oom_kills"}

func (meter *Meter) memory() {
	text, _ := meter.files.read("/proc/meminfo", fileLimit)
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		if name, known := memoryLines[key]; known {
			meter.number("memory."+name+"_bytes", "", strings.TrimSuffix(strings.TrimSpace(value), " kB"), 1024)
		}
	}
	text, _ = meter.files.read("/proc/vmstat", fileLimit)
	meter.lines(text, "", vmCounters)
}

// lines adds the known lines "key value" of a text.
func (meter *Meter) lines(text, scope string, known map[string]string) {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, " ")
		if name, wanted := known[key]; wanted {
			meter.number(name, scope, strings.TrimSpace(value), 1)
		}
	}
}

// pressure adds the totals of pressure stall information, where the kernel keeps them.
func (meter *Meter) pressure(prefix, scope, folder, suffix string) {
	for _, resource := range []string{"cpu", "io", "memory"} {
		text, _ := meter.files.read(path.Join(folder, resource+suffix), fileLimit)
		for line := range strings.Lines(text) {
			kind, rest, _ := strings.Cut(line, " ")
			_, total, found := strings.Cut(rest, "total=")
			if found && (kind == "some" || kind == "full") {
				meter.number(prefix+resource+"_"+kind+"_s", scope, strings.TrimSpace(total), 1e-6)
			}
		}
	}
}

// Moved tells whether the process is in other cgroups than at the last reading; one that has ended
// is where it was.
func (meter *Meter) Moved() bool {
	if meter.process == "" {
		return false
	}
	text, err := meter.files.read("/proc/"+meter.process+"/cgroup", fileLimit)
	return err == nil && text != meter.groups
}

// cgroups adds the numbers of the cgroups of the process.
func (meter *Meter) cgroups() {
	if meter.process == "" {
		return
	}
	text, err := meter.files.read("/proc/"+meter.process+"/cgroup", fileLimit)
	if err == nil && text != meter.groups { // the first time, or it was moved; when it has ended they stay as they were
		meter.groups, meter.members = text, memberships(meter.files, meter.process)
		sort.SliceStable(meter.members, func(i, j int) bool {
			return meter.members[i].controllers < meter.members[j].controllers
		})
		meter.quotas = nil
		for _, member := range meter.members {
			meter.quotas = append(meter.quotas, quotas(meter.files, member)...)
		}
	}
	for _, member := range meter.members {
		meter.groupMemory(member)
		meter.groupIO(member)
		meter.groupCPU(member)
		if member.controllers == "" && member.path != "/" {
			meter.pressure("cgroup.pressure.", member.path, member.folder, ".pressure")
		}
	}
	for _, group := range meter.quotas {
		meter.throttling(group)
	}
}
