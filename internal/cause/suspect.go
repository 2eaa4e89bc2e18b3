// Package cause turns differences between recordings into suspects: named causes
// of the catalogue, each with the share of the metric's change that it accounts
// for, where it happens, what speaks for and against it, and what would prove it.
//
// Each second of the change belongs to at most one suspect. Matchers look at the
// names of kernel, C library and runtime functions, of system calls and of settings;
// never at the names of commands, files or functions of the program itself.
//
//	suspects := cause.Judge(cause.Input{Result: result, CPU: cpu, Wall: wall, FactsA: a, FactsB: b})
//	entry, known := cause.Lookup(ClockVDSOBypassed)
//
// It refuses to name a suspect that accounts for less than a fifth of the change,
// or whose share cannot be told from zero: none is better than a wrong one. It
// proves nothing: a suspect's level ends at "predicted" here.
package cause

import (
	"slices"

	"culprit/internal/compare"
	"culprit/internal/compare/units"
)

// Level of evidence, weakest first; a suspect never carries a higher one than it earned.
type Level string

// The levels, in ascending order. Refuted stands beside Proven: the flip was made and changed
// nothing.
const (
	Observed  Level = "observed"  // the signal is there
	Explains  Level = "explains"  // it accounts for a stated share of the change, with an interval
	Predicted Level = "predicted" // count × cost measured on this host agrees with the change
	Proven    Level = "proven"    // flipping it in randomised trials takes the change away
	Refuted   Level = "refuted"   // flipping it did not
)

// Suspect is a cause that may explain the change, with what speaks for it.
type Suspect struct {
	Cause    ID               `json:"cause"` // id in the catalogue
	Level    Level            `json:"level"`
	Share    compare.Interval `json:"share"`   // part of the metric's change; one-sided: part of the metric
	Seconds  compare.Interval `json:"seconds"` // the same, in the metric's unit per run
	Where    []string         `json:"where"`   // Places in words
	Places   []Place          `json:"places"`  // best first; none in cases of the first schema
	Evidence []Evidence       `json:"evidence"`
	Against  []string         `json:"against,omitempty"` // Doubts in words
	Doubts   []Doubt          `json:"doubts,omitempty"`  // what contradicts it, or what it leaves open
	// Prediction is nil where nothing was counted whose cost is known.
	Prediction *Prediction `json:"prediction,omitempty"`
	Proof      *Proof      `json:"proof,omitempty"`
	Remedy     string      `json:"remedy"`
	Gain       bool        `json:"gain,omitempty"` // A is the dearer side: Remedy says what B's gain hangs on
	Claim      string      `json:"claim"`          // the cause's claim in one sentence, filled in
	Knob       string      `json:"knob,omitempty"` // the flip that would prove it, "" for none
	// Line draws the cache line of a suspect that is one; nil elsewhere, and where nothing is known
	// of it.
	Line *SharedLine `json:"line,omitempty"`
	// Tests is the cause that it turns out to be where its flip takes the change away; "" for none.
	Tests ID `json:"-"`
	// Price is what sharing the line costs; nil where no trials told.
	Price *Price `json:"price,omitempty"`
	// Follows says whether it comes from the one thing in which the sides differ; nil where that is
	// not exactly one.
	Follows *Follows `json:"follows,omitempty"`
}

// Follows is how a suspect stands to the one thing in which the sides differ.
type Follows struct {
	From   string        `json:"from"` // that thing, in words
	Answer FollowsAnswer `json:"answer"`
	Part   float64       `json:"part"` // of its growth that lies in stacks through it
}

// FollowsAnswer is whether it does.
type FollowsAnswer string

// The answers.
const (
	FollowsYes     FollowsAnswer = "yes"
	FollowsPartly  FollowsAnswer = "partly"
	FollowsNo      FollowsAnswer = "no"
	FollowsUnknown FollowsAnswer = "unknown" // nothing shows it: but nothing else was seen to differ
)

// Evidence is one observation on both sides.
type Evidence struct {
	// Signal is "cpu", "offcpu", "syscalls", "processes", "facts", "bench", "block", "network",
	// "lines", "counts", or "trials".
	Signal string  `json:"signal"`
	Text   string  `json:"text"`
	A      float64 `json:"a"`
	B      float64 `json:"b"`
	Unit   string  `json:"unit"`
	// Setting is the name of the fact that differs, where the evidence is one.
	Setting string `json:"setting,omitempty"`
}

// Proof is what flipping a knob showed.
type Proof struct {
	Knob    string `json:"knob"`
	From    string `json:"from"`
	To      string `json:"to"`
	Verdict string `json:"verdict"` // "proven", "refuted" or "undecided"
	Trials  int    `json:"trials"`
	Effect  Effect `json:"effect"` // metric at To against From: below 1 where the flip helps
	Why     string `json:"why,omitempty"`
}

// Effect is a ratio with its interval.
type Effect struct {
	Ratio      float64 `json:"ratio"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
}

// InWords fills in what is told in words as well.
func (s *Suspect) InWords() {
	s.Where, s.Against = []string{}, nil
	for _, place := range s.Places {
		s.Where = append(s.Where, place.String())
	}
	for _, one := range s.Doubts {
		s.Against = append(s.Against, one.Text)
	}
}

// FromWords makes places and doubts, without a kind, of a suspect of the first schema, which has
// the words alone.
func (s *Suspect) FromWords() {
	for _, text := range s.Where {
		s.Places = append(s.Places, Place{Name: text})
	}
	for _, text := range s.Against {
		s.Doubts = append(s.Doubts, Doubt{Text: text})
	}
}

// InUnit writes suspects per unit of work: Judge tells amounts of a typical recording. What is no
// amount of one, such as the time of one call, stays. The given suspects keep theirs.
func InUnit(suspects []Suspect, unit units.Unit) []Suspect {
	told := make([]Suspect, len(suspects))
	for i, suspect := range suspects {
		suspect.Seconds = unit.Interval(suspect.Seconds)
		evidence := make([]Evidence, len(suspect.Evidence))
		for k, one := range suspect.Evidence {
			var counted bool
			if one.Unit, counted = unit.Of(one.Unit); counted {
				one.A, one.B = unit.Amount(one.A), unit.Amount(one.B)
			}
			evidence[k] = one
		}
		suspect.Evidence = evidence
		if suspect.Prediction != nil {
			told := *suspect.Prediction
			told.Count = unit.Amount(told.Count)
			told.Predicted, told.Observed = unit.Interval(told.Predicted), unit.Interval(told.Observed)
			suspect.Prediction = &told
		}
		told[i] = suspect
	}
	return told
}

// InUnit is the same per unit of work.
func (w Why) InUnit(unit units.Unit) Why {
	w.Growth, w.Nobody = unit.Amount(w.Growth), unit.Amount(w.Nobody)
	w.Entries = slices.Clone(w.Entries)
	for i := range w.Entries {
		w.Entries[i].Seconds = unit.Amount(w.Entries[i].Seconds)
	}
	return w
}
