package cause

import (
	"fmt"
	"math"
	"slices"

	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/internal/compare/names"
	"culprit/recording"
)

// What hardware counters say of code that grew: first whether it runs more instructions or each
// takes longer, then what they wait for.

const (
	// leastCycles by which a run has to take more of them for the two parts to mean anything.
	// Chosen.
	leastCycles = 1.05
	// leastSampled samples of each side by each counter are needed to tell a function's
	// instructions from their time: of 30 the error of the ratio is a quarter. Chosen.
	leastSampled = 30
)

// misses are what an instruction waits for. One costs between least and most cycles: makers'
// optimisation guides and measurements (Agner Fog's microarchitecture.pdf; Arm's guides of Cortex-A
// and Neoverse) give 11 to 20 for a branch, some 10 for a line of the next cache and up to 400 for
// one of memory far away. Stalls are cycles.
var misses = []struct {
	event       string
	cause       ID
	least, most float64
	called      string
}{
	{"cache-misses", CacheMisses, 10, 400, "cache misses"},
	{"branch-misses", BranchMisses, 10, 25, "mispredicted branches"},
	{"stalled-cycles-frontend", FrontendStalls, 1, 1, "cycles in which no instruction was there to run"},
}

// giveCounted tells the claims on code what the counters say, and makes them what the counters show
// where instructions became slower for a reason that was counted. Samples by cycles and by
// instructions are of the function itself; counters are the whole target's, and speak of one that
// is most of what grew.
func (l *ledger) giveCounted(transfer) {
	running := func(i int) bool { return isRunning(&l.paths[i]) }
	toldOfAll := false
	for _, c := range l.claims {
		if !c.cause.is(isCode) || c.silent != "" || !l.nothingBut(c, running) {
			continue
		}
		cycles, instructions, sampled := l.sampledIn(c)
		slower := sampled && l.split(c, cycles, instructions, bySamples)
		if toldOfAll || l.grew(c) < majority*l.growth {
			continue
		}
		for _, of := range []string{"", ":u"} { // of user space alone, where that was asked for
			cycles, timed := l.counter("cycles" + of)
			instructions, counted := l.counter("instructions" + of)
			if !timed || !counted || !risen(cycles.A, cycles.B) {
				continue
			}
			if !sampled {
				slower = l.split(c, cycles, instructions, "")
			}
			if slower {
				l.blameMisses(c, of, means(instructions.A, instructions.B), means(cycles.A, cycles.B))
			}
			toldOfAll = true
			break
		}
	}
}

// bySamples ends what is said of amounts that samples stand for.
const bySamples = ", by samples in it and below"

// sampledIn adds up what a claim's function, and what it calls, retired on both sides; false where
// too few samples tell.
func (s *scene) sampledIn(c *claim) (cycles, instructions compare.Count, enough bool) {
	if len(c.place) == 0 || len(s.retired) == 0 {
		return cycles, instructions, false
	}
	function := names.KeyOf(c.place[len(c.place)-1])
	var seenCycles, seenInstructions sides
	for i := range s.retired {
		one := &s.retired[i]
		if !slices.ContainsFunc(one.Frames, func(f recording.Frame) bool { return names.KeyOf(f) == function }) {
			continue
		}
		cycles.A, cycles.B = plus(cycles.A, one.Cycles.A), plus(cycles.B, one.Cycles.B)
		instructions.A = plus(instructions.A, one.Instructions.A)
		instructions.B = plus(instructions.B, one.Instructions.B)
		seenCycles = seenCycles.plus(sides{one.Cycles.SeenA, one.Cycles.SeenB})
		seenInstructions = seenInstructions.plus(sides{one.Instructions.SeenA, one.Instructions.SeenB})
	}
	least := min(seenCycles.a, seenCycles.b, seenInstructions.a, seenInstructions.b)
	return cycles, instructions, least >= leastSampled && risen(cycles.A, cycles.B)
}

// counter gives an event's counts by run, of both sides; false where a recording lacks it.
func (s *scene) counter(name string) (count compare.Count, counted bool) {
	i := slices.IndexFunc(s.counts, func(c compare.Count) bool { return c.Name == counts.Counter+name && c.Key == "" })
	if i < 0 || len(s.counts[i].A) == 0 || len(s.counts[i].B) == 0 {
		return compare.Count{}, false
	}
	count = s.counts[i]
	return count, mean(count.A) > 0 && mean(count.B) > 0
}

// split tells how far what the code takes more is instructions, and how far time for each; slower:
// for the most part the time.
func (s *scene) split(c *claim, cycles, instructions compare.Count, how string) (slower bool) {
	work, took := means(instructions.A, instructions.B), means(cycles.A, cycles.B)
	c.add("counters", "instructions"+how, work, "instructions/run")
	c.add("counters", "cycles per instruction"+how, sides{took.a / work.a, took.b / work.b}, "cycles")
	if took.b < leastCycles*took.a {
		return false
	}
	more := math.Log(work.b/work.a) / math.Log(took.b/took.a)
	longer := risen(each(cycles.A, instructions.A), each(cycles.B, instructions.B))
	switch {
	case !longer || more > 1-majority && more < 1:
		if !longer {
			more = 1
		}
		c.notes(fmt.Sprintf("more instructions: they are %.0f %% of the growth in cycles", 100*min(more, 1)))
	case more >= 1:
		c.notes("more instructions, and each is no slower")
	default:
		c.notes(fmt.Sprintf("each instruction is slower: that is %.0f %% of the growth in cycles", 100*(1-max(more, 0))))
		return true
	}
	return false
}

// notes puts what the counters decided behind the first evidence: the first split of code that
// grew.
func (c *claim) notes(text string) {
	c.evidence = slices.Insert(c.evidence, min(1, len(c.evidence)), Evidence{Signal: "counters", Text: text})
}

// blameMisses makes a claim on code one on the misses that its instructions wait for, where they
// grew and are enough.
func (s *scene) blameMisses(c *claim, of string, work, took sides) {
	longer := took.b - took.a/work.a*work.b // cycles that the same instructions would not have taken
	best, surely := -1, 0.0
	for i, miss := range misses {
		count, counted := s.counter(miss.event + of)
		if !counted {
			continue
		}
		seen := means(count.A, count.B)
		c.add("counters", miss.called, seen, "events/run")
		more := seen.b - seen.a/work.a*work.b
		if !risen(count.A, count.B) || seen.b/work.b < manyTimes*seen.a/work.a || more*miss.most < majority*longer {
			continue
		}
		if cost := min(more*miss.least, longer); cost > surely {
			best, surely = i, cost
		}
	}
	if best >= 0 {
		c.cause = misses[best].cause
	}
}

// risen tells whether the middle half of one side's runs lies above that of the other.
func risen(a, b []float64) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return b[len(b)/4] > a[(3*len(a)-1)/4]
}

// each divides run by run.
func each(above, below []float64) []float64 {
	var out []float64
	for i := range min(len(above), len(below)) {
		if below[i] > 0 {
			out = append(out, above[i]/below[i])
		}
	}
	return out
}
