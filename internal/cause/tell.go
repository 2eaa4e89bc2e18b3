package cause

import (
	"cmp"
	"slices"
	"strings"

	"culprit/internal/compare"
	"culprit/internal/compare/perrun"
)

// suspect turns a claim into what is told of it; known is false where its interval is not.
func (s *scene) suspect(c *claim) (suspect Suspect, known bool) {
	entry, _ := Lookup(c.cause)
	a, b := s.seconds(c)
	suspect.Share, known = s.shareOf(c)
	if s.oneSided {
		suspect.Seconds = perrun.Change(b, nil, s.confidence)
	} else {
		suspect.Seconds = perrun.Change(a, b, s.confidence)
	}
	if !known && !s.oneSided {
		if share, better := s.shareOfMeasured(suspect.Seconds); better {
			// Where two or three runs a side leave the interval open, but each run of B has it more
			// than every run of A, the suspect is told as observed: the trials have shown that
			// there is a change to explain.
			suspect.Share, known = share, share.Low > 0 || !apart(a, b)
		}
	}
	suspect.Cause, suspect.Claim, suspect.Remedy = c.cause, s.claimed(c, entry), cmp.Or(c.remedy, entry.Remedy)
	if s.swapped {
		suspect.Gain, suspect.Remedy = true, gained+entry.Gain
	}
	suspect.Places, suspect.Doubts, suspect.Knob = append([]Place{}, c.places...), slices.Clone(c.against), c.knob
	suspect.Line, suspect.Tests = c.line, c.tests
	if suspect.Share.Low <= 0 && s.flippedByTrials(c) {
		suspect.Share, known = compare.Interval{Value: 1, Low: 1, High: 1}, true
		suspect.Doubts = append(suspect.Doubts, Doubt{DoubtUnseen, "the recorded runs do not show where: that it is this " +
			"setting follows from the trials, whose sides differ in nothing else"})
	}
	suspect.Level = Observed
	if known && suspect.Share.Low > 0 {
		suspect.Level = Explains
	}
	if c.prediction != nil {
		suspect.Prediction = s.compareWith(*c.prediction, suspect, known)
		if suspect.Level == Explains && suspect.Prediction.Agrees && !suspect.Prediction.AtLeast {
			suspect.Level = Predicted
		}
	}
	if !known {
		suspect.Doubts = append(suspect.Doubts, Doubt{DoubtRuns,
			"too few recordings, or too unequal ones, to say how far this share may be off"})
	}
	signal := "cpu"
	if s.metric == compare.MetricWall {
		signal = "offcpu"
	}
	suspect.Evidence = slices.Concat([]Evidence{{Signal: signal, Text: "time that belongs to this cause",
		A: mean(a), B: mean(b), Unit: "s/run"}}, s.callEvidence(c), c.evidence)
	s.turnBack(&suspect)
	return suspect, known
}

// wholeChange is the part of the growth that is as good as all of it. Chosen.
const wholeChange = 0.9

// flippedByTrials reports whether a claim is for the one setting in which the sides differ, and as
// good as none of the growth is anybody else's: the trials that measured the change flipped that
// setting at random, so that the change is its doing however far the few recorded runs scatter.
func (s *scene) flippedByTrials(c *claim) bool {
	change := s.in.MeasuredChange
	if s.swapped {
		change = negated(change)
	}
	return c.cause == ConfigDiffers && s.in.MeasuredChangeKnown && change.Low > 0 &&
		s.grew(c) >= wholeChange*s.growth && s.onlyChosen() != nil
}

// turnBack gives amounts back to the sides that they are of.
func (s *scene) turnBack(suspect *Suspect) {
	if s.turned() {
		for i := range suspect.Evidence {
			e := &suspect.Evidence[i]
			e.A, e.B = e.B, e.A
		}
	}
	if s.swapped {
		suspect.Seconds = negated(suspect.Seconds)
	}
}

// OfGain turns a suspect of what the requests of A take more into one of what B gains.
func (s *Suspect) OfGain() {
	entry, _ := Lookup(s.Cause)
	s.Gain, s.Remedy, s.Seconds = true, gained+entry.Gain, negated(s.Seconds)
	for i := range s.Evidence {
		e := &s.Evidence[i]
		e.A, e.B = e.B, e.A
	}
}

// gained begins what stands in place of a remedy where B is the cheaper side.
const gained = "B does better without it, and that holds as long as "

// claimed is the claim of a cause, with the sides that it is about.
func (s *scene) claimed(c *claim, entry Cause) string {
	text := cmp.Or(c.claim, entry.Claim)
	if s.oneSided && entry.Alone != "" && c.claim == "" {
		return entry.Alone
	}
	told := ofSides(text, s.swapped)
	if c.changed != "" {
		told = "in " + c.changed + ": " + told
	}
	// Which side has which setting is told as evidence.
	if s.swapped && told == text && c.cause != ConfigDiffers {
		return "in A, and less or not at all in B: " + text
	}
	return told
}

// ofSides names the sides in a claim.
func ofSides(claim string, swapped bool) string {
	dearer, cheaper := "B", "A"
	if swapped {
		dearer, cheaper = cheaper, dearer
	}
	return strings.NewReplacer("{dearer}", dearer, "{cheaper}", cheaper).Replace(claim)
}

// Told is the claim as the catalogue tells it: B is the dearer side.
func (c *Cause) Told() string { return ofSides(c.Claim, false) }

// fewRuns is the number of recordings of a side up to which an interval is hardly more than its
// factor of Student's t: 12.7 with two, 4.3 with three at 95 %.
const fewRuns = 3

// apart reports whether each of a few runs of B lies over every run of A, by half of what they
// differ in the mean.
func apart(a, b []float64) bool {
	if len(a) == 0 || len(b) == 0 || len(a) > fewRuns && len(b) > fewRuns {
		return false
	}
	return slices.Min(b)-slices.Max(a) >= (mean(b)-mean(a))/2 && mean(b) > mean(a)
}

// shareOfMeasured is a share of the change that the trials without the recorder
// saw: the way out where the few recorded runs scatter too much to tell their own change from zero.
func (s *scene) shareOfMeasured(seconds compare.Interval) (share compare.Interval, known bool) {
	change := s.in.MeasuredChange
	if s.swapped {
		change = negated(change)
	}
	if !s.in.MeasuredChangeKnown || change.Low <= 0 {
		return share, false
	}
	quotients := []float64{seconds.Low / change.Low, seconds.Low / change.High, seconds.High / change.Low,
		seconds.High / change.High}
	return compare.Interval{Value: seconds.Value / change.Value, Low: slices.Min(quotients),
		High: slices.Max(quotients)}, true
}
