package corpus

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Truth is what is known of a pair.
type Truth struct {
	Outcome string   `json:"outcome" yaml:"outcome"`         // worse, better or same
	Metric  string   `json:"metric,omitempty" yaml:"metric"` // that alone changes, "" for several
	Causes  []string `json:"causes,omitempty" yaml:"causes"` // accepted as first suspect: usually one
	Place   string   `json:"place,omitempty" yaml:"place"`   // regular expression of one where
}

// Verdict is how an answer compares with the truth.
type Verdict struct {
	OutcomeRight bool   `json:"outcome_right"`
	First        bool   `json:"first"`       // an accepted cause is the first suspect
	FirstThree   bool   `json:"first_three"` // … is among the first three
	PlaceRight   bool   `json:"place_right"` // that suspect says where
	Named        string `json:"named"`       // first suspect, "" for none
	Missed       string `json:"missed"`      // what was wrong, "" when the truth was found
}

// Named is a suspect as far as a truth says something of it.
type Named struct {
	Cause string
	Where []string
}

// Judge holds what was answered, and who was named, against the truth.
func (t Truth) Judge(outcome, metric string, suspects []Named) Verdict {
	verdict := Verdict{OutcomeRight: outcome == t.Outcome}
	if len(suspects) > 0 {
		verdict.Named = suspects[0].Cause
	}
	if t.Outcome == "same" {
		return judgeSame(outcome, verdict)
	}
	place := regexp.MustCompile(t.Place)
	for rank, suspect := range suspects {
		if rank >= 3 || !slices.Contains(t.Causes, suspect.Cause) {
			continue
		}
		verdict.First = verdict.First || rank == 0
		verdict.FirstThree = true
		verdict.PlaceRight = slices.ContainsFunc(suspect.Where, place.MatchString)
		break
	}
	switch {
	case !verdict.OutcomeRight:
		verdict.Missed = fmt.Sprintf("outcome %s, want %s", outcome, t.Outcome)
	case t.Metric != "" && metric != t.Metric:
		verdict.Missed = fmt.Sprintf("explains %s, but only %s changes", metric, t.Metric)
	case !verdict.First:
		verdict.Missed = fmt.Sprintf("first suspect %s, want %s", cmp.Or(verdict.Named, "nothing"),
			strings.Join(t.Causes, " or "))
	case !verdict.PlaceRight:
		verdict.Missed = fmt.Sprintf("place %s, want %s", strings.Join(suspects[0].Where, ", "), t.Place)
	}
	return verdict
}

// judgeSame judges a pair without a difference: undecided is no false alarm, a suspect is one.
func judgeSame(outcome string, verdict Verdict) Verdict {
	verdict.OutcomeRight = outcome == "same" || outcome == "undecided"
	verdict.First = verdict.Named == ""
	verdict.FirstThree, verdict.PlaceRight = verdict.First, verdict.First
	switch {
	case !verdict.OutcomeRight:
		verdict.Missed = fmt.Sprintf("outcome %s, but both sides are the same command", outcome)
	case !verdict.First:
		verdict.Missed = fmt.Sprintf("suspects %s although nothing differs", verdict.Named)
	}
	return verdict
}
