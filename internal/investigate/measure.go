package investigate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"culprit/internal/record"
	"culprit/internal/stat"
	"culprit/internal/trial"
)

// alpha is the chance of any false "worse" or "better", over all looks and metrics.
const alpha = 0.05

// Evidence trials: how many pairs at least and at most, and what the recorder needs beside them.
const (
	leastEvidence   = 2
	usualEvidence   = 4
	mostEvidence    = 6
	recorderStart   = 2 * time.Second // loading, on a slow machine
	reasoningTime   = 2 * time.Second // reading and comparing the recordings
	recordedSlowing = 1.2             // a run under the recorder takes at most about this much longer
)

// one makes a single run and keeps its result.
func (inv *investigation) one(ctx context.Context, slot trial.Slot, more func(*trial.Spec)) (trial.Run, error) {
	inv.order++
	spec := trial.Spec{Side: slot.Side, Pair: slot.Pair, Order: inv.order, Kind: slot.Kind,
		Command: inv.options.command(slot.Side), Timeout: inv.timeout(), CaseDir: inv.dir}
	if printed := inv.options.Metric.Printed; printed != nil {
		spec.Printed = []trial.Printed{*printed}
	}
	if more != nil {
		more(&spec)
	}
	run, err := inv.runner.Run(ctx, spec)
	if err != nil {
		if ctx.Err() != nil {
			return run, errors.New("interrupted; nothing was kept")
		}
		return run, err
	}
	inv.runs = append(inv.runs, run)
	inv.took[slot.Side] = inv.usual(slot)
	return run, inv.journal.Append(run)
}

// usualOf is how many of the latest runs tell how long the next one takes: one that something came between does not.
const usualOf = 5

// usual is how long the latest runs of a side and kind usually took.
func (inv *investigation) usual(slot trial.Slot) time.Duration {
	var walls []float64
	for i := len(inv.runs) - 1; i >= 0 && len(walls) < usualOf; i-- {
		if run := inv.runs[i]; run.Side == slot.Side && run.Kind == slot.Kind {
			walls = append(walls, run.Metrics[trial.MetricWall])
		}
	}
	return time.Duration(medianOf(walls) * float64(time.Second))
}

// timeout of one run: what the user said, else the whole budget, so that a
// command that never ends is found out.
func (inv *investigation) timeout() time.Duration {
	if inv.options.Timeout > 0 {
		return inv.options.Timeout
	}
	return max(inv.options.Budget, time.Second)
}

// warmUp runs each side once: caches warm, the time of a run known, interpreters seen.
func (inv *investigation) warmUp(ctx context.Context) error {
	inv.options.Progress("warming up")
	for _, slot := range inv.plan.Warmups(1) {
		done := make(chan struct{})
		seen := make(chan bool, 1)
		_, err := inv.one(ctx, slot, func(spec *trial.Spec) {
			spec.Ready = func(pid int) error {
				go func() { seen <- record.WatchPython(pid, done) }()
				return nil
			}
		})
		close(done)
		if err != nil {
			return err
		}
		inv.python = <-seen || inv.python
	}
	if pair := inv.pairTime(); inv.left() < 2*pair {
		return fmt.Errorf("budget %v is too short for two pairs: one run of each side takes %v; give --budget %v or more",
			inv.options.Budget, pair.Round(10*time.Millisecond), inv.suggest(8))
	}
	return nil
}

// suggest is a budget that holds so many pairs beside the evidence.
func (inv *investigation) suggest(pairs int) time.Duration {
	pair := inv.pairTime()
	total := time.Duration(float64(pair)*(float64(pairs)+1+leastEvidence*recordedSlowing)) + recorderStart + reasoningTime
	return total.Round(time.Second) + time.Second
}

// reserve is the least time that evidence needs.
func (inv *investigation) reserve() time.Duration {
	if inv.cannot != nil {
		return 0
	}
	return time.Duration(float64(inv.pairTime())*leastEvidence*recordedSlowing) + recorderStart + reasoningTime
}

// measure runs the trials that decide, without the recorder, and says whether there is something to explain.
func (inv *investigation) measure(ctx context.Context) (explain bool, err error) {
	if inv.options.B == "" {
		return true, inv.measureOne(ctx)
	}
	plan, end, err := inv.planPairs()
	if err != nil {
		return false, err
	}
	pair, looked := 0, false
	for look := plan.Next(0); look > 0; look = plan.Next(look) {
		for inv.validPairs() < look && (pair < 2 || inv.elapsed()+inv.pairTime() < inv.endFor(plan, end)) {
			inv.options.Progress(fmt.Sprintf("measuring: pair %d of at most %d", pair+1, plan.Looks[len(plan.Looks)-1]))
			if err := inv.onePair(ctx, pair); err != nil {
				return false, err
			}
			pair++
		}
		valid := inv.validPairs()
		last := valid < look
		if !looked && !last {
			// A warm-up takes longer than the runs do, so the budget may hold more pairs. Nobody looked at them yet.
			if plan, end, err = inv.extend(plan, end); err != nil {
				return false, err
			}
			if plan.Looks[0] > look {
				continue
			}
		}
		looked = true
		if last {
			if plan, err = plan.EndAt(valid); err != nil {
				return false, err
			}
			look = valid
		}
		if err := inv.decide(plan, look); err != nil {
			return false, err
		}
		if last || inv.decided() {
			break
		}
	}
	return inv.c.Outcome == Worse || inv.c.Outcome == Better, nil
}

