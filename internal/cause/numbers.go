package cause

import (
	"cmp"
	"maps"
	"slices"

	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/recording"
)

// byValue returns the keys, the largest value first, equal ones by name.
func byValue(values map[string]float64) []string {
	keys := slices.Collect(maps.Keys(values))
	slices.SortFunc(keys, func(x, y string) int {
		return cmp.Or(cmp.Compare(values[y], values[x]), cmp.Compare(x, y))
	})
	return keys
}

// most are the keys with the largest values above nothing, so many at most.
func most(values map[string]float64, count int) []string {
	above := maps.Clone(values)
	maps.DeleteFunc(above, func(_ string, value float64) bool { return value <= 0 })
	keys := byValue(above)
	return keys[:min(len(keys), count)]
}

// first is the first of a list, "" where it is empty.
func first(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// longest is the name with the most seconds, "" where none has any.
func longest(seconds map[string]float64) string {
	return first(most(seconds, 1))
}

// tally adds up what the paths of a list grew by, under the names that key gives them; "" counts
// for nothing.
func (s *scene) tally(members []int, key func(i int) string) map[string]float64 {
	grown := map[string]float64{}
	for _, i := range members {
		if name := key(i); name != "" {
			grown[name] += s.grown(i)
		}
	}
	return grown
}

// tallyWaits does the same for the waits of all threads, by their seconds or, where often is set,
// by their number.
func (s *scene) tallyWaits(often bool, key func(*compare.Wait) string) map[string]float64 {
	grown := map[string]float64{}
	for i := range s.waits {
		wait := &s.waits[i]
		a, b := wait.A, wait.B
		if often {
			a, b = wait.CountA, wait.CountB
		}
		if name := key(wait); name != "" {
			grown[name] += mean(b) - mean(a)
		}
	}
	return grown
}

// waitedAt is what waits of all threads grew by, by the way to the program's own function that
// waits, and the stacks of these ways. see gives the stack to look at, nil for a wait that does not
// count.
func (s *scene) waitedAt(often bool, see func(*compare.Wait) []recording.Frame) (grown map[string]float64,
	stacks map[string][]recording.Frame) {
	stacks = map[string][]recording.Frame{}
	return s.tallyWaits(often, func(wait *compare.Wait) string {
		frames := see(wait)
		at := s.code.Innermost(frames)
		if at < 0 {
			return ""
		}
		way := route(frames[:at+1])
		stacks[way] = frames[:at+1]
		return way
	}), stacks
}

// over adds up the paths of a table that are accepted.
func over(paths []compare.Path, accept func(*compare.Path) bool) (sum sides) {
	for i := range paths {
		if path := &paths[i]; accept(path) {
			sum = sum.plus(means(path.A, path.B))
		}
	}
	return sum
}

// sum adds up those of some paths that are accepted.
func sum(paths []compare.Path, members []int, accept func(i int) bool) (sum sides) {
	for _, i := range members {
		if accept(i) {
			sum = sum.plus(means(paths[i].A, paths[i].B))
		}
	}
	return sum
}

func isRunning(path *compare.Path) bool { return path.Kind == compare.Running }

// overWaits adds up those of all threads' waits that are accepted: how long they took and how many
// they were.
func (s *scene) overWaits(accept func(*compare.Wait) bool) (seconds, times sides) {
	for i := range s.waits {
		if wait := &s.waits[i]; accept(wait) {
			seconds = seconds.plus(means(wait.A, wait.B))
			times = times.plus(means(wait.CountA, wait.CountB))
		}
	}
	return seconds, times
}

// countOf adds up counts of the whole tree.
func (s *scene) countOf(names ...string) (sum sides) {
	for _, name := range names {
		sum = sum.plus(s.count(name, ""))
	}
	return sum
}

// callsCounted adds up the calls of some kinds by the whole tree.
func (s *scene) callsCounted(calls map[string]bool) (sum sides) {
	for _, call := range slices.Sorted(maps.Keys(calls)) { // a sum depends on the order
		sum = sum.plus(s.count(counts.Call(call, "count"), ""))
	}
	return sum
}

// sides is an amount per run of both sides.
type sides struct{ a, b float64 }

func (s sides) more() float64 { return s.b - s.a }

func (s sides) plus(other sides) sides { return sides{s.a + other.a, s.b + other.b} }

func (s sides) times(factor float64) sides { return sides{s.a * factor, s.b * factor} }

// each divides by numbers of something; where there is none of it, by one.
func (s sides) each(of sides) sides { return sides{s.a / max(of.a, 1), s.b / max(of.b, 1)} }

// manyTimes is how many times as many of something there are where it grew, and did not only vary
// between runs. Chosen; docs/ablation.md says how far it may lie elsewhere.
const manyTimes = 1.5

// grew reports whether there is more, by the factor and the amount at least.
func (s sides) grew(factor, amount float64) bool { return s.more() >= amount && s.b >= factor*s.a }

func (s sides) swapped() sides { return sides{s.b, s.a} }

func means(a, b []float64) sides { return sides{mean(a), mean(b)} }

// plus adds the values of runs to a sum by run, nil at first.
func plus(sum, values []float64) []float64 {
	if sum == nil {
		sum = make([]float64, len(values))
	}
	for i, value := range values {
		sum[i] += value
	}
	return sum
}

// positive is how many of the values of runs are more than nothing.
func positive(values []float64) (runs int) {
	for _, value := range values {
		if value > 0 {
			runs++
		}
	}
	return runs
}
