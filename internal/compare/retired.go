package compare

import (
	"slices"

	"culprit/internal/compare/names"
	"culprit/internal/compare/perrun"
	"culprit/internal/compare/spent"
	"culprit/internal/compare/timeline"
	"culprit/internal/stat"
	"culprit/recording"
)

// Counted are events of the CPU that samples stand for, per run, and how many samples of equal
// weight would tell as much on each side.
type Counted struct {
	A, B         []float64
	SeenA, SeenB float64
}

// Retired is what sampling by cycles and by instructions says of one stack.
type Retired struct {
	Frames               []recording.Frame
	Cycles, Instructions Counted
}

// retiredSums are the samples of all runs by each of the two.
type retiredSums struct {
	cycles, instructions *merger
	runs                 int // that have both
	// counted are the runs of which both were counted as well, times what their samples have to be
	// multiplied with.
	counted int
	times   map[*merger][]float64
}

func newRetiredSums(sides perrun.Sides) *retiredSums {
	s := &retiredSums{cycles: newMerger(sides), instructions: newMerger(sides)}
	s.times = map[*merger][]float64{s.cycles: sides.Amounts(), s.instructions: sides.Amounts()}
	return s
}

func (s *retiredSums) add(at int, r *timeline.Run, scale float64) {
	cycles, instructions := spent.Sampled(r, recording.SignalCycles), spent.Sampled(r, recording.SignalInstructions)
	if len(cycles) > 0 && len(instructions) > 0 {
		s.runs++
	}
	ofCycles, counted := asCounted(r.Recording, "cycles", cycles)
	ofInstructions, both := asCounted(r.Recording, "instructions", instructions)
	if counted && both {
		s.counted++
	}
	s.times[s.cycles][at], s.times[s.instructions][at] = ofCycles, ofInstructions
	for _, pieces := range [][]spent.Piece{cycles, instructions} {
		for i := range pieces {
			pieces[i].Count *= scale // of squares: scaled twice
		}
	}
	s.cycles.add(at, cycles, scale)
	s.instructions.add(at, instructions, scale)
}

// scaled are amounts of each run as they were counted, where they were so in all runs: one that
// stands for its samples alone is not held against another that does not. Squares are scaled twice.
func (s *retiredSums) scaled(from *merger, amounts []float64, power int) []float64 {
	if s.counted < s.runs {
		return amounts
	}
	out := slices.Clone(amounts)
	for at, times := range s.times[from] {
		for range power {
			out[at] *= times
		}
	}
	return out
}

// asCounted is what samples of an event have to be multiplied with to stand for all that was
// counted of it: where interrupts come late, or the kernel holds them back, samples tell of too
// few.
func asCounted(rec *recording.Recording, name string, pieces []spent.Piece) (times float64, counted bool) {
	sampled := 0.0
	for i := range pieces {
		sampled += pieces[i].Seconds
	}
	for i := range rec.Counters {
		if counter := &rec.Counters[i]; counter.Name == name && counter.Scope == recording.ScopeTarget {
			total, known := counter.Estimated()
			return total / sampled, known && total > 0 && sampled > 0
		}
	}
	return 1, false
}

// list gives each stack's events; nil where a run has none: sides of which one was not sampled are
// not compared.
func (s *retiredSums) list(pool *names.Pool) []Retired {
	sides := s.cycles.sides
	if s.runs < sides.A+sides.B {
		return nil
	}
	counted := func(from *merger, key spent.Key) Counted {
		at, known := from.index[key]
		if !known {
			a, b := sides.Split(sides.Amounts())
			return Counted{A: a, B: b}
		}
		var c Counted
		c.A, c.B = sides.Split(s.scaled(from, from.rows[at].seconds, 1))
		squaresA, squaresB := sides.Split(s.scaled(from, from.rows[at].counts, 2))
		c.SeenA, c.SeenB = seen(c.A, squaresA), seen(c.B, squaresB)
		return c
	}
	var list []Retired
	for _, from := range []*merger{s.cycles, s.instructions} {
		for i := range from.rows {
			key := from.rows[i].piece.Key
			if _, known := s.cycles.index[key]; known && from != s.cycles {
				continue // it is there
			}
			list = append(list, Retired{Frames: pool.Frames(key.Stack), Cycles: counted(s.cycles, key),
				Instructions: counted(s.instructions, key)})
		}
	}
	return list
}

func seen(events, squares []float64) float64 {
	sum, all := 0.0, 0.0
	for i := range events {
		sum, all = sum+events[i], all+squares[i]
	}
	if all <= 0 {
		return 0
	}
	return sum * sum / all
}

// tally adds up what one node of a profile, and all below it, retired on one side.
type tally struct{ cycles, instructions, seenCycles, seenInstructions float64 }

// giveRetired gives each node of a profile its cycles per instruction, by the samples at and below
// it.
func (p *Profile) giveRetired(list []Retired, confidence float64) {
	if len(list) == 0 || len(p.Nodes) == 0 {
		return
	}
	type below struct {
		parent int
		key    names.Key
	}
	index, open := map[below]int{}, []int{}
	for at := range p.Nodes {
		node := &p.Nodes[at]
		open = append(open[:min(node.Depth, len(open))], at)
		if node.Depth > 0 {
			index[below{open[len(open)-2], names.Key{Name: node.Name, Kind: node.Kind}}] = at
		}
	}
	a, b := make([]tally, len(p.Nodes)), make([]tally, len(p.Nodes))
	for i := range list {
		at, known := 0, true
		c, n := &list[i].Cycles, &list[i].Instructions
		ofA := tally{stat.Average(c.A), stat.Average(n.A), c.SeenA, n.SeenA}
		ofB := tally{stat.Average(c.B), stat.Average(n.B), c.SeenB, n.SeenB}
		a[0].add(ofA)
		b[0].add(ofB)
		for _, frame := range list[i].Frames {
			if at, known = index[below{at, names.KeyOf(frame)}]; !known {
				break
			}
			a[at].add(ofA)
			b[at].add(ofB)
		}
	}
	for at := range p.Nodes {
		p.Nodes[at].CPIA, p.Nodes[at].CPIB = a[at].ratio(confidence), b[at].ratio(confidence)
	}
}

func (t *tally) add(one tally) {
	t.cycles, t.seenCycles = t.cycles+one.cycles, t.seenCycles+one.seenCycles
	t.instructions, t.seenInstructions = t.instructions+one.instructions, t.seenInstructions+one.seenInstructions
}

func (t *tally) ratio(confidence float64) *Interval {
	ratio, known := stat.SampledRatio(t.cycles, t.instructions, t.seenCycles, t.seenInstructions, confidence)
	if !known {
		return nil
	}
	return &ratio
}
