package ablate

import (
	"cmp"
	"maps"
	"slices"

	"culprit/internal/corpus"
)

// verdicts are what is said of the pairs, each under the file that it was judged from and its name.
type verdicts map[string]corpus.Told

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
func changes(before, after verdicts) (list []Change) {
	for _, pair := range slices.Sorted(maps.Keys(after)) {
		was, is := before[pair], after[pair]
		if was.String() == is.String() {
			continue
		}
		change := Change{Pair: pair, How: Else, Was: first(was), Is: first(is)}
		switch {
		case is.Missed != "" && was.Missed == "":
			change.How = Wrong
		case was.Missed != "" && is.Missed == "":
			change.How = Mended
		case other(was, is):
			change.How = First
		}
		list = append(list, change)
	}
	order(list)
	return list
}

// order sorts changes, the worst first.
func order(list []Change) {
	slices.SortStableFunc(list, func(x, y Change) int {
		return cmp.Or(cmp.Compare(severity(x.How), severity(y.How)), cmp.Compare(x.Pair, y.Pair))
	})
}

func severity(how string) int { return slices.Index([]string{Wrong, Mended, First, Else}, how) }

// first is the first suspect in words, "no suspect" without one.
func first(told corpus.Told) string {
	if len(told.Suspects) == 0 {
		return "no suspect"
	}
	return told.Suspects[0].String()
}

// other reports whether another cause or place is the first suspect.
func other(was, is corpus.Told) bool {
	if len(was.Suspects) == 0 || len(is.Suspects) == 0 {
		return len(was.Suspects) != len(is.Suspects)
	}
	x, y := was.Suspects[0], is.Suspects[0]
	return x.Cause != y.Cause || x.Place != y.Place
}
