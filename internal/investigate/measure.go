package investigate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"culprit/internal/explain"
	"culprit/internal/record"
	"culprit/internal/shell"
	"culprit/internal/stat"
	"culprit/internal/trial"
)

// alpha is the chance of any false "worse" or "better", over all looks and metrics.
const alpha = 0.05

// one makes a single run and keeps its result.
func (inv *investigation) one(ctx context.Context, slot trial.Slot, more func(*trial.Spec)) (trial.Run, error) {
	inv.order++
	spec := trial.Spec{Side: slot.Side, Pair: slot.Pair, Order: inv.order, Kind: slot.Kind,
		Command: inv.options.command(slot.Side), Timeout: inv.timeout(), CaseDir: inv.dir}
	if printed := inv.options.Metric.Printed; printed != nil {
		spec.Printed = []trial.Printed{*printed}
	}
	if inv.options.Allocations { // those of a shell's child are seen late
		spec.Direct = shell.Direct(spec.Command)
	}
	inv.loadInto(&spec)
	if more != nil {
		more(&spec)
	}
	begun := time.Now()
	run, err := inv.runner.Run(ctx, spec)
	if inv.lengths[inv.order] = time.Since(begun); err != nil {
		if ctx.Err() != nil {
			return run, errors.New("interrupted; nothing was kept")
		}
		if (slot.Kind == trial.KindMeasure || slot.Kind == trial.KindProof) && inv.again(err) {
			return inv.one(ctx, slot, more)
		}
		return run, err
	}
	inv.runs = append(inv.runs, run)
	inv.took[slot.Side] = inv.usual(slot)
	return run, inv.journal.Append(run)
}

// usualOf is how many of the latest runs tell how long the next one takes: one that something came
// between does not.
const usualOf = 5

// usual is how long the latest runs of a side and kind usually took.
func (inv *investigation) usual(slot trial.Slot) time.Duration {
	var walls []float64
	for i := len(inv.runs) - 1; i >= 0 && len(walls) < usualOf; i-- {
		if run := inv.runs[i]; run.Side == slot.Side && run.Kind == slot.Kind {
			walls = append(walls, inv.length(run).Seconds())
		}
	}
	return time.Duration(stat.Middle(walls) * float64(time.Second))
}

// length is how long a run took: of a server with its start, its warm-up and its end.
func (inv *investigation) length(run trial.Run) time.Duration {
	if inv.options.Load != nil {
		return inv.lengths[run.Order]
	}
	return time.Duration(run.Metrics[trial.MetricWall] * float64(time.Second))
}

// timeout of one run: what the user said, else the whole budget as it is by now, so
// that a command that never ends is found out.
func (inv *investigation) timeout() time.Duration {
	if inv.options.Timeout > 0 {
		return inv.options.Timeout
	}
	return max(inv.budget(), time.Second)
}

// warmUp runs each side once: caches warm, the time of a run known, interpreters seen.
func (inv *investigation) warmUp(ctx context.Context) error {
	inv.options.Progress("warming up")
	for _, slot := range inv.plan.Warmups(1) {
		done := make(chan struct{})
		seen := make(chan []string, 1)
		_, err := inv.one(ctx, slot, func(spec *trial.Spec) {
			spec.Ready = func(pid int) error {
				go func() { seen <- record.WatchRunTimes(pid, done) }()
				return nil
			}
		})
		close(done)
		if err != nil {
			return err
		}
		inv.runTimes = record.WithRunTimes(inv.runTimes, <-seen...)
	}
	if err := inv.checkLoad(); err != nil {
		return err
	}
	inv.grow()
	return inv.appraise()
}

