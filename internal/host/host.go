// Package host says what this machine is and what it allows: settings as facts
// with the path each was read from, the state of a target process, who else
// traces on this host, what the recorder may do here and what stays unseen.
//
// Everything is read below a root path that the caller gives ("/" for the
// running machine), so that tests and recordings of other machines use a
// fixture tree. Files are untrusted: each is read up to a limit, values are
// cut and stripped of control characters, and a file that is missing is left
// out. It changes nothing and refuses to guess: what cannot be read is not
// a fact. Of a process's environment only a named list is read, and values
// that look like secrets are hidden.
//
//	for _, fact := range host.Facts("/") {
//		fmt.Println(fact.Name, fact.Value, fact.Source)
//	}
package host

import (
	"strconv"
	"strings"
)

// Names of facts that other packages look up. The dotted names of sysctls are
// facts of the same name ("vm.dirty_ratio"); facts of the target begin with "target.".
const (
	FactKernelRelease         = "kernel.release"
	FactCPUModel              = "cpu.model"
	FactClockSource           = "clocksource.current"
	FactClockSourcesAvailable = "clocksource.available"
	FactClockSourcesSeen      = "clocksource.seen" // where more than one was in force, the longest first
	FactHypervisor            = "hypervisor"
	FactMemoryTotal           = "memory.total_bytes"
	FactTHPEnabled            = "thp.enabled"
	FactCPULimit              = "cgroup.cpu.limit_cpus"
	FactMemoryLimit           = "cgroup.memory.limit_bytes"
	FactTargetSeccomp         = "target.seccomp"
	FactTargetSeccompFilters  = "target.seccomp_filters"
	FactTargetTracer          = "target.tracer"
	FactTargetCounted         = "target.counted" // by perf events of its processes or of its cgroup
	// How many samples a second others take by time: of the target alone, and of all that they hold
	// events for.
	FactTargetSampled  = "target.sampled_hz"
	FactTracersSampled = "tracers.perf.sampled_hz"
)

// Summary is what a reader needs to know of the machine a case was measured on.
type Summary struct {
	Name        string
	Kernel      string
	CPU         string
	CPUs        int
	MemoryBytes int64
	Hypervisor  string // "" on bare metal, as far as can be seen
	ClockSource string
}

// Summarize reads the summary of the machine below root; what cannot be read stays empty.
func Summarize(root string) Summary {
	files := tree{root}
	model, processors := cpuModel(files)
	return Summary{
		Name:        files.line("/proc/sys/kernel/hostname"),
		Kernel:      files.line("/proc/sys/kernel/osrelease"),
		CPU:         model,
		CPUs:        processors,
		MemoryBytes: memoryBytes(files, "MemTotal"),
		Hypervisor:  hypervisor(files).value,
		ClockSource: files.line(ClockSourceFile),
	}
}

// ClockSourceFile names the clock source in use.
const ClockSourceFile = clockSourceFolder + "current_clocksource"

// ClockSource reads which clock source the kernel of the machine below root uses, "" when it cannot
// be read, and which it could.
func ClockSource(root string) (current string, available []string) {
	files := tree{root}
	return files.line(clockSourceFolder + "current_clocksource"),
		strings.Fields(files.line(clockSourceFolder + "available_clocksource"))
}

// cpuModel returns the name of the first processor and how many are online.
func cpuModel(files tree) (string, int) {
	text, err := files.read("/proc/cpuinfo", cpuinfoLimit)
	if err != nil {
		return "", 0
	}
	model, implementer, processors := "", "", 0
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		value = clean(value, valueLimit)
		switch strings.TrimSpace(key) {
		case "processor":
			processors++
		case "model name", "cpu model", "uarch":
			if model == "" {
				model = value
			}
		case "CPU implementer": // arm64 has no model name: the part number stands in for it
			implementer = value
		case "CPU part":
			if model == "" {
				model = "arm " + implementer + " part " + value
			}
		}
	}
	return model, processors
}

// memoryBytes returns one line of /proc/meminfo, 0 when it is not there.
func memoryBytes(files tree, name string) int64 {
	text, err := files.read("/proc/meminfo", fileLimit)
	if err != nil {
		return 0
	}
	kibibytes, err := strconv.ParseInt(strings.TrimSuffix(field(text, name), " kB"), 10, 64)
	if err != nil || kibibytes < 0 || kibibytes > 1<<50 {
		return 0
	}
	return kibibytes * 1024
}

// field returns the value of the line "name: value" of a text, "" when there is none.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			return clean(rest, valueLimit)
		}
	}
	return ""
}

// finding is a value and the path it was read from.
type finding struct{ value, source string }

// hypervisor names what the machine runs on. Firmware tables name the platform,
// which matters because Xen, KVM and Nitro guests want different clock sources;
// guests without them give themselves away by their paravirtual clock source.
func hypervisor(files tree) finding {
	const dmi = "/sys/class/dmi/id/"
	vendor, product := files.line(dmi+"sys_vendor"), files.line(dmi+"product_name")
	text, _ := files.read("/proc/cpuinfo", cpuinfoLimit)
	guest := hasWord(text, "flags", "hypervisor")
	if kind := files.line("/sys/hypervisor/type"); kind != "" {
		return finding{strings.TrimSpace(kind + " " + vendor), "/sys/hypervisor/type"}
	}
	clocks := files.line(clockSourceFolder + "available_clocksource")
	kind := ""
	for _, known := range []struct{ clock, name string }{
		{"xen", "xen"}, {"kvm-clock", "kvm"}, {"hyperv", "hyperv"},
	} {
		if strings.Contains(clocks, known.clock) {
			kind = known.name
		}
	}
	platform := strings.TrimSpace(vendor + " " + product)
	switch {
	case kind != "" && platform != "":
		return finding{kind + " (" + platform + ")", dmi + "sys_vendor"}
	case kind != "":
		return finding{kind, clockSourceFolder + "available_clocksource"}
	case guest && platform != "":
		return finding{"unknown (" + platform + ")", dmi + "sys_vendor"}
	case guest:
		return finding{"unknown", "/proc/cpuinfo"}
	}
	return finding{}
}

// hasWord tells whether the first line "key : words" of a text holds a word.
func hasWord(text, key, word string) bool {
	for line := range strings.Lines(text) {
		name, words, found := strings.Cut(line, ":")
		if !found || strings.TrimSpace(name) != key {
			continue
		}
		for _, each := range strings.Fields(words) {
			if each == word {
				return true
			}
		}
		return false
	}
	return false
}
