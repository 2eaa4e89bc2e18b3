package stat

import (
	"fmt"
	"math"
)

// Outcome is what one look at one metric shows.
type Outcome string

// The outcomes. B is worse when its values are larger: where higher is better the caller passes −d.
const (
	Worse     Outcome = "worse"     // B/A is above 1, and by at least the smallest difference that counts
	Better    Outcome = "better"    // B/A is below 1, likewise
	Same      Outcome = "same"      // B/A lies within the smallest difference that counts
	Undecided Outcome = "undecided" // neither could be shown with these pairs
)

// MaxMore bounds Decision.More: that many pairs or more means "not by more pairs of this kind".
const MaxMore = 10_000

// Decision is the answer of one look at one metric.
type Decision struct {
	Outcome Outcome
	Pairs   int
	// Ratio is B/A (Hodges–Lehmann, as a ratio) with a repeated confidence interval (Jennison &
	// Turnbull 1984): together over all metrics and looks the intervals hold the truth with
	// probability Confidence, so whichever one stops at does.
	Ratio      Interval
	Confidence float64
	// Equivalence is the narrower interval that Same is read from: each of its ends holds with
	// probability Confidence, as two one-sided tests ask for (Schuirmann 1987: the 1−2α interval).
	Equivalence Interval
	// More is about how many more pairs would decide, judged by the spread seen; 0 when decided, at
	// most MaxMore.
	More int
	// Last is true at the plan's last look.
	Last bool
	// OfMeans is true where Plan.Kinds decided: Ratio is that of the means.
	OfMeans bool
}

// Verdict is the interval that the outcome was read from, and how sure it is as a whole: that of
// Same is the narrower one, since B/A may lie beyond one of its ends or the other, with 1 −
// Confidence each.
func (d Decision) Verdict() (ratio Interval, confidence float64) {
	if d.Outcome == Same {
		return d.Equivalence, 1 - 2*(1-d.Confidence)
	}
	return d.Ratio, d.Confidence
}

// Decide reads one look. d are the paired log-ratios ln(B/A), as many as one of the plan's looks
// asks for; a different number is an error, because the error rate holds at the planned looks alone
// (see [Plan.EndAt]). smallest is the smallest difference that counts, 0.02 for 2 %: worse needs an
// interval wholly above 1+smallest/2 and an estimate of at least 1+smallest (better: below the
// inverses); same needs the equivalence interval within 1/(1+smallest) and 1+smallest. An interval
// that barely leaves out "no change" is no verdict: with it, one A/A comparison in thirty would
// call a difference where there is none.
//
// It assumes what [HodgesLehmann] assumes: d independent and symmetric about the true log-ratio.
// Once a metric is decided the caller keeps that decision, also when it goes on for another metric.
func (p *Plan) Decide(d []float64, smallest float64) (Decision, error) {
	if err := checkValues("d", d, 2); err != nil {
		return Decision{}, fmt.Errorf("decide: %w", err)
	}
	if !(smallest > 0) || math.IsInf(smallest, 0) {
		return Decision{}, fmt.Errorf("decide: smallest difference %g is not a positive number", smallest)
	}
	look := -1
	for i, pairs := range p.Looks {
		if pairs == len(d) {
			look = i
		}
	}
	if look < 0 {
		return Decision{}, fmt.Errorf("decide: %d pairs are not a look of the plan %v: end the plan there first",
			len(d), p.Looks)
	}
	averages := walshAverages(d)
	decision := Decision{
		Outcome:    Undecided,
		Pairs:      len(d),
		Confidence: 1 - p.Alpha,
		Last:       look == len(p.Looks)-1,
	}
	if !p.Decidable {
		return p.undecidable(decision, averages, smallest), nil
	}
	change := walshInterval(averages, max(0, p.twoSided[look]))
	bound := walshInterval(averages, max(0, p.oneSided[look]))
	decision.Ratio, decision.Equivalence = change.Exp(), bound.Exp()
	margin := math.Log1p(smallest)
	canChange, canBound := p.twoSided[look] >= 0, p.oneSided[look] >= 0
	switch {
	case canChange && change.Low > math.Log1p(smallest/2) && change.Value >= margin:
		decision.Outcome = Worse
	case canChange && change.High < -math.Log1p(smallest/2) && change.Value <= -margin:
		decision.Outcome = Better
	case canBound && bound.Low > -margin && bound.High < margin:
		decision.Outcome = Same
	default:
		decision.More = morePairs(len(d), change, bound, margin)
	}
	return decision, nil
}

// undecidable fills in a decision for too few pairs: the widest interval there is, with the
// confidence that it has, which may be 0.
func (p *Plan) undecidable(decision Decision, averages []float64, smallest float64) Decision {
	pairs := decision.Pairs
	widest := walshInterval(averages, 0)
	decision.Ratio, decision.Equivalence = widest.Exp(), widest.Exp()
	decision.Confidence = max(0, 1-float64(p.Metrics)*math.Exp2(float64(1-pairs)))
	// The range of all values narrows no further, so it serves as the interval of the fewest pairs
	// that can decide.
	more := morePairs(p.Needs, widest, widest, math.Log1p(smallest))
	decision.More = min(MaxMore, more+p.Needs-pairs)
	return decision
}

// morePairs estimates how many more pairs would decide, for an interval that narrows with the
// square root of their number: until it leaves half the margin when the estimate is large enough to
// count, else until it fits between the margins. Where the estimate lies right at the margin no
// number does, and the answer is MaxMore.
func morePairs(pairs int, change, bound Interval, margin float64) int {
	distance, width := math.Abs(change.Value), change.Value-change.Low
	if change.Value < 0 {
		width = change.High - change.Value
	}
	if distance >= margin {
		distance -= margin / 2
	} else {
		width = max(bound.High-bound.Value, bound.Value-bound.Low)
		distance = margin - math.Abs(bound.Value)
	}
	needed := float64(pairs) * (width / distance) * (width / distance)
	more := math.Ceil(needed) - float64(pairs)
	if math.IsNaN(more) || more > MaxMore {
		return MaxMore
	}
	return max(1, int(more))
}
