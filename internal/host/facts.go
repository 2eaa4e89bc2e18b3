package host

import (
	"errors"
	"io/fs"
	"sort"
	"strconv"
	"strings"

	"culprit/recording"
)

const (
	clockSourceFolder = "/sys/devices/system/clocksource/clocksource0/"
	thpFolder         = "/sys/kernel/mm/transparent_hugepage/"
	cpuFolder         = "/sys/devices/system/cpu/"
)

// FactUnreadable names the settings that exist and that we may not read.
const FactUnreadable = "facts.unreadable"

// Facts reads every setting of the machine below root that is known to change
// how fast programs run. They are sorted by name.
func Facts(root string) []recording.Fact {
	collect := &collector{files: tree{root}}
	collect.kernel()
	collect.processors()
	collect.topology()
	collect.interfaces()
	collect.clock()
	collect.memory()
	collect.sysctls()
	collect.cgroup("", "self")
	collect.pressure()
	collect.security()
	collect.mounts()
	if root == "/" { // the running machine: asked, not read from a file
		collect.audit()
		collect.unmounted(ReadDetached)
	}
	return collect.sorted()
}

// Sysctls reads the settings below /proc/sys alone: a part of Facts.
func Sysctls(root string) []recording.Fact {
	collect := &collector{files: tree{root}}
	collect.sysctls()
	return collect.facts
}

// collector gathers facts of one tree.
type collector struct {
	files  tree
	facts  []recording.Fact
	denied []string
}

// add keeps a fact; without a value there is none.
func (collect *collector) add(name, value, source string) {
	if value = clean(value, valueLimit); value != "" {
		collect.facts = append(collect.facts, recording.Fact{Name: name, Value: value, Source: source})
	}
}

// file keeps the content of a small file as a fact.
func (collect *collector) file(name, path string) {
	content, err := collect.files.read(path, fileLimit)
	if errors.Is(err, fs.ErrPermission) {
		collect.denied = append(collect.denied, name)
	}
	if err == nil {
		collect.add(name, content, path)
	}
}

// choice keeps the chosen word of a file such as "always [madvise] never".
func (collect *collector) choice(name, path string) {
	collect.add(name, chosen(collect.files.line(path)), path)
}

// chosen returns the word in brackets, or the whole text when none is.
func chosen(text string) string {
	for _, word := range strings.Fields(text) {
		if strings.HasPrefix(word, "[") && strings.HasSuffix(word, "]") {
			return word[1 : len(word)-1]
		}
	}
	return text
}

// sorted returns the facts by name, with what was denied as a fact of its own.
func (collect *collector) sorted() []recording.Fact {
	if len(collect.denied) > 0 {
		collect.add(FactUnreadable, strings.Join(collect.denied, " "), "permission denied")
	}
	sort.SliceStable(collect.facts, func(i, j int) bool { return collect.facts[i].Name < collect.facts[j].Name })
	return collect.facts
}

func (collect *collector) kernel() {
	collect.file(FactKernelRelease, "/proc/sys/kernel/osrelease")
	collect.file("kernel.version", "/proc/sys/kernel/version")
	// What follows "--" goes to the first process, not to the kernel, and may hold its secrets.
	line, _, _ := strings.Cut(collect.files.line("/proc/cmdline"), " -- ")
	collect.add("kernel.command_line", redact(line), "/proc/cmdline")
	collect.file("kernel.tainted", "/proc/sys/kernel/tainted")
}

