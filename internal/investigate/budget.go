package investigate

import (
	"context"
	"fmt"
	"time"

	"culprit/internal/stat"
	"culprit/internal/trial"
)

// Evidence trials: how many pairs at least, usually and at most, and what the recorder needs beside
// them.
const (
	leastEvidence  = 1
	wantedEvidence = 2 // two runs a side have a spread: the budget keeps their time where it can
	usualEvidence  = 4
	mostEvidence   = 6
	recorderStart  = 2 * time.Second // loading, on a slow machine
	reasoningTime  = 2 * time.Second // reading and comparing the recordings
	// recordedSlowing bounds how much longer a run takes under the recorder.
	recordedSlowing = 1.2
	// quickStart is what starting and reasoning take together where nothing comes between.
	quickStart = time.Second
)

// elapsed and left are the budget's two halves.
func (inv *investigation) elapsed() time.Duration { return time.Since(inv.started) }
func (inv *investigation) left() time.Duration    { return inv.budget() - inv.elapsed() }

// pairTime is what one run of each side takes, from the latest runs.
func (inv *investigation) pairTime() time.Duration {
	var total time.Duration
	for _, side := range inv.plan.Sides {
		total += inv.took[side] + runOverhead
	}
	return total
}

// runOverhead is what a run costs beside the command: the gate, the clearing away.
const runOverhead = 15 * time.Millisecond

// recordedTime is what so many pairs under the recorder take.
func (inv *investigation) recordedTime(pairs float64) time.Duration {
	if inv.live != nil { // not at once, as they are measured
		return time.Duration(pairs * 2 * float64(inv.window+runOverhead))
	}
	return time.Duration(pairs * recordedSlowing * float64(inv.pairTime()))
}

// reserve is the time that evidence with a spread needs; leastReserve that of one recorded run of
// each side, which is kept whatever else the budget is short of: a verdict that names no suspect
// answers half of the question.
func (inv *investigation) reserve() time.Duration {
	if inv.cannot != nil {
		return 0
	}
	pairs := float64(wantedEvidence)
	if inv.live != nil { // their requests, and what threads wait for, are told by recordings alone
		pairs = mostEvidence
	}
	return inv.recordedTime(pairs) + recorderStart + reasoningTime
}

func (inv *investigation) leastReserve() time.Duration {
	if inv.cannot != nil {
		return 0
	}
	if inv.live != nil {
		return inv.recordedTime(wantedEvidence) + quickStart
	}
	return inv.pairTime()*11/10 + quickStart
}

// suggest is a budget that holds so many pairs beside the evidence.
func (inv *investigation) suggest(pairs int) time.Duration {
	total := inv.pairTime()*time.Duration(pairs+1) + inv.reserve()
	return total.Round(time.Second) + time.Second
}

// suggestMore is a budget that holds so many pairs more than there are: at least what this one
// took, with all that was disturbed and left out, and those.
func (inv *investigation) suggestMore(more int) time.Duration {
	least := inv.elapsed() + inv.pairTime()*time.Duration(more)
	return max(inv.suggest(min(inv.c.A.Trials, inv.c.B.Trials)+more), least.Round(time.Second))
}

// extend returns the plan for what is left of the budget where that is longer than the plan that
// was made.
func (inv *investigation) extend(plan *stat.Plan, spare time.Duration) (*stat.Plan, time.Duration, error) {
	longer, itsSpare, err := inv.planPairs()
	if err != nil || longer.Looks[len(longer.Looks)-1] <= plan.Looks[len(plan.Looks)-1] {
		return plan, spare, err
	}
	return longer, itsSpare, nil
}

// planPairs says how many pairs the budget affords, with those that there are, and what of it they
// must spare. The evidence has its reserve; where that would leave too few pairs to decide
// anything, the least one.
func (inv *investigation) planPairs() (*stat.Plan, time.Duration, error) {
	metrics := inv.questions()
	spare := inv.reserve()
	plan, err := stat.NewPlan(max(inv.pairsBeside(spare), leastPairs), metrics, alpha)
	if err != nil || plan.Decidable {
		return plan, spare, err
	}
	spare = inv.leastReserve()
	plan, err = stat.NewPlan(max(inv.pairsBeside(spare), leastPairs), metrics, alpha)
	return plan, spare, err
}

// affordsPair says whether there is time for one more pair. Pairs that were left out are made up
// for: below the fewest that can decide, all but the least reserve may be used.
func (inv *investigation) affordsPair(plan *stat.Plan, spare time.Duration) bool {
	if inv.validPairs() < plan.Needs {
		spare = inv.leastReserve()
	}
	return inv.left() > spare+inv.pairTime()
}

// pairsBeside is how many valid pairs there may be when only so much of the budget is left.
func (inv *investigation) pairsBeside(spare time.Duration) int {
	return inv.validPairs() + max(0, int((inv.left()-spare)/inv.pairTime()))
}

// leastPairs have an interval, of whatever confidence.
const leastPairs = 2

// A budget that holds few runs has each of them count: the warm-up, and where need be those under
// the recorder. That many decide nothing, so that no verdict rests on a run that was cold or
// slowed.
type scarcity int

const (
	ample   scarcity = iota
	onePair          // the warm-up counts, and one pair beside it
	noPair           // the warm-up counts, and the recorded pair
)

// appraise says how scarce the budget is after the warm-up; an error where it holds too few runs
// for any answer.
func (inv *investigation) appraise() error {
	pair, left := inv.pairTime(), inv.left()
	switch {
	case left >= leastPairs*pair+inv.leastReserve():
		inv.scarce = ample
	case left >= 2*pair:
		inv.scarce = onePair
	case inv.cannot == nil && left >= pair+quickStart: // two more runs: recorded, they tell more
		inv.scarce = noPair
	case left >= pair:
		inv.scarce = onePair
	default:
		return fmt.Errorf("budget %v is too short for two pairs: one run of each side takes %v; give --budget %v or more",
			inv.budget(), pair.Round(10*time.Millisecond), inv.suggest(8))
	}
	return nil
}

// firstPair makes the one pair that a scarce budget holds. A warm-up may take far longer than the
// runs after it: then the budget was not scarce.
func (inv *investigation) firstPair(ctx context.Context) error {
	if inv.scarce != onePair {
		return nil
	}
	if err := inv.onePair(ctx, 0); err != nil {
		return err
	}
	if inv.left() >= inv.pairTime()+inv.leastReserve() {
		inv.scarce = ample
	}
	return nil
}

// pairsMade counts the pairs made so far for the metric, whether they count or not.
func (inv *investigation) pairsMade() int {
	made := 0
	for _, run := range inv.runs {
		if run.Kind == trial.KindMeasure {
			made++
		}
	}
	return made / len(inv.plan.Sides)
}

// measured are the runs that the metric is told by: those made for it, and where the budget is
// scarce all there are, each a pair's run as it came.
func (inv *investigation) measured() []trial.Run {
	var measured []trial.Run
	made := map[string]int{} // by side
	for _, run := range inv.runs {
		if inv.scarce == ample && run.Kind != trial.KindMeasure ||
			inv.scarce != noPair && run.Kind == trial.KindEvidence || run.Kind == trial.KindProof {
			continue
		}
		if inv.scarce != ample {
			run.Kind, run.Pair, run.Valid = trial.KindMeasure, made[run.Side], true
			made[run.Side]++
		}
		measured = append(measured, run)
	}
	return measured
}
