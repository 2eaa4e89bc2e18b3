package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Verdict is how an answer compares with the truth.
type Verdict struct {
	OutcomeRight bool   `json:"outcome_right"`
	First        bool   `json:"first"`       // an accepted cause is the first suspect
	FirstThree   bool   `json:"first_three"` // … is among the first three
	PlaceRight   bool   `json:"place_right"` // that suspect says where
	Named        string `json:"named"`       // first suspect, "" for none
	Missed       string `json:"missed"`      // what was wrong, "" when the truth was found
}

// judge holds an answer against a scenario's truth.
func judge(truth Truth, result Investigation) Verdict {
	answer := result.Answer
	verdict := Verdict{OutcomeRight: answer.Outcome == truth.Outcome}
	if len(answer.Suspects) > 0 {
		verdict.Named = answer.Suspects[0].Cause
	}
	if truth.Outcome == "same" {
		return judgeSame(answer, result.ExitCode, verdict)
	}
	place := regexp.MustCompile(truth.Place)
	for rank, suspect := range answer.Suspects {
		if rank >= 3 || !slices.Contains(truth.Causes, suspect.Cause) {
			continue
		}
		verdict.First = verdict.First || rank == 0
		verdict.FirstThree = true
		verdict.PlaceRight = slices.ContainsFunc(suspect.Where, place.MatchString)
		break
	}
	verdict.Missed = missed(truth, result, verdict)
	return verdict
}

// judgeSame judges a pair without a difference: undecided is no false alarm, a suspect is one.
func judgeSame(answer Answer, exitCode int, verdict Verdict) Verdict {
	verdict.OutcomeRight = answer.Outcome == "same" || answer.Outcome == "undecided"
	verdict.First = len(answer.Suspects) == 0
	verdict.FirstThree, verdict.PlaceRight = verdict.First, verdict.First
	switch {
	case !verdict.OutcomeRight:
		verdict.Missed = fmt.Sprintf("outcome %s, but both sides are the same command", answer.Outcome)
	case !verdict.First:
		verdict.Missed = fmt.Sprintf("suspects %s although nothing differs", verdict.Named)
	case exitCode != 0:
		verdict.Missed = fmt.Sprintf("exit status %d with outcome %s, want 0", exitCode, answer.Outcome)
	}
	return verdict
}

func missed(truth Truth, result Investigation, verdict Verdict) string {
	answer := result.Answer
	named := verdict.Named
	if named == "" {
		named = "nothing"
	}
	switch {
	case !verdict.OutcomeRight:
		return fmt.Sprintf("outcome %s, want %s", answer.Outcome, truth.Outcome)
	case truth.Metric != "" && answer.Metric.Name != truth.Metric:
		return fmt.Sprintf("explains %s, but only %s changes", answer.Metric.Name, truth.Metric)
	case !verdict.First:
		return fmt.Sprintf("first suspect %s, want %s", named, strings.Join(truth.Causes, " or "))
	case !verdict.PlaceRight:
		return fmt.Sprintf("place %s, want %s", strings.Join(answer.Suspects[0].Where, ", "), truth.Place)
	case (answer.Outcome == "worse") != (result.ExitCode == 1):
		return fmt.Sprintf("exit status %d with outcome %s, want 1 when worse", result.ExitCode, answer.Outcome)
	}
	return ""
}
