package compare

import (
	"path"
	"slices"
	"sort"
	"strings"

	"culprit/recording"
)

// passingFacts differ from run to run without being settings.
var passingFacts = []string{"target.command", "target.executable", "target.cgroup.path", "target.container",
	"cgroup.path", "target.pid", importFact}

// targetFacts are read from a process of the target: a run that was over too soon has none of them, which says nothing.
const targetFacts = "target."

// executableFact is the file that the target's busiest process runs.
const executableFact = "target.executable"

// environmentFacts are variables of the process that was busiest.
const environmentFacts = "target.environment."

// programFacts say nothing where the busiest process is a server on one side and its client on the other: daemons clear
// their environment, or write over it, and servers set limits of their own (memcached, HotSpot: open files).
var programFacts = []string{environmentFacts, "target.limit."}

func ofProgram(name string) bool {
	return slices.ContainsFunc(programFacts, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// otherProgram reports whether the facts of the two sides were read from processes of programs by different names.
func otherProgram(a, b map[string][]string) bool {
	names := func(values []string) (base []string) {
		for _, value := range values {
			base = append(base, path.Base(value))
		}
		return base
	}
	programsA, programsB := names(a[executableFact]), names(b[executableFact])
	return len(programsA) > 0 && len(programsB) > 0 && apart(programsA, programsB)
}

// FactsOf are the facts of a side: of its last recording, whose target lived longest in warm caches, among those in
// which the target's own could be read.
func FactsOf(side []*recording.Recording) []recording.Fact {
	for i := len(side) - 1; i >= 0; i-- {
		if readTarget(side[i]) {
			return side[i].Facts
		}
	}
	if len(side) == 0 {
		return nil
	}
	return side[len(side)-1].Facts
}

func readTarget(rec *recording.Recording) bool {
	return slices.ContainsFunc(rec.Facts, func(f recording.Fact) bool { return strings.HasPrefix(f.Name, targetFacts) })
}

// factChanges lists the settings of which no run of A has a value that a run
// of B has. A setting that varies within a side is no difference between them.
func factChanges(a, b []*recording.Recording) []FactChange {
	if len(b) == 0 {
		return nil
	}
	of := func(group []*recording.Recording) (values map[string][]string, sources map[string]string) {
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
	valuesA, sources := of(a)
	valuesB, sourcesB := of(b)
	for name, source := range sourcesB {
		sources[name] = source
	}
	readBoth := slices.ContainsFunc(a, readTarget) && slices.ContainsFunc(b, readTarget)
	var changes []FactChange
	for name, source := range sources {
		if passing(name) || !readBoth && strings.HasPrefix(name, targetFacts) ||
			ofProgram(name) && otherProgram(valuesA, valuesB) {
			continue
		}
		// Read in some runs only: compared over those, but a side that never has it has "".
		sideA, sideB := orUnset(name, valuesA[name], a), orUnset(name, valuesB[name], b)
		if apart(sideA, sideB) {
			changes = append(changes, FactChange{Name: name, A: sideA[0], B: sideB[0], Source: source})
		}
	}
	sort.Slice(changes, func(i, j int) bool { return changes[i].Name < changes[j].Name })
	return changes
}

// varying lists the decisive settings that were not the same in all runs of a side.
func varying(a, b []*recording.Recording) []FactVaries {
	var list []FactVaries
	for _, one := range decisive {
		for at, group := range [][]*recording.Recording{a, b} {
			counts := map[string]int{}
			for _, rec := range group {
				if value := rec.Fact(one.fact); value != "" {
					counts[value]++
				}
			}
			if len(counts) < 2 {
				continue
			}
			varies := FactVaries{Name: one.fact, Called: one.name, Side: []Side{A, B}[at]}
			for value := range counts {
				varies.Values = append(varies.Values, value)
			}
			sort.Slice(varies.Values, func(i, j int) bool {
				x, y := varies.Values[i], varies.Values[j]
				return counts[x] > counts[y] || counts[x] == counts[y] && x < y
			})
			list = append(list, varies)
		}
	}
	return list
}

func (v FactVaries) String() string {
	return "the " + v.Called + " was not the same in all runs of " + string(v.Side) + ": " + strings.Join(v.Values, ", ")
}

// orUnset adds "" to the values of a side that never has a fact, and to those of a variable that only some of the
// processes had that were looked at: a server's main process and its workers, which it gives no environment.
func orUnset(name string, values []string, group []*recording.Recording) []string {
	read := 0
	for _, rec := range group {
		if readTarget(rec) {
			read++
		}
	}
	if len(values) == 0 || strings.HasPrefix(name, environmentFacts) && len(values) < read {
		return append(slices.Clone(values), "")
	}
	return values
}

func passing(name string) bool {
	for _, prefix := range passingFacts {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func apart(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y {
				return false
			}
		}
	}
	return true
}
