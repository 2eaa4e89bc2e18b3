package bisect

import (
	"context"
	"fmt"
	"math"

	"culprit/internal/stat"
)

// compareEnds runs the good end twice and the bad end once in each block, until it is clear whether
// the ends differ. What the two runs of the good end differ by is the noise.
func (x *engine) compareEnds(ctx context.Context, p part) (Outcome, error) {
	decision := x.begin(Decision{Purpose: forEnds, Position: p.high})
	plan, err := x.plan(len(x.options.Metrics))
	if err != nil {
		return Undecided, err
	}
	for look := plan.Next(0); look > 0; look = plan.Next(look) {
		for decision.Blocks < look {
			x.options.Progress(fmt.Sprintf("comparing the ends: block %d of at most %d", decision.Blocks+1, x.options.Trials))
			if err := x.compare(ctx, decision, forEnds, p, []int{p.low, p.low, p.high}); err != nil {
				return Undecided, x.gaveUp(p, err)
			}
		}
		over, err := x.judgeEnds(plan, p)
		if err != nil {
			return Undecided, err
		}
		if over {
			break
		}
	}
	decision.Outcome = x.result.Outcome
	return x.result.Outcome, nil
}

// differs tells whether a part beside a culprit is worth a search of its own. Where the culprit's
// own trials say so, that may be chance, of two parts after each culprit: so the part's ends are
// compared once more, by trials of their own.
func (x *engine) differs(ctx context.Context, rest *Rest, found Culprit) (bool, error) {
	wanted := Worse
	if x.fell {
		wanted = Better
	}
	size := x.sign() * math.Log(rest.Effect.Ratio)
	if x.metric.Higher {
		size = -size
	}
	if found.Open || rest.Outcome == Same || size < math.Log1p(x.options.Smallest) {
		return false, nil
	}
	p, first := part{rest.Low, rest.High}, len(x.blocks)
	plan, err := x.plan(1)
	if err != nil {
		return false, err
	}
	decision := x.begin(Decision{Purpose: forEnds, Position: p.high})
	for look := plan.Next(0); look > 0; look = plan.Next(look) {
		for decision.Blocks < look {
			x.options.Progress(fmt.Sprintf("comparing what is left: block %d of at most %d", decision.Blocks+1,
				x.options.Trials))
			if err := x.compare(ctx, decision, forEnds, p, []int{p.low, p.high}); err != nil {
				return false, x.gaveUp(p, err)
			}
		}
		values, err := x.since(first, p.low, p.high)
		if err != nil {
			return false, err
		}
		verdict, err := plan.Decide(values, x.options.Smallest)
		if err != nil {
			return false, err
		}
		rest.Outcome, rest.Effect = Outcome(verdict.Outcome), effectOf(verdict, x.metric)
		if rest.Outcome != Undecided {
			break
		}
	}
	decision.Outcome = rest.Outcome
	return rest.Outcome == wanted, nil
}

// judgeEnds takes one look at every metric and chooses the one whose change stands out most of its
// noise.
func (x *engine) judgeEnds(plan *stat.Plan, p part) (over bool, err error) {
	clearest, open := -1.0, false
	for _, metric := range x.options.Metrics {
		spans, err := x.differences(metric, forEnds, p.low, p.high, false)
		if err != nil {
			return false, err
		}
		again, err := x.differences(metric, forEnds, p.low, p.low, true)
		if err != nil {
			return false, err
		}
		verdict, err := plan.Decide(spans, x.options.Smallest)
		if err != nil {
			return false, err
		}
		differs := verdict.Outcome == stat.Worse || verdict.Outcome == stat.Better
		open = open || verdict.Outcome == stat.Undecided
		apart := math.Abs(math.Log(verdict.Ratio.Value)) / noiseOf(again, spans)
		// What is decided goes before what is not, and what is worse before what is better.
		if differs {
			apart += decidedFirst
		}
		if verdict.Outcome == stat.Worse {
			apart += decidedFirst
		}
		if apart <= clearest {
			continue
		}
		clearest = apart
		x.metric, x.fell = metric, verdict.Outcome == stat.Better
		x.result.Metric, x.result.Outcome = metric, Outcome(verdict.Outcome)
		x.result.Effect = effectOf(verdict, metric)
		x.result.Noise, x.result.NeedBlocks = noiseOf(again, spans), verdict.More
	}
	if x.result.Outcome == Same && open {
		x.result.Outcome = Undecided
	}
	return x.result.Outcome == Worse || x.result.Outcome == Better || !open, nil
}

// decidedFirst is more than any change is times its noise.
const decidedFirst = 1e9
