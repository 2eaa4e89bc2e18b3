package compare

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"culprit/recording"
)

const (
	// Loads whose mean differs by more than this part are other loads.
	otherLoad = 0.1
	// fewestProxies is how often a call must come for its rate to tell of the load.
	fewestProxies = 100
	// buildsNamed bounds the modules that a warning lists.
	buildsNamed = 3
)

// decisive are settings that make any two sides hard to compare, and how a reader calls them.
var decisive = []struct{ fact, name string }{
	{"cpu.count", "number of CPUs"}, {"cpu.model", "CPU model"}, {"kernel.release", "kernel"},
	{"hypervisor", "hypervisor"}, {"clocksource.current", "clock source"}, {"memory.total_bytes", "memory in bytes"},
	{"target.affinity", "CPUs allowed"}, {"target.cgroup.cpu.limit_cpus", "CPU quota"},
	{"target.cgroup.memory.limit_bytes", "memory limit"},
}

// loadCalls are system calls whose number follows the requests that a server got.
var loadCalls = []string{"accept4", "accept", "recvfrom", "recvmsg", "epoll_wait", "epoll_pwait", "read"}

// Warnings say in which ways two groups of recordings are not comparable, most serious first; empty when in none.
// What differs may well be the cause: then it is a suspect and no excuse.
func Warnings(a, b []*recording.Recording, work Work) []string {
	var list []string
	list = append(list, fewRecordings(a, b)...)
	list = append(list, inBlocks(a, b)...)
	list = append(list, otherTools(a, b)...)
	list = append(list, otherHosts(a, b)...)
	list = append(list, otherPrograms(a, b)...)
	list = append(list, otherLoads(a, b, work)...)
	return append(list, lossesOf(a, b)...)
}

func fewRecordings(a, b []*recording.Recording) []string {
	for side, group := range map[Side]int{A: len(a), B: len(b)} {
		if group < 2 {
			other := map[Side]int{A: len(b), B: len(a)}[side]
			if other < 2 {
				return []string{"one recording a side has no spread: nothing is decided and no interval is known; " +
					"give two or more of each side with --a and --b"}
			}
			return []string{fmt.Sprintf("one recording of %s has no spread: nothing is decided and no interval is known; "+
				"give two or more", side)}
		}
	}
	return nil
}

// otherTools warns where the recordings were not made in the same way.
func otherTools(a, b []*recording.Recording) []string {
	var list []string
	if x, y := makers(a), makers(b); !slices.Equal(x, y) {
		list = append(list, fmt.Sprintf("A comes from %s and B from %s: what one cannot show looks like a difference",
			strings.Join(x, ", "), strings.Join(y, ", ")))
	}
	of := func(group []*recording.Recording) (rates []string) {
		for _, rec := range group {
			rates = add(rates, fmt.Sprint(rec.Manifest.Hz))
		}
		return rates
	}
	if x, y := of(a), of(b); apart(x, y) && len(list) == 0 {
		list = append(list, fmt.Sprintf("sampled %s and %s times a second: a recorder's own cost differs",
			strings.Join(x, ", "), strings.Join(y, ", ")))
	}
	probes := func(group []*recording.Recording) (on []string) {
		for _, rec := range group {
			for _, probe := range rec.Manifest.Probes {
				if probe.On {
					on = add(on, probe.Name)
				}
			}
		}
		sort.Strings(on)
		return on
	}
	if x, y := probes(a), probes(b); !slices.Equal(x, y) && len(list) == 0 {
		list = append(list, fmt.Sprintf("recorded with other probes: %s on one side only", strings.Join(oddOnes(x, y), ", ")))
	}
	return list
}

func makers(group []*recording.Recording) (names []string) {
	for _, rec := range group {
		name := "culprit record"
		if source := Imported(rec); source != "" {
			name = source
		}
		names = add(names, name)
	}
	sort.Strings(names)
	return names
}

// importFact is where an import says which format and files it came from: "folded of a.txt".
const importFact = "import.source"

// Imported says which format of another tool became the recording, "" for culprit's own.
func Imported(rec *recording.Recording) string {
	if format, _, found := strings.Cut(rec.Fact(importFact), " "); found {
		return "an import of " + format
	}
	return ""
}

func otherHosts(a, b []*recording.Recording) []string {
	var differ []string
	changes := map[string]FactChange{}
	for _, change := range factChanges(a, b) {
		changes[change.Name] = change
	}
	for _, one := range decisive {
		if change, found := changes[one.fact]; found && change.A != "" && change.B != "" {
			differ = append(differ, fmt.Sprintf("%s %s and %s", one.name, change.A, change.B))
		}
	}
	var list []string
	if x, y := hostNames(a), hostNames(b); len(x) > 0 && len(y) > 0 && apart(x, y) {
		list = append(list, fmt.Sprintf("recorded on other hosts, %s and %s: what else differs between them cannot be told "+
			"from the change", strings.Join(x, ", "), strings.Join(y, ", ")))
	}
	if len(differ) > 0 {
		list = append(list, "other hosts or limits, A and B: "+strings.Join(differ, "; "))
	}
	return list
}

