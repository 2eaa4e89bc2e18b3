// Package settings compares facts: which settings of the host, the cgroup and the process are not
// the same on both sides, or not in all runs of one.
//
// It refuses to take for a difference what was not read on a side, what is never the same in two
// runs (a pid, a path of a cgroup), and what was read from programs by other names.
//
//	for _, change := range settings.Changes(a, b) {
//		fmt.Println(change.Name, change.A, change.B) // clocksource.current tsc hpet
//	}
package settings

import (
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"culprit/internal/compare/perrun"
	"culprit/recording"
)

// FactChange is a setting that differs between the sides.
type FactChange struct {
	Name   string `json:"name"`
	A      string `json:"a"`
	B      string `json:"b"`
	Source string `json:"source"`
}

// FactVaries is a setting of a host, a cgroup or a process that changed between the runs of one
// side.
type FactVaries struct {
	Name   string      // "clocksource.current"
	Called string      // "clock source"
	Side   perrun.Side // whose runs
	Values []string    // the most frequent first
}

// Decisive are settings that make any two sides hard to compare, and how a reader calls them.
var Decisive = []struct{ Fact, Called string }{
	{"cpu.count", "number of CPUs"}, {"cpu.model", "CPU model"}, {"kernel.release", "kernel"},
	{"hypervisor", "hypervisor"}, {"clocksource.current", "clock source"},
	{"memory.total_bytes", "memory in bytes"}, {"target.affinity", "CPUs allowed"},
	{"target.cgroup.cpu.limit_cpus", "CPU quota"},
	{"target.cgroup.memory.limit_bytes", "memory limit"},
}

const (
	// targetFacts are read from a process of the target: a run that was over too soon has none.
	targetFacts = "target."
	// executableFact is the file that the target's busiest process runs.
	executableFact = "target.executable"
	// environmentFacts are variables of the process that was busiest.
	environmentFacts = "target.environment."
)

// passingFacts differ from run to run without being settings.
var passingFacts = []string{"target.command", executableFact, "target.cgroup.path",
	"target.container", "cgroup.path", "target.pid", recording.ImportFact}

// programFacts say nothing where the busiest process is a server on one side and its client on the
// other: daemons clear their environment, and set limits of their own (open files).
var programFacts = []string{environmentFacts, "target.limit."}

func beginsWithAny(name string, beginnings ...string) bool {
	return slices.ContainsFunc(beginnings, func(beginning string) bool {
		return strings.HasPrefix(name, beginning)
	})
}

// Of are the facts of a side: of the last recording in which the target's own could be read, whose
// target lived longest in warm caches.
func Of(side []*recording.Recording) []recording.Fact {
	for _, rec := range slices.Backward(side) {
		if readTarget(rec) {
			return rec.Facts
		}
	}
	if len(side) == 0 {
		return nil
	}
	return side[len(side)-1].Facts
}

func readTarget(rec *recording.Recording) bool {
	return slices.ContainsFunc(rec.Facts, func(fact recording.Fact) bool {
		return strings.HasPrefix(fact.Name, targetFacts)
	})
}

// Changes lists the settings of which no run of A has a value that a run of B has. A setting that
// varies within a side is no difference between them.
func Changes(a, b []*recording.Recording) (changes []FactChange) {
	if len(b) == 0 {
		return nil
	}
	valuesA, sources := read(a)
	valuesB, sourcesB := read(b)
	maps.Copy(sources, sourcesB)
	readBoth := slices.ContainsFunc(a, readTarget) && slices.ContainsFunc(b, readTarget)
	otherProgram := Apart(programs(valuesA), programs(valuesB))
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if beginsWithAny(name, passingFacts...) || !readBoth && beginsWithAny(name, targetFacts) ||
			otherProgram && beginsWithAny(name, programFacts...) {
			continue
		}
		// Read in some runs only: compared over those, but a side that never has it has "".
		sideA, sideB := orUnset(name, valuesA[name], a), orUnset(name, valuesB[name], b)
		if Apart(sideA, sideB) {
			changes = append(changes, FactChange{name, sideA[0], sideB[0], sources[name]})
		}
	}
	return changes
}

// read gives the values of each fact in a group, and where it was read last. Of a fact that stands
// twice in a recording the first counts.
func read(group []*recording.Recording) (values map[string][]string, sources map[string]string) {
	values, sources = map[string][]string{}, map[string]string{}
	for _, rec := range group {
		seen := map[string]bool{}
		for _, fact := range rec.Facts {
			if !seen[fact.Name] {
				seen[fact.Name] = true
				values[fact.Name] = append(values[fact.Name], fact.Value)
				sources[fact.Name] = fact.Source
			}
		}
	}
	return values, sources
}

// programs are the names of the programs whose processes the target's facts were read from.
func programs(values map[string][]string) (names []string) {
	for _, executable := range values[executableFact] {
		names = append(names, path.Base(executable))
	}
	return names
}

// orUnset adds "" to the values of a side that never has a fact, and of a variable that only some
// of the processes have: a server gives its workers no environment.
func orUnset(name string, values []string, group []*recording.Recording) []string {
	looked := 0
	for _, rec := range group {
		if readTarget(rec) {
			looked++
		}
	}
	if len(values) == 0 || strings.HasPrefix(name, environmentFacts) && len(values) < looked {
		return append(slices.Clone(values), "")
	}
	return values
}

// Apart reports whether two groups have values and none in common.
func Apart(a, b []string) bool {
	inB := func(value string) bool { return slices.Contains(b, value) }
	return len(a) > 0 && len(b) > 0 && !slices.ContainsFunc(a, inB)
}

// Varying lists the decisive settings that were not the same in all runs of a side.
func Varying(a, b []*recording.Recording) (list []FactVaries) {
	for _, one := range Decisive {
		for at, group := range [][]*recording.Recording{a, b} {
			counts := map[string]int{}
			for _, rec := range group {
				if value := rec.Fact(one.Fact); value != "" {
					counts[value]++
				}
			}
			if len(counts) < 2 {
				continue
			}
			values := slices.Sorted(maps.Keys(counts))
			sort.SliceStable(values, func(i, j int) bool { return counts[values[i]] > counts[values[j]] })
			side := []perrun.Side{perrun.A, perrun.B}[at]
			list = append(list, FactVaries{one.Fact, one.Called, side, values})
		}
	}
	return list
}

func (v FactVaries) String() string {
	return "the " + v.Called + " was not the same in all runs of " + string(v.Side) + ": " +
		strings.Join(v.Values, ", ")
}
