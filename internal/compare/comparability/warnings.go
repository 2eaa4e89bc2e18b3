// Package comparability says whether two groups of recordings may be compared: how they differ
// beside what one wants to know, such as the host, the build, the load or the order of recording.
//
// It refuses nothing: what differs may well be the cause, and then it is a suspect and no excuse.
//
//	comparability.Warnings(a, b, work) // "other hosts or limits, A and B: kernel 6.1 and 6.18"
package comparability

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"culprit/internal/compare/perrun"
	"culprit/internal/compare/settings"
	"culprit/internal/compare/units"
	"culprit/internal/stat"
	"culprit/recording"
)

const (
	// otherLoad is the part by which two mean loads differ that are other loads. Chosen.
	otherLoad = 0.1
	// fewestProxies is how many calls a side must make on average for their rate to tell. Chosen.
	fewestProxies = 100
	// buildsNamed is how many modules a warning lists. Chosen: what fits on a line.
	buildsNamed = 3
)

// loadCalls are system calls whose number follows the requests that a server got.
var loadCalls = []string{"accept4", "accept", "recvfrom", "recvmsg", "epoll_wait", "epoll_pwait",
	"read"}

// Warnings say in which ways two groups are not comparable, most serious first; empty for none.
func Warnings(a, b []*recording.Recording, work units.Work) []string {
	return slices.Concat(fewRecordings(len(a), len(b)), Apart(a, b, work))
}

// Apart are those of the warnings that are not about the number of recordings.
func Apart(a, b []*recording.Recording, work units.Work) []string {
	return slices.Concat(inBlocks(a, b), restarted(a, b), otherTools(a, b),
		otherHosts(a, b), otherCommands(a, b), otherBuilds(a, b), otherLoads(a, b, work), lossesOf(a, b))
}

// says gives what a recording says of itself.
type says func(rec *recording.Recording, value func(string))

// distinct lists what recordings say of themselves, each value once; "" says nothing.
func distinct(group []*recording.Recording, say says) (list []string) {
	for _, rec := range group {
		say(rec, func(value string) {
			if value != "" && !slices.Contains(list, value) {
				list = append(list, value)
			}
		})
	}
	return list
}

func fewRecordings(a, b int) []string {
	side := perrun.A
	switch {
	case a < 2 && b < 2:
		return []string{"one recording a side has no spread: nothing is decided and no interval is " +
			"known; give two or more of each side with --a and --b"}
	case a >= 2 && b >= 2:
		return nil
	case b < 2:
		side = perrun.B
	}
	return []string{fmt.Sprintf("one recording of %s has no spread: nothing is decided and no "+
		"interval is known; give two or more", side)}
}

// otherTools warns where the recordings were not made in the same way.
func otherTools(a, b []*recording.Recording) []string {
	makers := func(group []*recording.Recording) []string {
		names := distinct(group, func(rec *recording.Recording, value func(string)) {
			value(cmp.Or(rec.Imported(), "culprit record"))
		})
		sort.Strings(names)
		return names
	}
	rates := func(rec *recording.Recording, value func(string)) { value(fmt.Sprint(rec.Manifest.Hz)) }
	probes := func(rec *recording.Recording, value func(string)) {
		for _, probe := range rec.Manifest.Probes {
			if probe.On {
				value(probe.Name)
			}
		}
	}
	if x, y := makers(a), makers(b); !slices.Equal(x, y) {
		return []string{fmt.Sprintf("A comes from %s and B from %s: what one cannot show looks like a "+
			"difference", strings.Join(x, ", "), strings.Join(y, ", "))}
	}
	if x, y := distinct(a, rates), distinct(b, rates); settings.Apart(x, y) {
		return []string{fmt.Sprintf("sampled %s and %s times a second: a recorder's own cost differs",
			strings.Join(x, ", "), strings.Join(y, ", "))}
	}
	x, y := distinct(a, probes), distinct(b, probes)
	odd := slices.DeleteFunc(slices.Sorted(slices.Values(slices.Concat(x, y))), func(probe string) bool {
		return slices.Contains(x, probe) && slices.Contains(y, probe)
	})
	if len(odd) > 0 {
		return []string{"recorded with other probes: " + strings.Join(odd, ", ") + " on one side only"}
	}
	return nil
}

