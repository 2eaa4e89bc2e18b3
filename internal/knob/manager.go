package knob

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Manager is a program on the host that sets knobs by itself, and may do so in the
// middle of an experiment.
type Manager struct {
	Name string `json:"name"`
	Pid  int    `json:"pid"`
	Text string `json:"text"` // what it does
	sets []string
}

// managers are the programs that are known, by the name that the kernel keeps of them,
// which has 15 bytes at most, and the knobs that they set: prefixes, or all.
var managers = []struct {
	comm, name, text string
	sets             []string
}{
	{"tuned", "TuneD", "applies a profile to sysctls, frequency, disks and huge pages", []string{""}},
	{"power-profiles-", "power-profiles-daemon", "chooses energy preference and boost",
		[]string{"governor", "epp", "boost"}},
	{"auto-cpufreq", "auto-cpufreq", "chooses governor and boost", []string{"governor", "epp", "boost"}},
	{"cpufreqd", "cpufreqd", "chooses the governor", []string{"governor", "boost"}},
	{"thermald", "thermald", "lowers frequencies when it is hot", []string{"governor", "epp", "boost"}},
	{"irqbalance", "irqbalance", "moves interrupts between CPUs every 10 s", []string{"irq."}},
	{"numad", "numad", "moves processes between memory nodes", []string{"affinity", "cpuset", "cgroup.cpuset"}},
	{"ananicy", "ananicy", "sets nice values and classes of processes", []string{"nice", "policy", "cgroup.cpu"}},
	{"ananicy-cpp", "ananicy", "sets nice values and classes of processes", []string{"nice", "policy", "cgroup.cpu"}},
	{"uresourced", "uresourced", "sets limits of cgroups", []string{"cgroup."}},
	{"kubelet", "kubelet", "sets limits of containers' cgroups", []string{"cgroup.", "cpuset"}},
}

// Managers lists those that run on the machine below root.
func Managers(root string) []Manager {
	files, err := filepath.Glob(filepath.Join(root, "/proc/[0-9]*/comm"))
	if err != nil {
		return nil
	}
	var found []Manager
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		for _, known := range managers {
			if strings.TrimSuffix(string(text), "\n") == known.comm {
				found = append(found, Manager{known.name, pid, known.text, known.sets})
			}
		}
	}
	slices.SortFunc(found, func(a, b Manager) int { return a.Pid - b.Pid })
	return found
}

// Sets tells whether a manager may set a knob.
func (manager Manager) Sets(name string) bool {
	return slices.ContainsFunc(manager.sets, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