// hostNames are the hosts of culprit's own recordings; an import's is the one that read it.
func hostNames(group []*recording.Recording) (names []string) {
	for _, rec := range group {
		if rec.Manifest.Host != "" && Imported(rec) == "" {
			names = add(names, rec.Manifest.Host)
		}
	}
	return names
}

// otherPrograms warns where the sides run other commands or other builds.
func otherPrograms(a, b []*recording.Recording) []string {
	var list []string
	commands := func(group []*recording.Recording) (names []string) {
		for _, rec := range group {
			if command := rec.Manifest.Target.Command; command != "" && Imported(rec) == "" {
				names = add(names, command)
			}
		}
		return names
	}
	if x, y := commands(a), commands(b); len(x) > 0 && len(y) > 0 && apart(x, y) {
		list = append(list, fmt.Sprintf("other commands: %q and %q", x[0], y[0]))
	}
	x, y := builds(a), builds(b)
	var modules []string
	for module, ids := range x {
		if other := y[module]; len(other) > 0 && apart(ids, other) {
			modules = append(modules, module)
		}
	}
	sort.Strings(modules)
	if more := len(modules) - buildsNamed; more > 0 {
		modules = append(modules[:buildsNamed], fmt.Sprintf("%d more", more))
	}
	if len(modules) > 0 {
		list = append(list, "other builds of "+strings.Join(modules, ", ")+" (their build ids differ)")
	}
	return list
}

// builds are the build ids of each module that samples were taken in.
func builds(group []*recording.Recording) map[string][]string {
	ids := map[string][]string{}
	for _, rec := range group {
		for i := range rec.Frames {
			frame := &rec.Frames[i]
			if frame.BuildID != "" && frame.Module != "" && frame.Kind != recording.KindKernel {
				ids[frame.Module] = add(ids[frame.Module], frame.BuildID)
			}
		}
	}
	return ids
}

// otherLoads warns where one side had more to do than the other for each unit of work.
func otherLoads(a, b []*recording.Recording, work Work) []string {
	if work.Name != "second" && work.Name != cpuSecond {
		return otherLengths(a, b, work)
	}
	for _, name := range loadCalls {
		x, y := perUnit(a, work.A, name), perUnit(b, work.B, name)
		if x*mean(work.A) < fewestProxies && y*mean(work.B) < fewestProxies {
			continue
		}
		if math.Abs(y-x) > otherLoad*max(x, y) {
			return []string{fmt.Sprintf("other load: %s and %s calls of %s per %s; if each serves one request, "+
				"compare with --per request=%s", number(x), number(y), name, work.Name, name)}
		}
		return nil
	}
	return nil
}

// number writes an amount with four digits where it has a fraction, and never as a power of ten.
func number(value float64) string {
	if math.Abs(value) >= 1000 {
		return fmt.Sprintf("%.0f", value)
	}
	return strconv.FormatFloat(math.Round(value*1000)/1000, 'f', -1, 64)
}

func perUnit(group []*recording.Recording, units []float64, name string) float64 {
	sum := 0.0
	for i, rec := range group {
		sum += float64(calls(rec, name)) / units[i]
	}
	return sum / max(1, float64(len(group)))
}

// otherLengths warns where recordings of one side differ in how much they did.
func otherLengths(a, b []*recording.Recording, work Work) []string {
	x, y := mean(work.A), mean(work.B)
	if work.Name != "run" && math.Abs(y-x) > otherLoad*max(x, y) {
		return []string{fmt.Sprintf("the recordings of A did %s units of work (%s) on average, those of B %s: "+
			"what every run does once weighs less in the larger ones", number(x), work.Name, number(y))}
	}
	return nil
}

func lossesOf(a, b []*recording.Recording) []string {
	lost := func(group []*recording.Recording) bool {
		for _, rec := range group {
			for _, loss := range rec.Manifest.Losses {
				if loss.Count > 0 {
					return true
				}
			}
		}
		return false
	}
	if x, y := lost(a), lost(b); x != y {
		side := A
		if y {
			side = B
		}
		return []string{fmt.Sprintf("the recorder lost events on side %s only", side)}
	}
	return nil
}

func add(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

func oddOnes(x, y []string) (odd []string) {
	for _, pair := range [][2][]string{{x, y}, {y, x}} {
		for _, name := range pair[0] {
			if !slices.Contains(pair[1], name) {
				odd = append(odd, name)
			}
		}
	}
	return odd
}
