// Package search says where along a line of candidates a program became slower, and which candidate
// to try next. It is pure: numbers in, positions out.
//
// The candidates 0 (good) to Last (bad) have levels: the logarithm of the metric above that of the
// good end. Levels form a step function: most candidates change nothing, some change the level, and
// a level may change more than once and in both directions. A Belief is the exact posterior over
// all such functions (a hidden Markov chain over the candidates that were measured; Fearnhead 2006,
// "Exact and efficient Bayesian inference for multiple changepoint problems"). The next candidate
// is the one whose own level is least certain. Where there is one step, that is the median of where
// the step can be: the probabilistic bisection of Horstein (1963), whose convergence Burnashev &
// Zigangirov (1974) and Waeber, Frazier & Henderson (2013) show, and which Karp & Kleinberg (2007)
// call noisy binary search. Answers are not rounded to yes and no: each carries the weight of its
// trials, so that a close one is asked again when later ones contradict it.
//
//	b := search.NewBelief(search.Model{Last: 200, Delta: 0.05, Noise: 0.03}, observations, nil)
//	if step, found := b.Found(0.02, 0.95); !found { next, ok := b.Next() … }
//
// It refuses nothing: a candidate without observations is one that was not measured.
package search

import (
	"maps"
	"math"
	"slices"
)

// Model is what is known before the first candidate between the ends is tried.
type Model struct {
	Last     int     // position of the bad end; the good one is at 0
	Delta    float64 // ln(bad/good), above 0
	Noise    float64 // standard deviation of ln of one run
	Smallest float64 // smallest difference that counts, as a logarithm
}

// The assumptions, each about candidates of real programs. What they are worth is tested by
// simulation.
const (
	// ownPart is how far a candidate that changes nothing lies from its neighbours, as a part of
	// Delta: code that moves in memory runs a little faster or slower (Mytkowicz, Diwan, Hauswirth
	// & Sweeney 2009).
	ownPart = 0.12
	// strange is the chance that a candidate has a level of its own, which neither neighbour
	// shares.
	strange = 0.02
	// changes is how many candidates are expected to change the level.
	changes = 1.5
	// A change leads to the level of the bad end, of the good end, or to any.
	toBad, toGood, toAny = 0.45, 0.25, 0.30
	// binsPerDelta is how finely levels are told apart.
	binsPerDelta = 40
	// freedom of Student's distribution: one run that something came between must not decide.
	freedom = 5.0
)

// Belief is what all trials so far say about every candidate's level.
type Belief struct {
	model   Model
	levels  []float64 // of the grid
	zero    int       // index of the good end's level
	full    int       // index of the bad end's level
	nodes   []int     // the ends and what was measured, ascending
	own     [][]float64
	emits   [][]float64
	forward [][]float64 // of nodes: before their own observations
	back    [][]float64 // of nodes: after their own observations
	skipped map[int]bool
}

// NewBelief weighs all observations: for each position, ln of its runs less the mean of ln of both
// ends in the same block, so that what is common to a block cancels. Positions that are skipped
// cannot be measured.
func NewBelief(model Model, observations map[int][]float64, skipped map[int]bool) *Belief {
	b := &Belief{model: model, skipped: skipped}
	b.layGrid(observations)
	b.nodes = []int{0}
	for _, position := range slices.Sorted(maps.Keys(observations)) {
		if position > 0 && position < model.Last && len(observations[position]) > 0 {
			b.nodes = append(b.nodes, position)
		}
	}
	b.nodes = append(b.nodes, model.Last)
	b.own, b.emits = make([][]float64, len(b.nodes)), make([][]float64, len(b.nodes))
	for i, position := range b.nodes {
		switch position {
		case 0:
			b.own[i] = b.only(b.zero)
			b.emits[i] = b.own[i]
		case model.Last:
			b.own[i] = b.only(b.full)
			b.emits[i] = b.own[i]
		default:
			b.own[i] = b.likelihood(observations[position])
			b.emits[i] = b.shared(b.own[i])
		}
	}
	b.pass()
	return b
}

