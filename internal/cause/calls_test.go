package cause

import (
	"math"
	"strings"
	"testing"

	"culprit/internal/compare"
)

// more often, dearer, and both, must be told apart for the same function and call.
func TestCallsApartFromTheirCost(t *testing.T) {
	side := func(calls int64, ms float64) plan {
		return plan{cpu: map[string]float64{work: 300, pyRun + "save;" + toWrite: ms},
			calls: map[string][2]int64{"write": {calls, calls * 20}}}
	}
	for name, c := range map[string]struct {
		a, b plan
		want string
		cost float64 // of one call in B
	}{
		"more often": {side(10_000, 20), side(100_000, 200), "more often, not dearer", 2e-6},
		"mostly":     {side(10_000, 20), side(60_000, 150), "by number", 2.5e-6},
	} {
		suspects := judged(t, "cpu", c.a, c.b, Costs{})
		if len(suspects) == 0 {
			t.Errorf("%s: no suspect", name)
			continue
		}
		found := false
		for _, evidence := range suspects[0].Evidence {
			if strings.HasPrefix(evidence.Text, "each write call") {
				found = strings.Contains(evidence.Text, c.want) && math.Abs(evidence.B-c.cost) < 0.1*c.cost && evidence.Unit == "s"
			}
		}
		if !found {
			t.Errorf("%s: evidence %+v", name, suspects[0].Evidence)
		}
	}
}

// Faults are predicted by their number and what one costs here, and only where both agree with what was seen.
func TestFaultsArePredictedByTheirNumber(t *testing.T) {
	for name, c := range map[string]struct {
		cost Cost
		want bool
	}{
		"at what one costs":  {Cost{500, 450, 550}, true},
		"at a tenth of it":   {Cost{50, 45, 55}, false},
		"what was not timed": {Cost{}, false},
	} {
		s := &scene{in: Input{Costs: Costs{Fault: c.cost}}}
		claim := &claim{id: "memory.faults"}
		s.predictFaults(claim, 200_000)
		seen := Suspect{Seconds: compare.Interval{Value: 0.1, Low: 0.09, High: 0.11}}
		if got := s.agrees(claim, seen); got != c.want {
			t.Errorf("%s: predicted %+v, agrees %v", name, claim.predicted, got)
		}
	}
}

// No suspicion without a cost: of two sides and of one, each suspect has its time, in numbers.
func TestEverySuspectHasItsCost(t *testing.T) {
	for _, one := range situations() {
		for _, suspects := range [][]Suspect{judged(t, one.metric, one.a, one.b, one.costs),
			judged(t, one.metric, one.b, plan{}, one.costs)} {
			for _, suspect := range suspects {
				if suspect.Seconds.Value == 0 || len(suspect.Evidence) == 0 || suspect.Evidence[0].Unit != "s/run" {
					t.Errorf("%s: %s has no cost: %+v", one.name, suspect.Cause, suspect)
				}
			}
		}
	}
}
