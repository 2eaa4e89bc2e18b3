package host

import (
	"path"
	"strconv"
	"strings"

	"culprit/recording"
)

const (
	threadLimit  = 4096 // threads of a target whose tracer is looked for
	commandLimit = 512  // bytes of a command line that are kept
)

// TargetFacts reads what a process runs under: filters, tracers, scheduling,
// limits, cgroups and the environment variables that change run-time behaviour.
// They are sorted by name, each beginning with "target."; a process that is gone, or that ends
// meanwhile and has lost its memory, has none: half of them would look like settings that differ.
// Names and sources hold no pid ("/proc/PID/status"), so that runs can be compared.
func TargetFacts(root string, pid int) []recording.Fact {
	collect := &collector{files: tree{root}}
	id := strconv.Itoa(pid)
	folder := "/proc/" + id
	if pid <= 0 || !collect.files.exists(folder) {
		return nil
	}
	collect.status(folder)
	collect.scheduling(folder)
	collect.processLimits(folder)
	for _, name := range []string{"oom_score_adj", "timerslack_ns", "personality"} {
		collect.file("target."+name, folder+"/"+name)
	}
	collect.file("target.security_label", folder+"/attr/current")
	collect.add("target.executable", collect.files.link(folder+"/exe"), folder+"/exe")
	// The read error of a longer command line is of no interest: its beginning is what is kept.
	command, _ := collect.files.read(folder+"/cmdline", commandLimit)
	collect.add("target.command", redact(strings.ReplaceAll(command, "\x00", " ")), folder+"/cmdline")
	collect.environment(folder)
	collect.cgroup("target.", id)
	collect.add("target.container", GroupName(root, id), folder+"/cgroup")
	if collect.files.link(folder+"/exe") == "" && !collect.isKernelThread(folder) {
		return nil
	}
	facts := collect.sorted()
	withoutPid(facts, folder)
	return facts
}

// FilterFacts are those of TargetFacts that tell who filters and traces a process; they cost a
// tenth of all.
func FilterFacts(root string, pid int) []recording.Fact {
	collect := &collector{files: tree{root}}
	folder := "/proc/" + strconv.Itoa(pid)
	if pid <= 0 {
		return nil
	}
	collect.status(folder)
	facts := collect.sorted()
	withoutPid(facts, folder)
	return facts
}

// withoutPid takes the pid out of the facts' sources, so that runs can be compared.
func withoutPid(facts []recording.Fact, folder string) {
	for i := range facts {
		facts[i].Source = strings.Replace(facts[i].Source, folder+"/", "/proc/PID/", 1)
	}
}

// seccompModes are the values of Seccomp in /proc/PID/status (proc_pid_status(5)).
var seccompModes = map[string]string{"0": "off", "1": "strict", "2": "filter"}

func (collect *collector) status(folder string) {
	source := folder + "/status"
	text, err := collect.files.read(source, fileLimit)
	if err != nil {
		return
	}
	if mode, known := seccompModes[field(text, "Seccomp")]; known {
		collect.add(FactTargetSeccomp, mode, source)
	}
	collect.add(FactTargetSeccompFilters, field(text, "Seccomp_filters"), source)
	collect.add("target.affinity", field(text, "Cpus_allowed_list"), source)
	collect.add("target.memory_nodes", field(text, "Mems_allowed_list"), source)
	collect.add("target.thp", field(text, "THP_enabled"), source)
	collect.add("target.speculation_store_bypass", field(text, "Speculation_Store_Bypass"), source)
	collect.add("target.speculation_indirect_branch", field(text, "SpeculationIndirectBranch"), source)
	collect.add(FactTargetTracer, collect.tracer(folder), folder+"/task/*/status")
}

// tracer names the process that traces any thread of the target, "none" when there is none.
// A debugger may hold one thread only, so the leader alone does not tell.
func (collect *collector) tracer(folder string) string {
	threads := collect.files.names(folder + "/task")
	for _, thread := range threads[:min(len(threads), threadLimit)] {
		text, _ := collect.files.read(folder+"/task/"+thread+"/status", fileLimit)
		tracer := field(text, "TracerPid")
		if tracer == "" || tracer == "0" {
			continue
		}
		if name := collect.files.line("/proc/" + tracer + "/comm"); name != "" {
			return name
		}
		return "a process outside this namespace"
	}
	if len(threads) == 0 {
		return ""
	}
	return "none"
}

// policies are the scheduling classes of sched(7) by number.
var policies = map[string]string{"0": "SCHED_OTHER", "1": "SCHED_FIFO", "2": "SCHED_RR", "3": "SCHED_BATCH",
	"5": "SCHED_IDLE", "6": "SCHED_DEADLINE", "7": "SCHED_EXT"}

func (collect *collector) scheduling(folder string) {
	source := folder + "/stat"
	fields := statFields(collect.files.line(source))
	// Numbers of proc_pid_stat(5), which counts from 1; the fields begin with the third.
	const nice, priority, policy = 19 - 3, 40 - 3, 41 - 3
	if len(fields) <= policy {
		return
	}
	collect.add("target.nice", fields[nice], source)
	collect.add("target.realtime_priority", fields[priority], source)
	name, known := policies[fields[policy]]
	if !known {
		name = fields[policy]
	}
	collect.add("target.policy", name, source)
}

// isKernelThread reports whether a process never had memory of its own: PF_KTHREAD of
// include/linux/sched.h among its flags.
func (collect *collector) isKernelThread(folder string) bool {
	const flags, kernelThread = 9 - 3, 0x00200000
	fields := statFields(collect.files.line(folder + "/stat"))
	if len(fields) <= flags {
		return false
	}
	set, err := strconv.ParseUint(fields[flags], 10, 64)
	return err == nil && set&kernelThread != 0
}

// statFields returns the fields of /proc/PID/stat from the third on. The second
// is the name in parentheses, which may itself hold parentheses and spaces.
func statFields(text string) []string {
	end := strings.LastIndexByte(text, ')')
	if end < 0 {
		return nil
	}
	return strings.Fields(text[end+1:])
}

// processLimits keeps the soft and hard limits that bind programs in practice.
func (collect *collector) processLimits(folder string) {
	text, err := collect.files.read(folder+"/limits", fileLimit)
	if err != nil {
		return
	}
	for _, known := range []struct{ line, fact string }{
		{"Max open files", "open_files"}, {"Max locked memory", "locked_memory_bytes"},
		{"Max stack size", "stack_bytes"}, {"Max processes", "processes"}, {"Max address space", "address_space_bytes"},
		{"Max cpu time", "cpu_time_s"}, {"Max file size", "file_size_bytes"}, {"Max core file size", "core_bytes"},
	} {
		for line := range strings.Lines(text) {
			rest, found := strings.CutPrefix(line, known.line+" ")
			if values := strings.Fields(rest); found && len(values) >= 2 {
				collect.add("target.limit."+known.fact, values[0]+" / "+values[1], path.Join(folder, "limits"))
			}
		}
	}
}
