package investigate

import (
	"fmt"
	"math"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/stat"
)

// The verdicts of a proof.
const (
	provenVerdict    = "proven"
	refutedVerdict   = "refuted"
	undecidedVerdict = "undecided"
)

// part is a part of the suffering side's metric, with its interval.
type part struct{ value, low, high float64 }

func (p part) String() string {
	return fmt.Sprintf("%.0f %% of the metric (%.0f %% to %.0f %%)", 100*p.value, 100*p.low, 100*p.high)
}

// claimedPart is what a suspect was said to explain, as a part of the suffering side's metric. Its
// share is of the change between the sides; with one side (effect nil) of the metric itself.
func claimedPart(share compare.Interval, effect *cause.Effect) part {
	changed := 1.0
	if effect != nil && effect.Ratio > 0 {
		changed = 1 - math.Min(effect.Ratio, 1/effect.Ratio)
	}
	claimed := part{share.Value * changed, share.Low * changed, share.High * changed}
	if !(claimed.low <= claimed.value && claimed.value <= claimed.high) {
		// One recording: no interval is known.
		claimed.low, claimed.high = claimed.value, claimed.value
	}
	return claimed
}

// removedPart is what the flip took away: lower is better in the decision's ratio.
func removedPart(ratio stat.Interval) part {
	return part{1 - ratio.Value, 1 - ratio.High, 1 - ratio.Low}
}

// Part of the claimed share below which a flip refutes, and which must be sure for a proof.
const (
	refutingPart = 0.1
	surePart     = 0.5
)

// weigh compares intervals: proven when the flip takes away as much as was claimed, as far as both
// are known, and at least half of it for sure; refuted when it surely takes away less than a tenth;
// else undecided.
func weigh(claimed, removed part) string {
	switch {
	case removed.high < refutingPart*claimed.value:
		return refutedVerdict
	case removed.low > 0 && removed.low >= surePart*claimed.low && removed.high >= claimed.low:
		return provenVerdict
	}
	return undecidedVerdict
}

// reasoned says what the verdict rests on.
func reasoned(verdict string, planned flip, claimed, removed part, more int) string {
	text := fmt.Sprintf("with %s the same command loses %s; the suspect was said to explain %s",
		planned.to, removed, claimed)
	switch {
	case removed.high <= 0:
		text = fmt.Sprintf("%s is the slower one: with it the same command takes %.3g times as long", planned.to,
			1-removed.value)
	case verdict == undecidedVerdict && removed.low > 0 && removed.high < claimed.low:
		text += ": the flip takes a part of it away, not all"
	case verdict == undecidedVerdict && more > 0:
		text += fmt.Sprintf("; about %d more pairs of trials would decide", more)
	}
	return text
}
