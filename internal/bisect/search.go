package bisect

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"culprit/internal/bisect/search"
)

// How certain decisions are. They are chosen so that, in simulations of 200 candidates whose change
// is 1.7 times the noise, 20 of 20 are right with half as many decisions as allowed: see
// docs/decisions.
const (
	alpha        = 0.05 // chance of a false verdict on the ends, and in each proof
	stepCertain  = 0.99 // a candidate's own trials end when its class is so probable
	placeCertain = 0.95 // the search ends when the place of the step is
	leastBlocks  = 2    // of a step
	proofsEach   = 2    // tries to prove one and the same step
)

// run finds all that made the bad end worse than the good one.
func (x *engine) run(ctx context.Context) error {
	whole := part{0, x.last}
	for _, position := range []int{whole.low, whole.high} {
		if _, err := x.ready(ctx, position); err != nil {
			return fmt.Errorf("%s: %w", x.options.nameOf(position, x.last), err)
		}
	}
	outcome, err := x.compareEnds(ctx, whole)
	if err != nil || outcome == Same || outcome == Undecided {
		return err
	}
	if err := x.tellEstimate(whole); err != nil {
		return err
	}
	open := []part{whole}
	for len(open) > 0 && len(x.result.Culprits) < mostCulprits {
		p := open[0]
		found, err := x.find(ctx, p)
		if err != nil {
			return err
		}
		open = open[1:]
		if found == nil {
			continue
		}
		x.result.Culprits = append(x.result.Culprits, *found)
		rests, err := x.rests(p, *found)
		if err != nil {
			return err
		}
		for i := range rests {
			if rests[i].Differs, err = x.differs(ctx, &rests[i], *found); err != nil {
				return err
			}
			if rests[i].Differs {
				open = append(open, part{rests[i].Low, rests[i].High})
			}
		}
		x.result.Rests = slices.DeleteFunc(x.result.Rests, func(r Rest) bool { return r.Low == p.low && r.High == p.high })
		x.result.Rests = append(x.result.Rests, rests...)
		x.sortBySize(open)
	}
	return nil
}

// mostCulprits bounds the search: where more than this changed, a list of them is no answer.
const mostCulprits = 5

// sortBySize puts the part whose ends differ most first.
func (x *engine) sortBySize(open []part) {
	size := func(p part) float64 {
		for _, rest := range x.result.Rests {
			if rest.Low == p.low && rest.High == p.high {
				return math.Abs(math.Log(rest.Effect.Ratio))
			}
		}
		return 0
	}
	slices.SortStableFunc(open, func(a, b part) int { return cmp.Compare(size(b), size(a)) })
}

// find searches one part until the place of its largest step is certain, and proves it against the
// one before.
func (x *engine) find(ctx context.Context, p part) (*Culprit, error) {
	if p.high-p.low == 1 {
		return x.onlyOne(p)
	}
	tries, refuted, first := map[[2]int]int{}, 0, len(x.decisions)
	for {
		belief, err := x.belief(p)
		if err != nil {
			return nil, err
		}
		step, found := belief.Found(placeCertain)
		next, more := belief.Next()
		// The ends and the proof are decisions, too.
		over := !found && (!more || len(x.decisions)-first >= mostDecisions(p)-2)
		if !found && !over {
			if err := x.visit(ctx, p, p.low+next); err != nil {
				return nil, err
			}
			continue
		}
		if over {
			step = belief.Likeliest()
		}
		culprit, err := x.prove(ctx, p, step)
		if err != nil {
			return nil, err
		}
		place := [2]int{step.Before, step.After}
		tries[place]++
		switch {
		case culprit != nil && (culprit.Outcome != Undecided || over || tries[place] >= proofsEach):
			culprit.Open = over && len(culprit.Among) > 0
			return culprit, nil
		case culprit == nil && over:
			// What is likeliest is not so, and there is nothing left to ask: once more, by what the
			// proof showed.
			if refuted++; refuted >= proofsEach {
				return nil, nil
			}
		}
	}
}

// mostDecisions is what a search of so many candidates may take: 2.5 times what noise-free answers
// would.
func mostDecisions(p part) int {
	return max(6, int(2.5*math.Log2(float64(p.high-p.low))))
}

func (x *engine) belief(p part) (*search.Belief, error) {
	model, err := x.model(p)
	if err != nil {
		return nil, err
	}
	seen, err := x.observations(p)
	if err != nil {
		return nil, err
	}
	skipped := map[int]bool{}
	for position := range x.skipped {
		skipped[position-p.low] = true
	}
	return search.NewBelief(model, seen, skipped), nil
}

// visit is one step: blocks of both ends and the candidate, until its trials tell which end it is
// like.
func (x *engine) visit(ctx context.Context, p part, position int) error {
	usable, err := x.ready(ctx, position)
	if err != nil || !usable {
		return err
	}
	model, err := x.model(p)
	if err != nil {
		return err
	}
	decision := x.begin(Decision{Purpose: forStep, Position: position})
	most := mostBlocks(model)
	for decision.Blocks < most {
		x.options.Progress(fmt.Sprintf("decision %d, candidate %d of %d: block %d of at most %d", decision.Number, position,
			x.last, decision.Blocks+1, most))
		if err := x.compare(ctx, decision, forStep, p, []int{p.low, position, p.high}); err != nil {
			return x.gaveUp(p, err)
		}
		seen, err := x.observations(p)
		if err != nil {
			return err
		}
		if model, err = x.model(p); err != nil {
			return err
		}
		class, chance := search.Classify(model, seen[position-p.low], stepCertain)
		decision.Class, decision.Chance = class, chance
		if class != search.Open && decision.Blocks >= leastBlocks {
			return nil
		}
	}
	return nil
}

// mostBlocks is where a step's test gives up: a candidate that is still close then is told apart by
// its neighbours. It is three times what Wald's test (1945) of two normal means needs on average.
func mostBlocks(model search.Model) int {
	apart := model.Delta / (model.Noise * math.Sqrt(1.5))
	usual := 2 * math.Log(stepCertain/(1-stepCertain)) / (apart * apart)
	return min(60, max(leastBlocks+2, int(math.Ceil(3*usual))))
}
