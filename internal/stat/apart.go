package stat

import (
	"slices"

	"gonum.org/v1/gonum/stat/combin"
)

// Apart has few runs decide where all runs of one side lie apart from all of the other. With fewer
// pairs than Plan.Needs no signed rank decides, whatever they show. The ranks of all runs do: where
// A and B are the same, each order of the runs is as likely, and in 2 of C(a+b, a) all of one side
// come first (Wilcoxon 1945; Mann & Whitney 1947): 1 in 126 for five of each, 1 in 35 for four.
// That has to be as unlikely as the plan asks for, and the nearest two runs of different sides have
// to differ by smallest. Runs of a pair come one after the other, which of them first by lot: what
// drifts from pair to pair makes such an order less likely.
//
// a and b are the runs of each side; where higher is better the caller swaps them. The interval
// stays as it was, with the confidence that it has.
func (p *Plan) Apart(decision Decision, a, b []float64, smallest float64) Decision {
	if p.Decidable || len(a) == 0 || len(b) == 0 {
		return decision
	}
	chance := 2 / combin.GeneralizedBinomial(float64(len(a)+len(b)), float64(len(a)))
	if chance > p.Alpha/float64(p.Metrics) {
		return decision
	}
	switch margin := 1 + smallest; {
	case slices.Min(b) >= margin*slices.Max(a):
		decision.Outcome = Worse
	case slices.Min(a) >= margin*slices.Max(b):
		decision.Outcome = Better
	default:
		return decision
	}
	decision.More = 0
	return decision
}
