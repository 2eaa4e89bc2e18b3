package bisect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"culprit/internal/bisect/search"
	"culprit/internal/stat"
)

// prove compares the candidate after a step with the one before it, in blocks that hold both ends
// too: so the same runs tell what the culprit costs, and whether the parts on either side of it
// still differ. Nil: the trials speak against it, and have become part of what is believed.
func (x *engine) prove(ctx context.Context, p part, step search.Step) (*Culprit, error) {
	before, after := p.low+step.Before, p.low+step.After
	for _, position := range []int{before, after} {
		if usable, err := x.ready(ctx, position); err != nil || !usable {
			return nil, err
		}
	}
	plan, err := x.plan(1)
	if err != nil {
		return nil, err
	}
	decision := x.begin(Decision{Purpose: forProof, Position: after})
	positions := slices.Compact([]int{p.low, before, after, p.high})
	first := len(x.blocks)
	var verdict stat.Decision
	for look := plan.Next(0); look > 0; look = plan.Next(look) {
		for decision.Blocks < look {
			x.options.Progress(fmt.Sprintf("decision %d, candidate %d against the one before: block %d of at most %d",
				decision.Number, after, decision.Blocks+1, x.options.Trials))
			if err := x.compare(ctx, decision, forProof, p, positions); err != nil {
				return nil, x.gaveUp(p, err)
			}
		}
		values, err := x.since(first, before, after)
		if err != nil {
			return nil, err
		}
		if verdict, err = plan.Decide(values, x.options.Smallest); err != nil {
			return nil, err
		}
		if verdict.Outcome != stat.Undecided {
			break
		}
	}
	decision.Outcome = Outcome(verdict.Outcome)
	wanted := Worse
	if x.fell {
		wanted = Better
	}
	if decision.Outcome != wanted && decision.Outcome != Undecided {
		return nil, nil
	}
	culprit := &Culprit{Position: after, Before: before, Outcome: decision.Outcome, Effect: effectOf(verdict, x.metric),
		Chance: step.Chance, Decision: decision.Number}
	for position := before + 1; position < after; position++ {
		culprit.Among = append(culprit.Among, position)
	}
	return culprit, nil
}

// onlyOne is the culprit of a part that holds one candidate: its effect is that of the ends.
func (x *engine) onlyOne(p part) (*Culprit, error) {
	values, err := x.differences(x.metric, "", p.low, p.high, false)
	if err != nil {
		return nil, err
	}
	effect, outcome, err := x.intervalOf(values)
	if err != nil {
		return nil, err
	}
	return &Culprit{Position: p.high, Before: p.low, Outcome: outcome, Effect: effect, Chance: 1}, nil
}

// since are ln(to/from) of the blocks from a number on.
func (x *engine) since(first, from, to int) ([]float64, error) {
	all := x.blocks
	x.blocks = all[first:]
	values, err := x.differences(x.metric, "", from, to, false)
	x.blocks = all
	return values, err
}

// rests tell whether the parts before and after a culprit still differ, by the blocks of its proof.
func (x *engine) rests(p part, c Culprit) ([]Rest, error) {
	var rests []Rest
	for _, side := range []part{{p.low, c.Before}, {c.Position, p.high}} {
		if side.low == side.high {
			continue
		}
		values, err := x.differences(x.metric, "", side.low, side.high, false)
		if err != nil {
			return nil, err
		}
		rest := Rest{Low: side.low, High: side.high}
		effect, outcome, err := x.intervalOf(values)
		if err != nil {
			return nil, err
		}
		rest.Effect, rest.Outcome = effect, outcome
		rests = append(rests, rest)
	}
	return rests, nil
}

// intervalOf is the change that these differences show, with its 95 % interval, and what to call
// it: a part is searched on when its ends plainly differ by what counts.
func (x *engine) intervalOf(values []float64) (Effect, Outcome, error) {
	interval, err := stat.HodgesLehmann(values, 1-alpha)
	if err != nil {
		if !errors.Is(err, stat.ErrTooFew) {
			return Effect{}, Undecided, err
		}
		// All of so few lie on one side of the truth by chance this often.
		effect := effectOver(centre(values), slices.Min(values), slices.Max(values), x.metric)
		effect.Confidence = max(0, 1-math.Exp2(float64(1-len(values))))
		return effect, Undecided, nil
	}
	margin := math.Log1p(x.options.Smallest)
	outcome := Undecided
	switch {
	case interval.Low > 0 && interval.Value >= margin:
		outcome = Worse
	case interval.High < 0 && interval.Value <= -margin:
		outcome = Better
	case interval.Low > -margin && interval.High < margin:
		outcome = Same
	}
	return effectOver(interval.Value, interval.Low, interval.High, x.metric), outcome, nil
}
