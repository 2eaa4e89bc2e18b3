package cause

import (
	"fmt"
	"math"

	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/internal/compare/perrun"
)

// leastCalls is how many calls a run make a cost per call worth telling.
const leastCalls = 10

// hardly is the part of a growth that is not worth telling apart.
const hardly = 0.05

// notable is the part of a growth from which something counts in it at all: a call as evidence, a
// dependency as what brought garbage about. Chosen: less is what any code has.
const notable = 0.1

// callEvidence separates "called more often" from "dearer each time" for the system call that a
// claim's time grew most in. Nothing where the calls were not counted, or the claim is not about
// calls.
func (s *scene) callEvidence(c *claim) []Evidence {
	call := first(s.callsOf(c))
	if call == "" || c.cause.is(waitsForCPU) {
		return nil // without a CPU no call is at fault
	}
	within := &claim{}
	for _, i := range c.members {
		if s.traits[i].call == call {
			within.members = append(within.members, i)
		}
	}
	a, b := s.seconds(within)
	allA, allB := s.seconds(c)
	if own := mean(b) - mean(a); own <= 0 || own < notable*(mean(allB)-mean(allA)) {
		return nil
	}
	if s.metric == compare.MetricWall {
		// The critical path has one of the threads that call at a time, the count has all of them:
		// divided by each other they make the cost of no call. The time within the calls is of
		// those that were counted.
		if a, b = s.timeWithin(call); a == nil {
			return nil
		}
	}
	split := s.splitCalls(call, a, b)
	if split == nil || max(split.A, split.B) < leastCalls || split.CostA+split.CostB <= 0 {
		return nil
	}
	text := "each " + call + " call"
	often, dearer := split.Often.Value, split.Dearer.Value
	if split.A > 0 && split.B > 0 && often+dearer > 0 {
		switch whole := often + dearer; {
		case dearer <= hardly*whole:
			text += " (more often, not dearer)"
		case often <= hardly*whole:
			text += " (dearer, not more often)"
		default:
			text += fmt.Sprintf(" (%.0f %% of the growth by number, %.0f %% by cost)", 100*often/whole, 100*dearer/whole)
		}
	}
	return []Evidence{{Signal: "syscalls", Text: text, A: split.CostA, B: split.CostB, Unit: "s"}}
}

// splitCalls divides seconds by the number of calls of the whole tree.
func (s *scene) splitCalls(call string, a, b []float64) *perrun.Calls {
	count := s.counted(counts.Call(call, "count"), "")
	if count == nil || len(count.A) != len(a) || len(count.B) != len(b) {
		return nil
	}
	split := perrun.SplitCalls(a, b, count.A, count.B, s.confidence)
	if split == nil || math.IsNaN(split.Often.Value) {
		return nil
	}
	return split
}

// timeWithin is how long all threads were within a system call in each run; nil where that was not
// recorded.
func (s *scene) timeWithin(call string) (a, b []float64) {
	count := s.counted(counts.Call(call, "seconds"), "")
	if count == nil || mean(count.A)+mean(count.B) <= 0 {
		return nil, nil
	}
	return count.A, count.B
}

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