// layGrid covers one Delta beyond the ends, and all that was seen.
func (b *Belief) layGrid(observations map[int][]float64) {
	low, high := -1.0, 2.0 // in units of Delta
	for _, values := range observations {
		if len(values) > 0 {
			middle := median(values)/b.model.Delta + 0.5
			low, high = min(low, middle-0.5), max(high, middle+0.5)
		}
	}
	const most = 50 // Deltas; beyond it a level is as good as at the border
	below, above := int(math.Ceil(-max(low, -most)*binsPerDelta)), int(math.Ceil(min(high, most)*binsPerDelta))
	b.zero, b.full = below, below+binsPerDelta
	b.levels = make([]float64, below+above+1)
	for i := range b.levels {
		b.levels[i] = float64(i-below) / binsPerDelta * b.model.Delta
	}
}

func (b *Belief) only(at int) []float64 {
	values := make([]float64, len(b.levels))
	values[at] = 1
	return values
}

// likelihood is that of a candidate's own level, largest value 1.
func (b *Belief) likelihood(values []float64) []float64 {
	logs := make([]float64, len(b.levels))
	// A mean of two ends beside one run; the scale that gives Student's distribution a normal one's
	// middle part.
	scale := max(b.model.Noise, 1e-6) * math.Sqrt(1.5) * 0.9
	for i, level := range b.levels {
		for _, value := range values {
			z := (value + b.model.Delta/2 - level) / scale
			logs[i] -= (freedom + 1) / 2 * math.Log1p(z*z/freedom)
		}
	}
	most := slices.Max(logs)
	for i := range logs {
		logs[i] = math.Exp(logs[i] - most)
	}
	return logs
}

// shared turns the likelihood of a candidate's own level into that of the level it shares with its
// neighbours.
func (b *Belief) shared(own []float64) []float64 {
	spread := b.spread(own)
	floor := strange * mean(own)
	for i := range spread {
		spread[i] = (1-strange)*spread[i] + floor
	}
	return spread
}

// spread blurs values by how far a candidate that changes nothing lies from its neighbours.
func (b *Belief) spread(values []float64) []float64 {
	const deviation = ownPart * binsPerDelta // in bins
	reach := int(math.Ceil(3 * deviation))
	weights, sum := make([]float64, reach+1), 0.0
	for i := range weights {
		weights[i] = math.Exp(-float64(i*i) / (2 * deviation * deviation))
		sum += weights[i]
		if i > 0 {
			sum += weights[i]
		}
	}
	result := make([]float64, len(values))
	for i, value := range values {
		if value == 0 {
			continue
		}
		for j := max(0, i-reach); j <= min(len(values)-1, i+reach); j++ {
			result[j] += value * weights[max(i-j, j-i)] / sum
		}
	}
	return result
}

// pass runs the chain in both directions.
func (b *Belief) pass() {
	count := len(b.nodes)
	b.forward, b.back = make([][]float64, count), make([][]float64, count)
	b.forward[0] = uniform(len(b.levels))
	for i := 1; i < count; i++ {
		b.forward[i] = b.step(multiplied(b.forward[i-1], b.emits[i-1]), b.nodes[i]-b.nodes[i-1], false)
	}
	b.back[count-1] = b.emits[count-1]
	for i := count - 2; i >= 0; i-- {
		b.back[i] = multiplied(b.step(b.back[i+1], b.nodes[i+1]-b.nodes[i], true), b.emits[i])
		normalise(b.back[i])
	}
}

// stays is the chance that none of so many candidates changes the level.
func (b *Belief) stays(candidates int) float64 {
	hazard := min(0.5, changes/float64(b.model.Last))
	return math.Pow(1-hazard, float64(candidates))
}

// leads is the chance that a change leads to a level.
func (b *Belief) leads(level int) float64 {
	chance := toAny / float64(len(b.levels))
	switch level {
	case b.zero:
		chance += toGood
	case b.full:
		chance += toBad
	}
	return chance
}

// step moves a distribution across so many candidates.
func (b *Belief) step(values []float64, candidates int, backwards bool) []float64 {
	stay := b.stays(candidates)
	moved, result := 0.0, make([]float64, len(values))
	for i, value := range values {
		if backwards {
			moved += value * b.leads(i)
		} else {
			moved += value
		}
	}
	for i, value := range values {
		chance := 1.0
		if !backwards {
			chance = b.leads(i)
		}
		result[i] = stay*value + (1-stay)*moved*chance
	}
	normalise(result)
	return result
}