func otherHosts(a, b []*recording.Recording) (list []string) {
	// An import's host is the one that read it.
	hosts := func(rec *recording.Recording, value func(string)) {
		if rec.Imported() == "" {
			value(rec.Manifest.Host)
		}
	}
	if x, y := distinct(a, hosts), distinct(b, hosts); settings.Apart(x, y) {
		list = append(list, fmt.Sprintf("recorded on other hosts, %s and %s: what else differs between "+
			"them cannot be told from the change", strings.Join(x, ", "), strings.Join(y, ", ")))
	}
	var differ []string
	changes := settings.Changes(a, b)
	for _, one := range settings.Decisive {
		for _, change := range changes {
			if change.Name == one.Fact && change.A != "" && change.B != "" {
				differ = append(differ, fmt.Sprintf("%s %s and %s", one.Called, change.A, change.B))
			}
		}
	}
	if len(differ) > 0 {
		list = append(list, "other hosts or limits, A and B: "+strings.Join(differ, "; "))
	}
	return list
}

func otherCommands(a, b []*recording.Recording) []string {
	commands := func(rec *recording.Recording, value func(string)) {
		if rec.Imported() == "" {
			value(rec.Manifest.Target.Command)
		}
	}
	if x, y := distinct(a, commands), distinct(b, commands); settings.Apart(x, y) {
		return []string{fmt.Sprintf("other commands: %q and %q", x[0], y[0])}
	}
	return nil
}

func otherBuilds(a, b []*recording.Recording) []string {
	var modules []string
	buildsB := builds(b)
	for module, ids := range builds(a) {
		if settings.Apart(ids, buildsB[module]) {
			modules = append(modules, module)
		}
	}
	if len(modules) == 0 {
		return nil
	}
	sort.Strings(modules)
	if more := len(modules) - buildsNamed; more > 0 {
		modules = append(modules[:buildsNamed], fmt.Sprintf("%d more", more))
	}
	return []string{"other builds of " + strings.Join(modules, ", ") + " (their build ids differ)"}
}

// builds are the build ids of each module that samples were taken in.
func builds(group []*recording.Recording) map[string][]string {
	ids := map[string][]string{}
	for _, rec := range group {
		for i := range rec.Frames {
			frame := &rec.Frames[i]
			if frame.BuildID != "" && frame.Module != "" && frame.Kind != recording.KindKernel &&
				!slices.Contains(ids[frame.Module], frame.BuildID) {
				ids[frame.Module] = append(ids[frame.Module], frame.BuildID)
			}
		}
	}
	return ids
}

// otherLoads warns where one side had more to do in a unit of work, or did more units.
func otherLoads(a, b []*recording.Recording, work units.Work) []string {
	if served, told := otherThroughput(a, b); told {
		return served // windows of services do nothing once
	}
	meanA, meanB := stat.Average(work.A), stat.Average(work.B)
	if !work.OfTime() {
		if work.Name == units.PerRun || !differ(meanA, meanB) {
			return nil
		}
		return []string{fmt.Sprintf("the recordings of A did %s units of work (%s) on average, those "+
			"of B %s: what every run does once weighs less in the larger ones",
			number(meanA), work.Name, number(meanB))}
	}
	for _, name := range loadCalls {
		x, y := perUnit(a, work.A, name), perUnit(b, work.B, name)
		if x*meanA < fewestProxies && y*meanB < fewestProxies {
			continue
		}
		if differ(x, y) {
			return []string{fmt.Sprintf("other load: %s and %s calls of %s per %s; if each serves one "+
				"request, compare with --per request=%s", number(x), number(y), name, work.Name, name)}
		}
		return nil
	}
	return nil
}

// number writes an amount with three decimals at most, and never as a power of ten.
func number(value float64) string {
	if math.Abs(value) >= 1000 {
		return fmt.Sprintf("%.0f", value)
	}
	return strconv.FormatFloat(math.Round(value*1000)/1000, 'f', -1, 64)
}

// perUnit is how often a system call was made in a unit of work, on average over a group.
func perUnit(group []*recording.Recording, work []float64, name string) float64 {
	rates := make([]float64, len(group))
	for i, rec := range group {
		rates[i] = float64(units.Calls(rec, name)) / work[i]
	}
	return stat.Average(rates)
}

func lossesOf(a, b []*recording.Recording) []string {
	lost := func(rec *recording.Recording) bool {
		return slices.ContainsFunc(rec.Manifest.Losses, func(loss recording.Loss) bool {
			return loss.Count > 0
		})
	}
	x, y := slices.ContainsFunc(a, lost), slices.ContainsFunc(b, lost)
	if x == y {
		return nil
	}
	side := perrun.A
	if y {
		side = perrun.B
	}
	return []string{fmt.Sprintf("the recorder lost events on side %s only", side)}
}
