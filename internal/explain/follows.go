package explain

import (
	"slices"
	"strings"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/differs"
	"culprit/recording"
)

// A suspect follows from the one dependency that differs where most of its growth lies in stacks
// through it, and does not where next to none does. Chosen: what lies between is told as a part.
const (
	mostFollows  = 0.5
	leastFollows = 0.05
)

// follow says of each suspect whether it follows from the one thing in which the sides differ;
// nothing where that is not exactly one.
func (e *Evidence) follow(suspects []cause.Suspect, list []differs.Difference, result *compare.Result) {
	only := differs.Only(list)
	if only == nil {
		return
	}
	var runs func(*recording.Frame) bool
	if only.Kind == differs.Dependency || only.Kind == differs.Binary {
		runs = differs.Runs(e.A, e.B, list, only)
	}
	for i := range suspects {
		told := &cause.Follows{From: only.String(), Answer: cause.FollowsUnknown}
		suspects[i].Follows = told
		switch {
		case runs != nil:
			told.Answer, told.Part = throughPlace(&suspects[i], result, runs)
		case isChosen(&suspects[i], only):
			told.Answer, told.Part = cause.FollowsYes, 1
		}
	}
}

// isChosen tells whether a suspect names what was chosen differently, as it does unless it has
// another origin.
func isChosen(suspect *cause.Suspect, only *differs.Difference) bool {
	a, b := only.Typed()
	return slices.ContainsFunc(suspect.Places, func(place cause.Place) bool {
		switch place.Kind {
		case cause.InSetting:
			return strings.HasSuffix("."+place.Name, "."+only.Name)
		case cause.InOptions:
			return b != "" && strings.HasSuffix(b, place.Name) || a != "" && strings.HasSuffix(a, place.Name) ||
				place.Name == "without "+a || place.Name == "without "+b
		}
		return false
	})
}

// throughPlace says which part of the growth at a suspect's first place in code lies in stacks
// through a dependency.
func throughPlace(suspect *cause.Suspect, result *compare.Result,
	runs func(*recording.Frame) bool) (cause.FollowsAnswer, float64) {
	at := slices.IndexFunc(suspect.Places, func(place cause.Place) bool { return place.Kind == cause.InCode })
	if at < 0 {
		return cause.FollowsUnknown, 0
	}
	way := strings.Split(suspect.Places[at].Name, ";")
	dearer := 1.0
	if mean(result.B) < mean(result.A) {
		dearer = -1
	}
	all, through := 0.0, 0.0
	for i := range result.Paths {
		path := &result.Paths[i]
		growth := dearer * (mean(path.B) - mean(path.A))
		if !leads(path.Frames, way) {
			continue
		}
		all += growth
		if slices.ContainsFunc(path.Frames, func(frame recording.Frame) bool { return runs(&frame) }) {
			through += growth
		}
	}
	if all <= 0 {
		return cause.FollowsUnknown, 0
	}
	part := min(max(through/all, 0), 1)
	switch {
	case part >= mostFollows:
		return cause.FollowsYes, part
	case part < leastFollows:
		return cause.FollowsNo, part
	}
	return cause.FollowsPartly, part
}

// leads tells whether the functions of a way stand in a stack in their order; "…" is any.
func leads(frames []recording.Frame, way []string) bool {
	at := 0
	for _, name := range way {
		if name == "…" {
			continue
		}
		found := slices.IndexFunc(frames[at:], func(frame recording.Frame) bool {
			return frame.Name == name || frame.Module == name
		})
		if found < 0 {
			return false
		}
		at += found + 1
	}
	return true
}
