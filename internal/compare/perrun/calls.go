package perrun

import "culprit/internal/stat"

// Calls separate "more often" from "dearer" where something was counted and timed. The two parts
// add up to the change: each is taken at the mean of the other (Shapley's division for two
// factors).
type Calls struct {
	A      float64       `json:"a"` // calls per unit of work
	B      float64       `json:"b"`
	CostA  float64       `json:"cost_a"` // seconds per call
	CostB  float64       `json:"cost_b"`
	Often  stat.Interval `json:"often"`  // change because of the number of calls, in seconds
	Dearer stat.Interval `json:"dearer"` // change because of the cost of each
}

// SplitCalls divides a change of seconds by the counts of the same recordings. Nil where neither
// side counted anything. Where one side never called, all of the change is "often".
func SplitCalls(secondsA, secondsB, countA, countB []float64, confidence float64) *Calls {
	c := &Calls{A: stat.Average(countA), B: stat.Average(countB)}
	if c.A > 0 {
		c.CostA = stat.Average(secondsA) / c.A
	}
	if c.B > 0 {
		c.CostB = stat.Average(secondsB) / c.B
	}
	change := Change(secondsA, secondsB, confidence)
	switch {
	case c.A <= 0 && c.B <= 0:
		return nil
	case c.A <= 0 || c.B <= 0:
		c.Often = change
		return c
	}
	cost, count := (c.CostA+c.CostB)/2, (c.A+c.B)/2
	counted := Change(countA, countB, confidence)
	c.Often = stat.Interval{Value: counted.Value * cost, Low: counted.Low * cost,
		High: counted.High * cost}
	dear := Change(quotients(secondsA, countA, c.CostA), quotients(secondsB, countB, c.CostB),
		confidence)
	half := (dear.High - dear.Low) / 2 * count
	value := change.Value - c.Often.Value
	c.Dearer = stat.Interval{Value: value, Low: value - half, High: value + half}
	return c
}

// Over are amounts per unit of work, of which a recording has so many; nil of nil.
func (c *Calls) Over(units float64) *Calls {
	if c == nil {
		return nil
	}
	return &Calls{A: c.A / units, B: c.B / units, CostA: c.CostA, CostB: c.CostB,
		Often: c.Often.Over(units), Dearer: c.Dearer.Over(units)}
}

// quotients are the costs of a call in each recording; where one counted none, the side's mean.
func quotients(seconds, counts []float64, otherwise float64) []float64 {
	list := make([]float64, len(seconds))
	for i := range seconds {
		list[i] = otherwise
		if counts[i] > 0 {
			list[i] = seconds[i] / counts[i]
		}
	}
	return list
}
