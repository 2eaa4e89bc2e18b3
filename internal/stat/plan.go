package stat

import (
	"fmt"
	"math"
	"slices"
)

// MaxPairs is the most pairs that a plan uses; a larger budget is cut to it. 256 pairs tell apart
// differences of about a quarter of the noise of one pair: beyond that a longer run of each side is
// the better way to spend the time.
const MaxPairs = 256

// lookGrowth is the least ratio between the pairs of neighbouring looks. Looks in geometric steps
// are equally correlated, so none is wasted; steps of 1.3 pay at most 30 % beyond the pairs needed.
// A longer plan takes larger steps instead of more than mostLooks, because each look takes from the
// certainty of all.
const (
	lookGrowth = 1.3
	mostLooks  = 9
)

// Plan says at which numbers of pairs one may look at the data and what each look needs to decide,
// so that the chance of any false "worse" or "better", over all looks and all metrics, is at most
// the error rate given. It is a group-sequential plan with a constant nominal level (Pocock 1977;
// Jennison & Turnbull 2000, chapters 2 and 9): a look rejects when the exact signed-rank p-value is
// at most that level. Under "no change" the signs of the differences are fair coins and their ranks
// arrive in random order, whatever the noise looks like, so the joint distribution of the looks is
// known and the level is calibrated on it by simulation with a fixed seed. The error rate is
// divided by the number of metrics (Bonferroni). The numbers of pairs must not be chosen by looking
// at the data.
type Plan struct {
	// Looks are the numbers of pairs at which Decide may be called, ascending. The last one is the
	// end of the budget. It is the only one, and can only give Undecided, when Decidable is false.
	Looks []int
	// Alpha is the error rate over all looks and metrics; Metrics the number of metrics that share
	// it.
	Alpha   float64
	Metrics int
	// Decidable is false when even the clearest effect could not be told from chance with this few
	// pairs; Needs is the smallest number of pairs that could.
	Decidable bool
	Needs     int
	// twoSided[i] and oneSided[i] are the largest signed-rank sums at which look i rejects:
	// two-sided for a change, one-sided for a bound on its size (equivalence). −1: never.
	twoSided, oneSided []int
}

// NewPlan makes the plan for at most maxPairs pairs (from the budget, 2 or more) and this many
// metrics, with alpha as the two-sided error rate over all of them, 0.05 for 95 % intervals. It
// takes at most about 0.1 s of CPU time and gives the same plan each time. The first look is where
// a clear effect takes up at most a third of the error rate: 8 pairs for two metrics at 0.05, 7 for
// one.
func NewPlan(maxPairs, metrics int, alpha float64) (*Plan, error) {
	if err := checkOpenUnit("alpha", alpha); err != nil {
		return nil, fmt.Errorf("plan looks: %w", err)
	}
	if metrics < 1 {
		return nil, fmt.Errorf("plan looks: %d metrics, needs at least 1", metrics)
	}
	if maxPairs < 2 {
		return nil, fmt.Errorf("plan looks: %w: %d pairs, needs at least 2", ErrTooFew, maxPairs)
	}
	maxPairs = min(maxPairs, MaxPairs)
	perMetric := alpha / float64(metrics)
	plan := &Plan{Alpha: alpha, Metrics: metrics, Needs: pairsThatReach(perMetric)}
	if maxPairs < plan.Needs {
		return plan.endUndecidable(maxPairs), nil
	}
	plan.Decidable = true
	plan.Looks = lookSchedule(pairsThatReach(perMetric/3), maxPairs)
	plan.twoSided, plan.oneSided = calibrate(plan.Looks, perMetric)
	return plan, nil
}

// lookSchedule returns first, and then geometric steps up to last; only last when first is not
// before it.
func lookSchedule(first, last int) []int {
	if first >= last {
		return []int{last}
	}
	growth := max(lookGrowth, math.Pow(float64(last)/float64(first), 1.0/(mostLooks-1)))
	looks := []int{first}
	for {
		next := int(math.Round(float64(looks[len(looks)-1]) * growth))
		// A look close before the end costs error rate and saves nothing.
		if float64(next) > 0.9*float64(last) {
			return append(looks, last)
		}
		looks = append(looks, next)
	}
}

// Next returns the first look after so many pairs, 0 when the plan is at its end.
func (p *Plan) Next(pairs int) int {
	for _, look := range p.Looks {
		if look > pairs {
			return look
		}
	}
	return 0
}

// EndAt returns the plan for when the trials end at this many pairs, because the budget ran out or
// pairs were left out: the looks before stay as they were, and the end becomes the last look, which
// may use all of the error rate that is left. The reason for ending must not be what the metrics
// showed. It fails below 2 pairs and beyond the plan's last look.
func (p *Plan) EndAt(pairs int) (*Plan, error) {
	last := p.Looks[len(p.Looks)-1]
	if pairs < 2 {
		return nil, fmt.Errorf("end plan: %w: %d pairs, needs at least 2", ErrTooFew, pairs)
	}
	if pairs > last {
		return nil, fmt.Errorf("end plan at %d pairs: it was made for at most %d", pairs, last)
	}
	ended := &Plan{Alpha: p.Alpha, Metrics: p.Metrics, Needs: p.Needs}
	if pairs < p.Needs {
		return ended.endUndecidable(pairs), nil
	}
	ended.Decidable = true
	kept, _ := slices.BinarySearch(p.Looks, pairs)
	ended.Looks = append(slices.Clone(p.Looks[:kept]), pairs)
	perMetric := p.Alpha / float64(p.Metrics)
	ended.twoSided, ended.oneSided = calibrateLast(ended.Looks, p.twoSided[:kept], p.oneSided[:kept], perMetric)
	return ended, nil
}

// endUndecidable makes the plan's only look one that cannot decide.
func (p *Plan) endUndecidable(pairs int) *Plan {
	p.Looks = []int{pairs}
	p.twoSided, p.oneSided = []int{-1}, []int{-1}
	return p
}
