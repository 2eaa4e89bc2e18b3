package main

import (
	"cmp"
	"culprit/internal/stat"
	"fmt"
	"io"
	"slices"
	"strings"
)

// sameFamily is the family of the pairs without a difference.
const sameFamily = "same"

// causeFamily is the first word of the first accepted cause: what the scoreboard adds up by.
func causeFamily(t Truth) string {
	if len(t.Causes) == 0 {
		return sameFamily
	}
	family, _, _ := strings.Cut(t.Causes[0], ".")
	return family
}

// ofFamilies keeps the scenarios that one of the names, separated by commas, fits: the folder's
// first word, the first word of the cause, or the cause. "" keeps all.
func ofFamilies(scenarios []Scenario, names string) ([]Scenario, error) {
	if names == "" {
		return scenarios, nil
	}
	var kept []Scenario
	for _, name := range strings.Split(names, ",") {
		found := false
		for _, s := range scenarios {
			if s.Family != name && causeFamily(s.Truth) != name && !slices.Contains(s.Truth.Causes, name) {
				continue
			}
			found = true
			if !slices.ContainsFunc(kept, func(k Scenario) bool { return k.Name == s.Name }) {
				kept = append(kept, s)
			}
		}
		if !found {
			return nil, fmt.Errorf("-family %q: no such family among the scenarios; -list shows their causes", name)
		}
	}
	slices.SortFunc(kept, func(a, b Scenario) int { return cmp.Compare(a.Name, b.Name) })
	return kept, nil
}

// tally counts what went right in one family.
type tally struct {
	scenarios, outcome, first, firstThree, place, alarms int
	elapsed, cost                                        []float64
}

func (t *tally) add(s Score) {
	t.scenarios++
	t.outcome += count(s.Verdict.OutcomeRight)
	t.first += count(s.Verdict.First)
	t.firstThree += count(s.Verdict.FirstThree)
	t.place += count(s.Verdict.PlaceRight)
	t.alarms += count(s.falseAlarm())
	t.elapsed = append(t.elapsed, s.ElapsedS)
	if s.Answer != nil && s.Answer.RecordingCost != nil {
		t.cost = append(t.cost, s.Answer.RecordingCost.Ratio-1)
	}
}

// tallies adds the scores up by family, what could not be run apart.
func (b Scoreboard) tallies() map[string]*tally {
	families := map[string]*tally{}
	for _, s := range b.Scores {
		if s.NotRun != "" {
			continue
		}
		family := causeFamily(s.Truth)
		if families[family] == nil {
			families[family] = &tally{}
		}
		families[family].add(s)
	}
	return families
}

// writeFamilies writes the table by family. In the row of the pairs without a difference "first"
// and "place" mean that no suspect was named.
func (b Scoreboard) writeFamilies(w io.Writer) {
	families := b.tallies()
	var names []string
	for name := range families {
		names = append(names, name)
	}
	slices.Sort(names)
	fmt.Fprint(w, "| family | scenarios | outcome right | first suspect | in the first three | place right ",
		"| false alarms | median time | median recording cost |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, name := range names {
		t := families[name]
		alarms, cost := "–", "–"
		if name == sameFamily {
			alarms = fmt.Sprint(t.alarms)
		}
		if len(t.cost) > 0 {
			cost = fmt.Sprintf("%+.1f %%", 100*stat.Middle(t.cost))
		}
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %s | %.0f s | %s |\n", name, t.scenarios, t.outcome, t.first,
			t.firstThree, t.place, alarms, stat.Middle(t.elapsed), cost)
	}
}
