package explain

import (
	"slices"

	"culprit/internal/compare"
	"culprit/internal/compare/prepare"
	"culprit/internal/compare/units"
	"culprit/internal/tail"
	"culprit/recording"
)

// Confidence of all intervals.
const Confidence = 0.95

// Evidence is what the recordings of one or two sides show of both metrics.
type Evidence struct {
	A, B []*recording.Recording
	Work units.Work // what amounts of both sides are divided by
	compare.Results
	slow map[string]*tail.Difference // by what was tested: see slower
}

// Read compares the recordings per unit of work; per is what units.Choose takes. Without any
// of B the evidence is one-sided. A metric that the maker of a recording could not know beforehand
// is filled in.
func Read(a, b []*recording.Recording, per string) (*Evidence, error) {
	e := &Evidence{A: allMeasured(a), B: allMeasured(b)}
	var err error
	if e.Work, err = units.Choose(per, e.A, e.B); err != nil {
		return nil, err
	}
	e.Results, err = compare.Compare(e.A, e.B, compare.Options{Confidence: Confidence, Work: &e.Work})
	return e, err
}

func allMeasured(group []*recording.Recording) []*recording.Recording {
	full := make([]*recording.Recording, len(group))
	for i, rec := range group {
		full[i] = prepare.Measured(rec)
	}
	return full
}

// Unit is what amounts are told per.
func (e *Evidence) Unit() units.Unit { return e.Work.Unit() }

// OneSided reports whether nothing is compared.
func (e *Evidence) OneSided() bool { return len(e.B) == 0 }

func (e *Evidence) both() []*recording.Recording {
	return append(append([]*recording.Recording{}, e.A...), e.B...)
}

// commands reports whether every recording is of a command.
func (e *Evidence) commands() bool {
	for _, rec := range e.both() {
		if rec.Manifest.Target.Kind != "command" {
			return false
		}
	}
	return true
}

// whole reports whether every recording is of a command from its start to its end: only then
// something held up the end.
func (e *Evidence) whole() bool {
	for _, rec := range e.both() {
		if !units.Whole(rec) {
			return false
		}
	}
	return true
}

// service reports whether every recording is of something that runs on: its wall time is what its
// threads were busy with. A part of a command has neither an end nor that meaning.
func (e *Evidence) service() bool {
	return !slices.ContainsFunc(e.both(), func(rec *recording.Recording) bool { return !RunsOn(rec) })
}

// RunsOn reports whether a recording is of something that did not end with it.
func RunsOn(rec *recording.Recording) bool {
	kind, cut := rec.Manifest.Target.Kind, slices.ContainsFunc(rec.Manifest.BlindSpots,
		func(spot recording.BlindSpot) bool { return spot.Kind == recording.BlindCut })
	return (kind == "pid" || kind == "cgroup") && rec.Imported() == "" && !(cut && rec.Manifest.Target.Command != "")
}

func commandOf(group []*recording.Recording) string {
	if len(group) == 0 {
		return ""
	}
	return group[0].Manifest.Target.Command
}
