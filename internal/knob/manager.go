package knob

import (
	"fmt"
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

// Warnings are what whoever reads a result of this change ought to know: which
// programs on the host may set its knobs too, and what a killed run had left changed.
func (change *Change) Warnings() []string {
	var said []string
	for _, each := range change.recovered {
		if each.Action == PutBack {
			said = append(said, fmt.Sprintf("put back first, because a killed run had left it: %s: %s → %s",
				each.Knob, each.From, each.To))
		}
	}
	change.mutex.Lock()
	defer change.mutex.Unlock()
	var names, roots []string
	for name, held := range change.knobs {
		names, roots = append(names, name), append(roots, held.target.Root)
	}
	slices.Sort(names)
	for _, root := range distinct(roots) {
		for _, manager := range Managers(root) {
			set := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !manager.Sets(name) })
			if len(set) > 0 {
				said = append(said, fmt.Sprintf("%s (pid %d) runs here and %s: it may set %s in the middle of trials; stop it "+
					"for the time of an experiment", manager.Name, manager.Pid, manager.Text, strings.Join(set, ", ")))
			}
		}
	}
	return said
}