func (collect *collector) processors() {
	model, processors := cpuModel(collect.files)
	collect.add(FactCPUModel, model, "/proc/cpuinfo")
	if processors > 0 {
		collect.add("cpu.count", strconv.Itoa(processors), "/proc/cpuinfo")
	}
	if text, err := collect.files.read("/proc/cpuinfo", cpuinfoLimit); err == nil {
		for line := range strings.Lines(text) {
			if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "microcode" {
				collect.add("cpu.microcode", value, "/proc/cpuinfo")
				break
			}
		}
	}
	found := hypervisor(collect.files)
	collect.add(FactHypervisor, found.value, found.source)
	for _, name := range collect.files.names(cpuFolder + "vulnerabilities") {
		collect.file("mitigation."+clean(name, 64), cpuFolder+"vulnerabilities/"+name)
	}
	for _, name := range []string{"online", "isolated", "nohz_full", "smt/active", "smt/control",
		"cpuidle/current_driver", "cpuidle/current_governor", "cpufreq/boost",
		"intel_pstate/status", "intel_pstate/no_turbo", "amd_pstate/status"} {
		collect.file("cpu."+strings.ReplaceAll(name, "/", "."), cpuFolder+name)
	}
	collect.file("numa.nodes", "/sys/devices/system/node/online")
	for _, name := range []string{"scaling_governor", "scaling_driver", "scaling_min_freq", "scaling_max_freq",
		"energy_performance_preference"} {
		collect.policies(name)
	}
}

// policies keeps a cpufreq setting, which each group of CPUs has for itself, as one fact.
func (collect *collector) policies(name string) {
	counts := map[string]int{}
	for _, policy := range collect.files.names(cpuFolder + "cpufreq") {
		if value := collect.files.line(cpuFolder + "cpufreq/" + policy + "/" + name); value != "" {
			counts[value]++
		}
	}
	values := make([]string, 0, len(counts))
	for value, count := range counts {
		if len(counts) > 1 {
			value += " ×" + strconv.Itoa(count)
		}
		values = append(values, value)
	}
	sort.Strings(values)
	collect.add("cpufreq."+name, strings.Join(values, ", "), cpuFolder+"cpufreq/policy*/"+name)
}

func (collect *collector) clock() {
	collect.file(FactClockSource, clockSourceFolder+"current_clocksource")
	collect.file(FactClockSourcesAvailable, clockSourceFolder+"available_clocksource")
	collect.file("clockevents.current", "/sys/devices/system/clockevents/clockevent0/current_device")
}

func (collect *collector) memory() {
	for name, key := range map[string]string{FactMemoryTotal: "MemTotal", "swap.total_bytes": "SwapTotal",
		"hugepages.size_bytes": "Hugepagesize"} {
		if bytes := memoryBytes(collect.files, key); bytes > 0 || key == "SwapTotal" {
			collect.add(name, strconv.FormatInt(bytes, 10), "/proc/meminfo")
		}
	}
	for _, name := range []string{"enabled", "defrag", "shmem_enabled"} {
		collect.choice("thp."+name, thpFolder+name)
	}
	collect.file("thp.khugepaged.defrag", thpFolder+"khugepaged/defrag")
	collect.file("ksm.run", "/sys/kernel/mm/ksm/run")
	collect.file("zswap.enabled", "/sys/module/zswap/parameters/enabled")
}

func (collect *collector) pressure() {
	const path = "/proc/pressure/cpu"
	state := "off"
	// A kernel booted with psi=0 refuses to open the file, or has none.
	if collect.files.line(path) != "" {
		state = "on"
	}
	collect.add("psi", state, path)
}

func (collect *collector) security() {
	collect.file(securityModules, securityFolder+"lsm")
	collect.choice(securityLockdown, securityFolder+"lockdown")
	collect.file("security.apparmor", "/sys/module/apparmor/parameters/enabled")
	collect.file("security.selinux_enforce", "/sys/fs/selinux/enforce")
}

// What securityfs tells, by its file.
const (
	securityFolder   = "/sys/kernel/security/"
	securityModules  = "security.modules"
	securityLockdown = "security.lockdown"
)

// unmounted reads what securityfs tells where nobody has mounted it, as in most containers and
// small images: two hosts that differ in their security modules would look alike.
func (collect *collector) unmounted(read func(kind, name string) (string, error)) {
	const source = "securityfs, not mounted: "
	if collect.files.exists(securityFolder + "lsm") {
		return
	}
	if text, err := read("securityfs", "lsm"); err == nil {
		collect.add(securityModules, text, source+"lsm")
	}
	if text, err := read("securityfs", "lockdown"); err == nil {
		collect.add(securityLockdown, chosen(clean(text, valueLimit)), source+"lockdown")
	}
}
