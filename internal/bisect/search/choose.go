package search

import (
	"math"
	"slices"
)

// Step is a change of the level between two candidates that stand beside each other, or between
// which all are skipped.
type Step struct {
	Before, After int     // positions: After is the first one that has the new level, or one of those skipped before it
	Chance        float64 // that the level grows there by at least what counts
	Size          float64 // expected growth, as a logarithm
}

// Found returns the largest step whose place is as certain as asked for.
func (b *Belief) Found(certain float64) (Step, bool) {
	var best Step
	for i := 1; i < len(b.nodes); i++ {
		if b.openBetween(b.nodes[i-1], b.nodes[i]) {
			continue
		}
		step := b.across(i)
		if step.Chance >= certain && step.Size > best.Size {
			best = step
		}
	}
	return best, best.After > 0
}

// openBetween says whether a candidate between two positions could still be measured.
func (b *Belief) openBetween(before, after int) bool {
	for position := before + 1; position < after; position++ {
		if !b.skipped[position] {
			return true
		}
	}
	return false
}

// Likeliest returns the place where the level most probably grows, however uncertain it is.
func (b *Belief) Likeliest() Step {
	var best Step
	for i := 1; i < len(b.nodes); i++ {
		if step := b.across(i); step.Chance*step.Size > best.Chance*best.Size || i == 1 {
			best = step
		}
	}
	return best
}

// across is what is believed of the change between node i−1 and node i.
func (b *Belief) across(i int) Step {
	step := Step{Before: b.nodes[i-1], After: b.nodes[i]}
	stay := b.stays(step.After - step.Before)
	from := multiplied(b.forward[i-1], b.emits[i-1])
	to := b.back[i]
	counts := int(math.Ceil(min(b.model.Smallest, b.model.Delta/2) / b.model.Delta * binsPerDelta))
	all, grown, size := 0.0, 0.0, 0.0
	// below and belowLevels are sums over the levels that lie far enough below.
	below, sum, levels := 0.0, 0.0, 0.0
	for k, value := range from {
		sum += value
		levels += value * b.levels[k]
	}
	for k, value := range to {
		if k >= counts {
			below += from[k-counts]
		}
		leads := (1 - stay) * b.leads(k) * value
		all += stay*from[k]*value + leads*sum
		grown += leads * below
		size += leads * (sum*b.levels[k] - levels)
	}
	if all > 0 {
		step.Chance, step.Size = grown/all, size/all
	}
	return step
}

// Next returns the candidate whose own level is least certain, as far as that matters to what is
// looked for: none when every level is known to within a small part of what counts.
func (b *Belief) Next() (position int, found bool) {
	least := 0.05 * b.model.Delta
	best := least * least
	for i := 1; i < len(b.nodes); i++ {
		if i < len(b.nodes)-1 {
			// No new build is needed: of two that tell alike, the one that is there.
			if gain := reuse * b.ownVariance(i); gain > best {
				best, position, found = gain, b.nodes[i], true
			}
		}
		before, after := b.nodes[i-1], b.nodes[i]
		first, firstSquare := b.moments(i - 1)
		last, lastSquare := b.moments(i)
		for k := before + 1; k < after; k++ {
			if b.skipped[k] {
				continue
			}
			part := float64(k-before) / float64(after-before)
			middle := (1-part)*first + part*last
			gain := (1-part)*firstSquare + part*lastSquare - middle*middle
			gain *= b.awayFromSkipped(k, before, after)
			if gain > best {
				best, position, found = gain, k, true
			}
		}
	}
	return position, found
}

// reuse prefers a candidate that is built already.
const reuse = 1.1

// awayFromSkipped prefers candidates some way off those that cannot be built: such ones stand
// together, as git bisect takes them to.
func (b *Belief) awayFromSkipped(position, before, after int) float64 {
	nearest := math.Inf(1)
	for skipped := range b.skipped {
		if skipped > before && skipped < after {
			nearest = min(nearest, math.Abs(float64(skipped-position)))
		}
	}
	return 1 - math.Exp2(-nearest/(1+float64(after-before)/20))
}

// moments are the mean of a node's shared level and of its square.
func (b *Belief) moments(i int) (middle, square float64) {
	values := multiplied(b.forward[i], b.back[i])
	normalise(values)
	for k, value := range values {
		middle += value * b.levels[k]
		square += value * b.levels[k] * b.levels[k]
	}
	return middle, square
}

// ownVariance is how uncertain a measured candidate's own level is, after its trials and those of
// all others.
func (b *Belief) ownVariance(i int) float64 {
	others := multiplied(b.forward[i], b.step(b.back[i+1], b.nodes[i+1]-b.nodes[i], true))
	normalise(others)
	values := b.spread(others)
	for k := range values {
		values[k] = ((1-strange)*values[k] + strange/float64(len(values))) * b.own[i][k]
	}
	normalise(values)
	middle, square := 0.0, 0.0
	for k, value := range values {
		middle += value * b.levels[k]
		square += value * b.levels[k] * b.levels[k]
	}
	return max(0, square-middle*middle)
}

// Class is what the trials of one candidate alone say about its level.
type Class string

// The classes. Open: its trials do not tell yet.
const (
	LikeGood Class = "like good"
	LikeBad  Class = "like bad"
	Between  Class = "neither"
	Open     Class = "open"
)

// Classify tests one candidate against both ends by its own trials (the sequential test of several
// hypotheses of Baum & Veeravalli 1994: stop as soon as one is as probable as asked for). Chance is
// that of the class: of an end against the other end, once neither is not the likeliest.
func Classify(model Model, values []float64, certain float64) (class Class, chance float64) {
	b := NewBelief(model, map[int][]float64{1: values}, nil)
	own := b.likelihood(values)
	near := b.spread(own)
	good, bad, neither := 0.45*near[b.zero], 0.45*near[b.full], 0.10*mean(own)
	switch class, chance = LikeGood, good/(good+bad); {
	case neither > max(good, bad):
		class, chance = Between, neither/(good+bad+neither)
	case bad > good:
		class, chance = LikeBad, bad/(good+bad)
	}
	if chance < certain || math.IsNaN(chance) {
		return Open, chance
	}
	return class, chance
}

func multiplied(a, b []float64) []float64 {
	result := make([]float64, len(a))
	for i := range a {
		result[i] = a[i] * b[i]
	}
	return result
}

func normalise(values []float64) {
	sum := 0.0
	for _, value := range values {
		sum += value
	}
	if sum == 0 {
		copy(values, uniform(len(values)))
		return
	}
	for i := range values {
		values[i] /= sum
	}
}

func uniform(count int) []float64 { return slices.Repeat([]float64{1 / float64(count)}, count) }

func mean(values []float64) float64 {
	sum := 0.0
	for _, value := range values {
		sum += value
	}
	return sum / float64(len(values))
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
