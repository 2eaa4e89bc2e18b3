package corpus

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Truth is what is known of a pair.
type Truth struct {
	Outcome string   `json:"outcome" yaml:"outcome"`         // worse, better or same
	Metric  string   `json:"metric,omitempty" yaml:"metric"` // the only metric that changes, "" when several do
	Causes  []string `json:"causes,omitempty" yaml:"causes"` // accepted as first suspect: usually one
	Place   string   `json:"place,omitempty" yaml:"place"`   // regular expression: one where of the suspect matches it
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

// Judge holds an answer against the truth.
func (t Truth) Judge(answer Answer) Verdict {
	verdict := Verdict{OutcomeRight: answer.Outcome == t.Outcome}
	if len(answer.Suspects) > 0 {
		verdict.Named = string(answer.Suspects[0].Cause)
	}
	if t.Outcome == "same" {
		return judgeSame(answer, verdict)
	}
	place := regexp.MustCompile(t.Place)
	for rank, suspect := range answer.Suspects {
		if rank >= 3 || !slices.Contains(t.Causes, string(suspect.Cause)) {
			continue
		}
		verdict.First = verdict.First || rank == 0
		verdict.FirstThree = true
		verdict.PlaceRight = slices.ContainsFunc(suspect.Where(), place.MatchString)
		break
	}
	verdict.Missed = t.missed(answer, verdict)
	return verdict
}

// judgeSame judges a pair without a difference: undecided is no false alarm, a suspect is one.
func judgeSame(answer Answer, verdict Verdict) Verdict {
	verdict.OutcomeRight = answer.Outcome == "same" || answer.Outcome == "undecided"
	verdict.First = len(answer.Suspects) == 0
	verdict.FirstThree, verdict.PlaceRight = verdict.First, verdict.First
	switch {
	case !verdict.OutcomeRight:
		verdict.Missed = fmt.Sprintf("outcome %s, but both sides are the same command", answer.Outcome)
	case !verdict.First:
		verdict.Missed = fmt.Sprintf("suspects %s although nothing differs", verdict.Named)
	}
	return verdict
}

func (t Truth) missed(answer Answer, verdict Verdict) string {
	named := verdict.Named
	if named == "" {
		named = "nothing"
	}
	switch {
	case !verdict.OutcomeRight:
		return fmt.Sprintf("outcome %s, want %s", answer.Outcome, t.Outcome)
	case t.Metric != "" && answer.Metric != t.Metric:
		return fmt.Sprintf("explains %s, but only %s changes", answer.Metric, t.Metric)
	case !verdict.First:
		return fmt.Sprintf("first suspect %s, want %s", named, strings.Join(t.Causes, " or "))
	case !verdict.PlaceRight:
		return fmt.Sprintf("place %s, want %s", strings.Join(answer.Suspects[0].Where(), ", "), t.Place)
	}
	return ""
}
