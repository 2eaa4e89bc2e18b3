package cause

import (
	"math"

	"culprit/internal/compare"
)

// Prediction is what count × cost says that a suspect takes, beside what was observed of it.
type Prediction struct {
	Operation string           `json:"operation"` // "first touch of a page"
	Count     float64          `json:"count"`     // so many more of them, per unit of work
	CostNs    compare.Interval `json:"cost_ns"`   // of one, measured on this host
	Predicted compare.Interval `json:"predicted"` // seconds per unit of work
	Observed  compare.Interval `json:"observed"`  // the same: what the suspect accounts for
	// AtLeast marks a cost that is the least that one takes: a floor, no estimate.
	AtLeast bool `json:"at_least,omitempty"`
	Agrees  bool `json:"agrees"`
}

// tolerance is what a prediction by count × cost may be off: caches and the
// kernel's own variation between a tight loop and a real program.
const tolerance = 0.3

// predict notes what so many more operations cost here; nothing where the cost was not measured.
func (c *claim) predict(operation string, count float64, each Cost) *Prediction {
	if each.Ns <= 0 || !(count > 0) {
		return nil
	}
	seconds := func(ns float64) float64 { return count * ns / 1e9 }
	c.prediction = &Prediction{Operation: operation, Count: count,
		CostNs:    compare.Interval{Value: each.Ns, Low: each.Low, High: each.High},
		Predicted: compare.Interval{Value: seconds(each.Ns), Low: seconds(each.Low), High: seconds(each.High)}}
	return c.prediction
}

// predictAtLeast notes a floor: what the barest operation of the kind costs.
func (c *claim) predictAtLeast(operation string, count float64, each Cost) {
	if p := c.predict(operation, count, each); p != nil {
		p.AtLeast = true
	}
}

// compareWith holds a prediction against what was observed. Recording makes system calls dearer, so
// the change that trials without the recorder saw is preferred.
func (s *scene) compareWith(p Prediction, suspect Suspect, known bool) *Prediction {
	p.Observed = suspect.Seconds
	if s.swapped {
		p.Observed = negated(p.Observed)
	}
	if s.in.MeasuredChangeKnown && known {
		change := math.Abs(s.in.MeasuredChange.Value)
		p.Observed = compare.Interval{Value: suspect.Share.Value * change, Low: suspect.Share.Low * change,
			High: suspect.Share.High * change}
	}
	if !known {
		p.Observed.Low, p.Observed.High = p.Observed.Value, p.Observed.Value
	}
	low, high := p.Predicted.Low*(1-tolerance), p.Predicted.High*(1+tolerance)
	p.Agrees = low <= p.Observed.High && (p.AtLeast || high >= p.Observed.Low)
	return &p
}

func negated(of compare.Interval) compare.Interval {
	return compare.Interval{Value: -of.Value, Low: -of.High, High: -of.Low}
}
