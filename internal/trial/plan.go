package trial

import (
	"hash/fnv"
	"math/rand/v2"
)

// Slot is a place in the order of runs.
type Slot struct {
	Side string
	Kind string
	Pair int
}

// Plan decides the order of runs from a seed: the same seed gives the same order, whatever was
// asked for before. Within a pair the order is random; every two pairs hold both orders (permuted
// blocks), so that what the first run of a pair does to the second, and steady drift, cancel
// however early the trials stop.
type Plan struct {
	Seed  int64
	Sides []string // one or two
}

// Pair returns the slots of one pair in the order in which to run them.
func (p Plan) Pair(kind string, pair int) []Slot {
	slots := make([]Slot, 0, len(p.Sides))
	for _, side := range p.Order(kind, pair, p.Sides) {
		slots = append(slots, Slot{Side: side, Kind: kind, Pair: pair})
	}
	return slots
}

// Warmups returns the slots of the runs that come first and are discarded: each side the given
// number of times.
func (p Plan) Warmups(times int) []Slot {
	var slots []Slot
	for pair := range times {
		slots = append(slots, p.Pair(KindWarmup, pair)...)
	}
	return slots
}

// Order returns the labels (sides, or the levels of a knob) of one round in random order. Two
// labels are balanced over two rounds; more are permuted independently in each round.
func (p Plan) Order(kind string, round int, labels []string) []string {
	ordered := append([]string(nil), labels...)
	name := fnv.New64a()
	name.Write([]byte(kind))
	if len(labels) != 2 {
		random := rand.New(rand.NewPCG(uint64(p.Seed), name.Sum64()+uint64(round)))
		random.Shuffle(len(ordered), func(i, j int) { ordered[i], ordered[j] = ordered[j], ordered[i] })
		return ordered
	}
	random := rand.New(rand.NewPCG(uint64(p.Seed), name.Sum64()+uint64(round/2)))
	if swapFirst := random.IntN(2) == 1; swapFirst != (round%2 == 1) {
		ordered[0], ordered[1] = ordered[1], ordered[0]
	}
	return ordered
}
