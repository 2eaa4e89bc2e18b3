package investigate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"culprit/internal/cause"
	"culprit/internal/knob"
	"culprit/internal/stat"
	"culprit/internal/trial"
)

// prove puts suspects to the proof, best first, as long as the budget lasts: it flips what would
// take the suspect away, in randomised trials of the side that suffers, and puts it back.
func (inv *investigation) prove(ctx context.Context) error {
	for i := range inv.c.Suspects {
		suspect := &inv.c.Suspects[i]
		if suspect.Share.Value < leastProven {
			continue
		}
		planned, err := inv.planFlip(suspect)
		if err == nil && suspect.Tests == "" {
			suspect.Knob = planned.what
		}
		if inv.options.Prove == ProveNone || errors.Is(err, errNoFlip) {
			continue
		}
		if err == nil && inv.slowRuns() != nil {
			err = errors.New("only some runs are slow, and trials of a flip tell what it does to most of them")
		}
		if err == nil {
			err = inv.affords(&planned)
		}
		if err != nil {
			inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf("%s was not put to the proof: %v", suspect.Cause, err))
			continue
		}
		if !inv.mayFlip() || inv.options.Prove == ProveAsk && !inv.options.Ask(planned.question()) {
			inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf(
				"%s was not put to the proof: it takes trials with another %s; allow it with --prove auto",
				suspect.Cause, planned.what))
			continue
		}
		if err := inv.flip(ctx, planned, suspect); err != nil {
			return err
		}
		inv.tellFound()
	}
	return nil
}

// mayFlip reports whether a flip is allowed, or somebody is there to be asked.
func (inv *investigation) mayFlip() bool {
	return inv.options.Prove == ProveAuto || inv.options.Ask != nil
}

// leastProven is the share from which a suspect is worth trials of its own.
const leastProven = 0.1

// affords says how many pairs of trials fit into what is left of the budget.
func (inv *investigation) affords(planned *flip) error {
	pair := 2 * (inv.took[inv.suffering()] + runOverhead + planned.wait)
	if least := provePairs*pair + 2*time.Second; inv.left() < least && inv.mayFlip() {
		inv.growTo(inv.elapsed()+least, inv.runLengths())
	}
	planned.pairs = int((inv.left() - time.Second) / pair)
	if planned.pairs < provePairs {
		return fmt.Errorf("the budget is used up; give --budget %v or more",
			(inv.budget() + time.Duration(provePairs-max(planned.pairs, 0))*pair + time.Second).Round(time.Second))
	}
	planned.pairs = min(planned.pairs, 4*provePairs)
	return nil
}

// provePairs is the fewest pairs that can tell a clear effect from chance: 2^-6 two-sided.
const provePairs = 7

// suffering is the side whose metric the suspect made worse.
func (inv *investigation) suffering() string {
	if inv.c.Outcome == Worse {
		return sideB
	}
	return sideA
}

// flip runs the trials. Whatever happens, a knob is put back before it returns.
func (inv *investigation) flip(ctx context.Context, planned flip, suspect *cause.Suspect) (err error) {
	var change *knob.Change
	if planned.knob != nil {
		if change, err = knob.Begin(ctx, *planned.knob); err != nil {
			inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf("%s was not put to the proof: %v", suspect.Cause, err))
			return nil
		}
		defer func() { err = errors.Join(err, inv.putBack(change)) }()
		inv.c.Warnings = append(inv.c.Warnings, change.Warnings()...)
	}
	plan, err := stat.NewPlan(planned.pairs, 1, alpha)
	if err != nil {
		return err
	}
	levels := []string{planned.from, planned.to}
	var decision stat.Decision
	first, pair := len(inv.runs), 0
	for look := plan.Next(0); look > 0; look = plan.Next(look) {
		for ; pair < look; pair++ {
			inv.options.Progress(fmt.Sprintf("proving: %s, pair %d of at most %d", planned.what, pair+1, planned.pairs))
			for _, level := range inv.plan.Order(trial.KindProof, pair, levels) {
				err := inv.flipped(ctx, change, planned, level, pair)
				if errors.Is(err, errUndone) {
					inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf("%s was not put to the proof: %v", suspect.Cause, err))
					return nil
				}
				if err != nil {
					return err
				}
			}
		}
		logs, err := trial.LogRatios(inv.runs[first:], inv.c.Metric.Name, [2]string{levels[0], levels[1]})
		if err != nil {
			return err
		}
		if decision, err = plan.Decide(inv.lowerIsBetter(logs), inv.options.Smallest); err != nil {
			return err
		}
		if inv.verdictOf(planned, suspect, decision) != undecidedVerdict && inv.closeEnough(planned, decision) {
			break // the intervals of each look hold, whatever was seen at earlier ones
		}
	}
	inv.conclude(planned, decision, suspect, len(inv.runs)-first)
	return nil
}

