package cause

import (
	"fmt"
	"math"

	"culprit/internal/compare"
	"culprit/internal/compare/perrun"
)

// leastCalls is how many calls a run make a cost per call worth telling.
const leastCalls = 10

// hardly is the part of a growth that is not worth telling apart.
const hardly = 0.05

// notable is the part of a claim's growth that a call's own time must make up to stand as evidence
// of it: a call in the code that grew has noise of its own.
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
	count := s.counted("syscall."+call+".count", "")
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
	count := s.counted("syscall."+call+".seconds", "")
	if count == nil || mean(count.A)+mean(count.B) <= 0 {
		return nil, nil
	}
	return count.A, count.B
}