// extend returns the plan for what is left of the budget where that is longer than the plan that was made.
func (inv *investigation) extend(plan *stat.Plan, end time.Duration) (*stat.Plan, time.Duration, error) {
	longer, laterEnd, err := inv.planPairs()
	if err != nil || longer.Looks[len(longer.Looks)-1] <= plan.Looks[len(plan.Looks)-1] {
		return plan, end, err
	}
	return longer, laterEnd, nil
}

// planPairs says how many pairs the budget affords, with those that there are, and until when they may run.
// The evidence has its reserve; but where that would leave too few pairs to
// decide anything, deciding comes first: evidence of an undecided difference explains nothing.
func (inv *investigation) planPairs() (*stat.Plan, time.Duration, error) {
	metrics := len(inv.options.Metric.names())
	end := inv.options.Budget - inv.reserve()
	plan, err := stat.NewPlan(max(inv.pairsUntil(end), 2), metrics, alpha)
	if err != nil || plan.Decidable {
		return plan, end, err
	}
	plan, err = stat.NewPlan(max(inv.pairsUntil(inv.options.Budget), 2), metrics, alpha)
	return plan, inv.options.Budget, err
}

// endFor lets pairs that were left out be made up for: below the fewest that
// can decide, the whole budget may be used.
func (inv *investigation) endFor(plan *stat.Plan, end time.Duration) time.Duration {
	if inv.validPairs() < plan.Needs {
		return inv.options.Budget
	}
	return end
}

// pairsUntil is how many valid pairs there may be then.
func (inv *investigation) pairsUntil(end time.Duration) int {
	return inv.validPairs() + max(0, int((end-inv.elapsed())/inv.pairTime()))
}

// measureOne runs a single side a few times: its median, without the recorder.
func (inv *investigation) measureOne(ctx context.Context) error {
	end := inv.options.Budget - inv.reserve()
	for pair := 0; pair < 2 || pair < 5 && inv.elapsed()+inv.pairTime() < end; pair++ {
		inv.options.Progress(fmt.Sprintf("measuring: run %d", pair+1))
		if err := inv.onePair(ctx, pair); err != nil {
			return err
		}
	}
	inv.judge()
	inv.c.Outcome = Listed
	inv.c.Metric = inv.options.Metric.metric(inv.oneSidedMetric())
	return nil
}

func (inv *investigation) onePair(ctx context.Context, pair int) error {
	for _, slot := range inv.plan.Pair(trial.KindMeasure, pair) {
		if _, err := inv.one(ctx, slot, nil); err != nil {
			return err
		}
	}
	inv.judge()
	return nil
}

// judge marks the runs that were disturbed from outside.
func (inv *investigation) judge() {
	var measured []trial.Run
	var at []int
	for i, run := range inv.runs {
		if run.Kind == trial.KindMeasure {
			measured, at = append(measured, run), append(at, i)
		}
	}
	verdicts := trial.Judge(measured)
	for i, run := range verdicts.Runs {
		inv.runs[at[i]] = run
	}
	inv.c.Excluded = verdicts.Excluded
	inv.c.Warnings = verdicts.Warnings
	inv.oneSided = nil
	for _, oneSided := range verdicts.OneSided {
		inv.oneSided = append(inv.oneSided, oneSided.Text)
		inv.c.Warnings = append(inv.c.Warnings, oneSided.Text)
	}
}

// validPairs counts the pairs whose runs all count.
func (inv *investigation) validPairs() int {
	perPair := map[int]int{}
	complete := 0
	for _, run := range inv.runs {
		if run.Kind != trial.KindMeasure || !run.Valid {
			continue
		}
		perPair[run.Pair]++
		if perPair[run.Pair] == len(inv.plan.Sides) {
			complete++
		}
	}
	return complete
}

// summarise fills in the two sides of the metric that is explained.
func (inv *investigation) summarise() {
	var measured []trial.Run
	for _, run := range inv.runs {
		if run.Kind == trial.KindMeasure {
			measured = append(measured, run)
		}
	}
	fill := func(side *SideSummary, label string) {
		values := trial.Values(measured, inv.c.Metric.Name, label)
		side.Median, side.Trials = medianOf(values), len(values)
	}
	fill(&inv.c.A, sideA)
	if inv.c.B != nil {
		fill(inv.c.B, sideB)
	}
}

// busyPart is how much of the wall time must be CPU time for the CPU to be what a single side spends.
const busyPart = 0.7

// oneSidedMetric is what to explain of a single command: the CPU when it mostly computes, else its wall time.
func (inv *investigation) oneSidedMetric() string {
	if name := inv.options.Metric.Name; name != "" {
		return name
	}
	wall := medianOf(trial.Values(inv.runs, trial.MetricWall, sideA))
	if medianOf(trial.Values(inv.runs, trial.MetricCPU, sideA)) >= busyPart*wall {
		return trial.MetricCPU
	}
	return trial.MetricWall
}
