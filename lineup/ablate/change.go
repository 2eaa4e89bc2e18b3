package ablate

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// missedMark stands in the first line of a verdict that misses the truth.
const missedMark = "(missed:"

// readVerdicts adds what a file says, by pair. A pair begins in the first column: "name: outcome
// metric".
func readVerdicts(verdicts map[string]string, text, from string) {
	name := ""
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, " ") {
			name, _, _ = strings.Cut(line, ":")
			name = from + " " + name
		}
		verdicts[name] += line
	}
}

// How much a variant changes a verdict, the worst first.
const (
	Wrong  = "wrong"  // the truth was found and is missed
	Mended = "mended" // the truth was missed and is found
	First  = "first"  // another first suspect or place, and right as before
	Else   = "else"   // another share, level or further suspect
)

// Change is one verdict that a variant changes.
type Change struct {
	Pair, How, Was, Is string
}

// changes lists the verdicts that differ, the worst first, of those that were made again.
func changes(before, after map[string]string) (list []Change) {
	for _, pair := range slices.Sorted(maps.Keys(after)) {
		was, is := before[pair], after[pair]
		if was == is {
			continue
		}
		change := Change{Pair: pair, How: Else, Was: first(was), Is: first(is)}
		missedBefore, missed := strings.Contains(was, missedMark), strings.Contains(is, missedMark)
		switch {
		case missed && !missedBefore:
			change.How = Wrong
		case missedBefore && !missed:
			change.How = Mended
		case named(was) != named(is):
			change.How = First
		}
		list = append(list, change)
	}
	slices.SortStableFunc(list, func(x, y Change) int {
		return cmp.Compare(severity(x.How),
			severity(y.How))
	})
	return list
}

func severity(how string) int { return slices.Index([]string{Wrong, Mended, First, Else}, how) }

// first is the line of the first suspect, "no suspect" without one.
func first(verdict string) string {
	lines := strings.SplitN(verdict, "\n", 3)
	if len(lines) < 2 || lines[1] == "" {
		return "no suspect"
	}
	return strings.TrimSpace(lines[1])
}

// named is the cause and the place of the first suspect.
func named(verdict string) string {
	cause, _, _ := strings.Cut(first(verdict), " ")
	_, place, _ := strings.Cut(first(verdict), " at ")
	return cause + " at " + place
}
