package investigate

import (
	"context"
	"fmt"
	"math"

	"culprit/internal/stat"
)

// shownAtLeast is the part of a change, of its logarithm, that recorded runs show of a true one:
// what the recorder adds to both sides makes it smaller, by a third where it makes runs half as
// long again. Chosen.
const shownAtLeast = 0.25

// contradicted reports whether the recorded runs changed the other way than the trials decided, or
// hardly. Either the change is small beside what the recorder costs, or the trials were the one in
// twenty that decide by chance.
func (inv *investigation) contradicted(found *evidence) bool {
	decided := inv.c.Outcome == Worse || inv.c.Outcome == Better
	if !decided || inv.c.B == nil || inv.scarce != ample || inv.explained() != inv.c.Metric.Name ||
		inv.slowRuns() != nil { // most recorded runs of both sides are alike, too
		return false
	}
	a, b := stat.Middle(valuesOf(found.a, inv.explained())), stat.Middle(valuesOf(found.b, inv.explained()))
	if !(a > 0) || !(b > 0) || inv.c.Effect == nil {
		return false
	}
	return math.Log(b/a)/math.Log(inv.c.Effect.Ratio) < shownAtLeast
}

// decideAgain goes on with the trials to the next look of their plan, or as far as the time goes,
// and has all of them decide. Who stops where trials have decided errs as often as the plan allows;
// who goes on, and asks again, errs less often. It reports whether there still is something to
// explain.
func (inv *investigation) decideAgain(ctx context.Context) (explain bool, err error) {
	before, looked := inv.c.Metric.Name, inv.looked
	said, effect := inv.c.Outcome, *inv.c.Effect
	target := looked.plan.Next(looked.pairs)
	for pair := inv.pairsMade(); inv.validPairs() < target && inv.left() > inv.pairTime()+reasoningTime; pair++ {
		inv.options.Progress(fmt.Sprintf("measuring again, for recorded runs do not show it: pair %d", pair+1))
		if err := inv.onePair(ctx, pair); err != nil {
			return false, err
		}
	}
	valid := inv.validPairs()
	if target == 0 || valid <= looked.pairs {
		return true, nil // no more are planned, or there is no time
	}
	plan, look := looked.plan, target
	if valid < target {
		if plan, err = plan.EndAt(valid); err != nil {
			return false, err
		}
		look = valid
	}
	inv.c.Metrics = nil
	if err := inv.decide(plan, look); err != nil {
		return false, err
	}
	inv.summarise()
	if inv.c.Outcome == Worse || inv.c.Outcome == Better {
		return true, nil
	}
	inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf("%d pairs said %s by %s (×%.2f); the recorded runs do "+
		"not show it, and %d pairs do not say so", looked.pairs, said, before, effect.Ratio, look))
	return false, nil
}
