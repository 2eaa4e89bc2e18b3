package stat

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Kinds are the runs of pairs where these are of two kinds, usual and slow ones, with nothing in
// between.
type Kinds struct {
	SlowA, SlowB   int // runs of the slow kind
	AloneA, AloneB int // pairs of which this side's run alone is slow
	Pairs          int
	Usual, Slow    float64  // medians of both kinds
	Ratio          Interval // mean(B)/mean(A), Fieller's interval
}

const (
	// clearKinds is the part of the distance between both kinds, as ratios have it, that lies between
	// the nearest runs of different kinds. Chosen: runs that scatter evenly, or around one value, have
	// less.
	clearKinds = 0.5
	// kindsAlpha is the chance that Plan.Kinds calls sides different that are the same, over all looks
	// and metrics. It comes on top of the plan's own, and is a fifth of what that usually is.
	kindsAlpha = 0.01
	// leastAlone is how many pairs whose slow run is of one side hold back that sides are the same:
	// one slow run is any host's.
	leastAlone = 2
)

// KindsOf parts the runs of pairs: a[i] and b[i] are one, and all above zero. Which side a run is
// of is not looked at. The interval has the confidence given. found is false where they are not of
// two kinds.
func KindsOf(a, b []float64, confidence float64) (kinds Kinds, found bool) {
	all := slices.Concat(a, b)
	if len(a) != len(b) || len(a) < 2 || !(slices.Min(all) > 0) {
		return kinds, false
	}
	slices.Sort(all)
	at := 1 // the first of those above the widest gap
	for i := range all {
		if i > 0 && all[i]/all[i-1] > all[at]/all[at-1] {
			at = i
		}
	}
	kinds = Kinds{Pairs: len(a), Usual: Middle(all[:at]), Slow: Middle(all[at:])}
	if all[at] == all[at-1] || math.Log(all[at]/all[at-1]) < clearKinds*math.Log(kinds.Slow/kinds.Usual) {
		return kinds, false
	}
	for i := range a {
		switch slowA, slowB := a[i] >= all[at], b[i] >= all[at]; {
		case slowA && slowB:
			kinds.SlowA, kinds.SlowB = kinds.SlowA+1, kinds.SlowB+1
		case slowA:
			kinds.SlowA, kinds.AloneA = kinds.SlowA+1, kinds.AloneA+1
		case slowB:
			kinds.SlowB, kinds.AloneB = kinds.SlowB+1, kinds.AloneB+1
		}
	}
	ratio, err := RatioOfMeans(b, a, confidence)
	kinds.Ratio = ratio // without ends where A scatters too far for the pairs that there are
	return kinds, err == nil || errors.Is(err, ErrUnbounded)
}

// chance is how likely one side has so many of the slow runs that stand alone in their pair, or
// more, where A and B are the same: either is the slow one with the same chance (McNemar 1947, the
// exact form).
func (k *Kinds) chance() float64 {
	pairs := distuv.Binomial{N: float64(k.AloneA + k.AloneB), P: 0.5}
	return min(1, 2*pairs.CDF(float64(min(k.AloneA, k.AloneB))))
}

// outcome is what the means show, Undecided where their interval is not clear of no change, or
// against what most slow runs say.
func (k *Kinds) outcome(smallest float64) Outcome {
	switch {
	case k.AloneB > k.AloneA && k.Ratio.Value >= 1+smallest && k.Ratio.Low > 1+smallest/2:
		return Worse
	case k.AloneA > k.AloneB && k.Ratio.Value <= 1/(1+smallest) && k.Ratio.High < 1/(1+smallest/2):
		return Better
	}
	return Undecided
}

// Kinds has a look decide by how often runs are slow where a change is in some runs only: what most
// of the runs do, which is what the plan compares, is then the same. a and b are the pairs of the
// look. The error rate is divided by the metrics and the looks (Bonferroni). Kinds are nil where
// they say nothing about the sides; OfMeans of the decision tells that it rests on the means, whose
// ratio it has then. Nothing is called the same whose means are not.
func (p *Plan) Kinds(decision Decision, a, b []float64, smallest float64) (Decision, *Kinds) {
	kinds, found := KindsOf(a, b, 1-p.Alpha)
	if !found || !p.Decidable || decision.Outcome == Worse || decision.Outcome == Better ||
		max(kinds.AloneA, kinds.AloneB)-min(kinds.AloneA, kinds.AloneB) < leastAlone ||
		math.Abs(math.Log(kinds.Ratio.Value)) < math.Log1p(smallest) {
		return decision, nil
	}
	level := kindsAlpha / float64(p.Metrics*len(p.Looks))
	outcome := kinds.outcome(smallest)
	if outcome != Undecided && kinds.chance() <= level {
		decision.Outcome, decision.Ratio, decision.More, decision.OfMeans = outcome, kinds.Ratio, 0, true
		return decision, &kinds
	}
	alone := float64(kinds.AloneA + kinds.AloneB)
	decision.Outcome = Undecided
	decision.More = max(1, int(math.Ceil(float64(pairsThatReach(level))*float64(kinds.Pairs)/alone))-kinds.Pairs)
	return decision, &kinds
}