// putBack ends a change. A setting that somebody else changed meanwhile is left to them and told;
// it spoils no case.
func (inv *investigation) putBack(change *knob.Change) error {
	err := change.Restore()
	var drift *knob.DriftError
	if errors.As(err, &drift) {
		inv.c.Warnings = append(inv.c.Warnings, err.Error())
		return nil
	}
	return err
}

// lowerIsBetter turns log-ratios round where higher is better.
func (inv *investigation) lowerIsBetter(logs []float64) []float64 {
	if inv.c.Metric.Better != "higher" {
		return logs
	}
	turned := make([]float64, len(logs))
	for i, log := range logs {
		turned[i] = -log
	}
	return turned
}

// flipped makes one trial at a level.
func (inv *investigation) flipped(ctx context.Context, change *knob.Change, planned flip, level string,
	pair int) error {
	if change != nil {
		if err := change.Set(planned.knob.Name(), level); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.New("interrupted; nothing was kept")
		case <-time.After(planned.wait):
		}
	}
	slot := trial.Slot{Side: inv.suffering(), Kind: trial.KindProof, Pair: pair}
	before := planned.now()
	if _, err := inv.one(ctx, slot, func(spec *trial.Spec) { planned.ready(level, spec) }); err != nil {
		return err
	}
	if after := planned.now(); before != "" && after != "" && after != before {
		return fmt.Errorf("%s was %s before a trial and %s after it: %w", planned.what, before, after, errUndone)
	}
	return nil
}

// conclude gives the suspect its verdict: see weigh.
func (inv *investigation) conclude(planned flip, decision stat.Decision, suspect *cause.Suspect, trials int) {
	effect := cause.Effect{Ratio: decision.Ratio.Value, Low: decision.Ratio.Low, High: decision.Ratio.High,
		Confidence: decision.Confidence}
	claimed, removed := claimedPart(suspect.Share, inv.c.Effect), removedPart(decision.Ratio)
	verdict := inv.verdictOf(planned, suspect, decision)
	why := reasoned(verdict, planned, claimed, removed, decision.More)
	if planned.prices {
		takePrice(suspect, priceOf(decision.Ratio, decision.Confidence))
	}
	if inv.byPrice(planned) {
		why = pricedWhy(suspect.Price, decision.More)
	} else if verdict == refutedVerdict && !planned.exact {
		verdict = undecidedVerdict
		why += "; this flip takes the cause away in part only, so that it cannot refute it"
	}
	if planned.note != "" {
		why += "; " + planned.note
	}
	proof := &cause.Proof{Knob: planned.what, From: planned.from, To: planned.to, Effect: effect,
		Trials: trials, Verdict: verdict, Why: why}
	if suspect.Tests != "" {
		suspect.TurnOut(proof)
		return
	}
	suspect.Proof = proof
	switch verdict {
	case provenVerdict:
		suspect.Level = cause.Proven
	case refutedVerdict:
		suspect.Level = cause.Refuted
	}
}
