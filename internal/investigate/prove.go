package investigate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"culprit/internal/cause"
	"culprit/internal/knob"
	"culprit/internal/stat"
	"culprit/internal/trial"
)

// prove flips the knob of the first suspect that has one, in randomised trials
// of the side that suffers, and puts the knob back.
func (inv *investigation) prove(ctx context.Context) error {
	if inv.options.Prove == ProveNone {
		return nil
	}
	for i := range inv.c.Suspects {
		suspect := &inv.c.Suspects[i]
		if suspect.Knob == "" {
			continue
		}
		flip, err := inv.planFlip(suspect.Knob)
		if err != nil {
			inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf("%s was not put to the proof: %v", suspect.Cause, err))
			return nil
		}
		if inv.options.Prove == ProveAsk && (inv.options.Ask == nil || !inv.options.Ask(flip.question())) {
			inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf(
				"%s was not put to the proof: it takes flipping %s on this host; allow it with --prove auto",
				suspect.Cause, suspect.Knob))
			return nil
		}
		return inv.flip(ctx, flip, suspect)
	}
	return nil
}

// flip is a planned proof.
type flip struct {
	knob     knob.Knob
	from, to string
	pairs    int
}

func (f flip) question() string {
	return fmt.Sprintf("Flip %s from %s to %s in up to %d trials to prove it (it is put back)?",
		f.knob.Name(), f.from, f.to, 2*f.pairs)
}

// planFlip chooses the other level and how many pairs of trials fit into what is left of the budget.
func (inv *investigation) planFlip(name string) (flip, error) {
	found, err := knob.Find(name, knob.Target{})
	if err != nil {
		return flip{}, err
	}
	current, err := found.Current()
	if err != nil {
		return flip{}, err
	}
	allowed, err := found.Allowed()
	if err != nil {
		return flip{}, err
	}
	allowed = slices.DeleteFunc(allowed, func(value string) bool { return value == current })
	if len(allowed) == 0 {
		return flip{}, fmt.Errorf("this host offers no other %s than %s", name, current)
	}
	// The kernel lists clock sources best first.
	planned := flip{knob: found, from: current, to: allowed[0]}
	pair := 2 * (inv.took[inv.suffering()] + runOverhead)
	planned.pairs = int((inv.left() - time.Second) / pair)
	if needs := provePairs; planned.pairs < needs {
		return flip{}, fmt.Errorf("the budget is used up; give --budget %v or more",
			(inv.options.Budget + time.Duration(needs-max(planned.pairs, 0))*pair + time.Second).Round(time.Second))
	}
	planned.pairs = min(planned.pairs, 4*provePairs)
	return planned, nil
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

// flip runs the trials. Whatever happens, the knob is put back before it returns.
func (inv *investigation) flip(ctx context.Context, planned flip, suspect *cause.Suspect) (err error) {
	change, err := knob.Begin(ctx, planned.knob)
	if err != nil {
		inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf("%s was not put to the proof: %v", suspect.Cause, err))
		return nil
	}
	defer func() { err = errors.Join(err, change.Restore()) }()
	inv.c.Warnings = append(inv.c.Warnings, change.Warnings()...)
	plan, err := stat.NewPlan(planned.pairs, 1, alpha)
	if err != nil {
		return err
	}
	levels := []string{planned.from, planned.to}
	var decision stat.Decision
	pair := 0
	for look := plan.Next(0); look > 0; look = plan.Next(look) {
		for ; pair < look; pair++ {
			inv.options.Progress(fmt.Sprintf("proving: %s, pair %d of at most %d", planned.knob.Name(), pair+1, planned.pairs))
			for _, level := range inv.plan.Order(trial.KindProof, pair, levels) {
				if err := inv.flipped(ctx, change, planned.knob.Name(), level, pair); err != nil {
					return err
				}
			}
		}
		logs, err := trial.LogRatios(inv.proofs(), inv.c.Metric.Name, [2]string{levels[0], levels[1]})
		if err != nil {
			return err
		}
		if decision, err = plan.Decide(inv.lowerIsBetter(logs), inv.options.Smallest); err != nil {
			return err
		}
		if weigh(claimedPart(suspect.Share, inv.c.Effect), removedPart(decision.Ratio)) != undecidedVerdict {
			break // the intervals of each look hold, whatever was seen at earlier ones
		}
	}
	inv.conclude(planned, decision, suspect)
	return nil
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

func (inv *investigation) flipped(ctx context.Context, change *knob.Change, name, level string, pair int) error {
	if err := change.Set(name, level); err != nil {
		return err
	}
	slot := trial.Slot{Side: inv.suffering(), Kind: trial.KindProof, Pair: pair}
	_, err := inv.one(ctx, slot, func(spec *trial.Spec) { spec.Level = level })
	return err
}

// proofs are the proof's runs so far; those disturbed from outside do not count.
func (inv *investigation) proofs() []trial.Run {
	var proofs []trial.Run
	for _, run := range inv.runs {
		if run.Kind == trial.KindProof {
			proofs = append(proofs, run)
		}
	}
	return proofs
}

// conclude gives the suspect its verdict: see weigh.
func (inv *investigation) conclude(planned flip, decision stat.Decision, suspect *cause.Suspect) {
	effect := cause.Effect{Ratio: decision.Ratio.Value, Low: decision.Ratio.Low, High: decision.Ratio.High,
		Confidence: decision.Confidence}
	claimed, removed := claimedPart(suspect.Share, inv.c.Effect), removedPart(decision.Ratio)
	verdict := weigh(claimed, removed)
	suspect.Proof = &cause.Proof{Knob: planned.knob.Name(), From: planned.from, To: planned.to, Effect: effect,
		Trials: len(inv.proofs()), Verdict: verdict, Why: explain(verdict, planned, claimed, removed, decision.More)}
	switch verdict {
	case provenVerdict:
		suspect.Level = cause.Proven
	case refutedVerdict:
		suspect.Level = cause.Refuted
	}
}