// measure runs the trials that decide, without the recorder, and says whether there is something to
// explain. Too few runs to decide by are recorded as well: what they differ in is then all the
// answer there is.
func (inv *investigation) measure(ctx context.Context) (explain bool, err error) {
	if err := inv.firstPair(ctx); err != nil {
		return false, err
	}
	switch {
	case inv.scarce != ample:
		return inv.scarce == noPair || inv.left() >= inv.pairTime()+quickStart/2, inv.tellScarcity()
	case inv.c.B == nil:
		return true, inv.measureOne(ctx)
	}
	plan, spare, err := inv.planPairs()
	if err != nil {
		return false, err
	}
	pair, looked := inv.pairsMade(), false
	for look := plan.Next(0); look > 0; look = plan.Next(look) {
		for inv.validPairs() < look && (pair < leastPairs || inv.affordsPair(plan, spare)) {
			inv.options.Progress(fmt.Sprintf("measuring: pair %d of at most %d", pair+1, plan.Looks[len(plan.Looks)-1]))
			if err := inv.onePair(ctx, pair); err != nil {
				return false, err
			}
			pair++
		}
		valid := inv.validPairs()
		last := valid < look
		if !looked && !last {
			// A warm-up takes longer than the runs do, so the budget may hold more pairs. Nobody
			// looked at them yet.
			if plan, spare, err = inv.extend(plan, spare); err != nil {
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
	return inv.c.Outcome == Worse || inv.c.Outcome == Better || !plan.Decidable, nil
}

// tellScarcity warns of what the few runs are, and tells of those that there are.
func (inv *investigation) tellScarcity() error {
	also := "the warm-up counts, in which files may have been read and code compiled for the first time"
	if inv.scarce == noPair {
		also += ", and so do the recorded runs, which recording slowed"
	}
	inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf(
		"a budget of %v holds few runs of these commands: %s; give %v or more", inv.budget(), also, inv.suggest(8)))
	if inv.scarce == noPair {
		return nil // the recorded runs are still to come
	}
	return inv.tellScarce()
}

// tellScarce is the look at the runs of a scarce budget: two pairs, which decide nothing.
func (inv *investigation) tellScarce() error {
	if inv.c.B == nil {
		inv.list()
		return nil
	}
	plan, err := stat.NewPlan(leastPairs, inv.questions(), alpha)
	if err != nil {
		return err
	}
	return inv.decide(plan, leastPairs)
}

// measureOne runs a single side a few times: its median, without the recorder.
func (inv *investigation) measureOne(ctx context.Context) error {
	for pair := inv.pairsMade(); pair < leastPairs || pair < 5 && inv.left() > inv.pairTime()+inv.reserve(); pair++ {
		inv.options.Progress(fmt.Sprintf("measuring: run %d", pair+1))
		if err := inv.onePair(ctx, pair); err != nil {
			return err
		}
	}
	inv.judge()
	inv.list()
	return nil
}

// list gives a single command its outcome.
func (inv *investigation) list() {
	inv.c.Outcome = Listed
	inv.c.Metric = inv.options.Metric.Of(inv.oneSidedMetric())
}

func (inv *investigation) onePair(ctx context.Context, pair int) error {
	if inv.live != nil {
		if err := inv.watchPair(ctx, pair); err != nil {
			return err
		}
		inv.judge()
		return nil
	}
	for _, slot := range inv.plan.Pair(trial.KindMeasure, pair) {
		if _, err := inv.one(ctx, slot, nil); err != nil {
			return err
		}
	}
	inv.judge()
	inv.grow()
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
	measured := inv.measured()
	fill := func(side *SideSummary, label string) {
		values := trial.Values(measured, inv.c.Metric.Name, label)
		if inv.ofRecordings(inv.c.Metric.Name) {
			side.Trials = inv.windows[label]
			return
		}
		side.Median, side.Trials = stat.Middle(values), len(values)
	}
	fill(&inv.c.A, sideA)
	if inv.c.B != nil {
		fill(inv.c.B, sideB)
	}
	if inv.byCalls != nil && inv.c.Metric.Name == trial.MetricCPU { // else it would be that of a second
		inv.c.A.Median, inv.c.B.Median = inv.byCalls.MedianA, inv.byCalls.MedianB
	}
}

// oneSidedMetric is what to explain of a single command by its runs, until the recordings tell who
// had the CPU.
func (inv *investigation) oneSidedMetric() string {
	if name := inv.options.Metric.Name; name != "" {
		return name
	}
	if inv.options.Load != nil {
		return trial.MetricCPU
	}
	wall := stat.Middle(trial.Values(inv.runs, trial.MetricWall, sideA))
	return explain.Mostly(stat.Middle(trial.Values(inv.runs, trial.MetricCPU, sideA)), wall/inv.stretch())
}
