package try

import (
	"context"
	"fmt"
	"slices"
	"time"

	"culprit/internal/stat"
	"culprit/internal/trial"
)

// alpha is the chance of any false verdict, over all looks, comparisons and metrics.
const alpha = 0.05

// slot is a trial to be made.
type slot struct {
	kind                    string
	stage, block, condition int
}

// lab is where trials are made: the real host, or a simulated one with a clock of its own.
type lab interface {
	now() time.Time
	// perform sets the levels, reads them back, makes the trial and writes it down.
	perform(ctx context.Context, at slot) (Trial, error)
	// planned writes down for how many blocks a stage was laid out.
	planned(stage, blocks int) error
}

// engine makes the trials that the verdicts need, and no more.
type engine struct {
	experiment Experiment
	layout     layout
	order      trial.Plan
	lab        lab
	plans      *planner
	progress   func(format string, words ...any)
	deadline   time.Time
	trials     []Trial
	took       map[int]time.Duration
	warm       map[int]bool
	effects    map[question]Effect
}

// question is one comparison on one metric.
type question struct {
	stage, comparison int
	metric            string
}

// newEngine lays out an experiment; records are the trials that were made before it was cut short.
func newEngine(experiment Experiment, records []Trial) (*engine, error) {
	layout, err := layOut(experiment)
	if err != nil {
		return nil, err
	}
	x := &engine{experiment: experiment, layout: layout, order: trial.Plan{Seed: experiment.Seed}, trials: records,
		plans: newPlanner(), progress: func(string, ...any) {}, took: map[int]time.Duration{}, warm: map[int]bool{},
		effects: map[question]Effect{}}
	for _, record := range records {
		x.took[record.Condition] = time.Duration(record.TookS * float64(time.Second))
	}
	return x, nil
}

// run makes all stages, one after the other.
func (x *engine) run(ctx context.Context) error {
	x.deadline = x.lab.now().Add(x.experiment.Budget)
	for s := range x.layout.stages {
		end := x.lab.now().Add(x.deadline.Sub(x.lab.now()) / time.Duration(len(x.layout.stages)-s))
		if err := x.runStage(ctx, s, end); err != nil {
			return err
		}
	}
	return nil
}

// runStage makes blocks until each question of the stage is decided, or its time is over.
func (x *engine) runStage(ctx context.Context, s int, end time.Time) error {
	plan, err := x.plan(ctx, s, end)
	if err != nil {
		return err
	}
	block, last := x.nextBlock(s), plan.Looks[len(plan.Looks)-1]
	made := x.completeBlocks(s)
	for look := plan.Next(0); look > 0; look = plan.Next(look) {
		for x.fewest(s) < look && (made < leastBlocks || x.mayGoOn(s, made, end)) {
			x.progress("%s: block %d of at most %d", x.stageName(s), made+1, last)
			if err := x.block(ctx, s, block); err != nil {
				return err
			}
			block, made = block+1, made+1
		}
		over := x.fewest(s) < look
		if err := x.decide(s, plan, look, over); err != nil {
			return err
		}
		if over || !x.open(s) {
			return nil
		}
	}
	return nil
}

// The bounds of blocks. A stage whose blocks are left out as disturbed makes up for them, within
// reason.
const (
	leastBlocks = 2
	mostBlocks  = 2 * stat.MaxPairs
)

func (x *engine) mayGoOn(s, made int, end time.Time) bool {
	if made >= mostBlocks || x.experiment.Trials > 0 && made >= x.experiment.Trials {
		return false
	}
	return x.lab.now().Add(x.blockTime(s)).Before(end)
}

// plan lays out the looks for as many blocks as there is time for; a resumed stage keeps what was
// laid out.
func (x *engine) plan(ctx context.Context, s int, end time.Time) (*stat.Plan, error) {
	family := x.layout.comparisons() * len(x.experiment.Metrics)
	if s < len(x.experiment.Planned) && x.experiment.Planned[s] > 0 {
		return x.plans.plan(x.experiment.Planned[s], family)
	}
	if err := x.warmUp(ctx, s); err != nil {
		return nil, err
	}
	block := x.blockTime(s)
	left := end.Sub(x.lab.now())
	blocks := int(left / max(block, time.Microsecond))
	if blocks < leastBlocks {
		used := x.experiment.Budget - x.deadline.Sub(x.lab.now())
		enough := used + time.Duration(len(x.layout.stages)*stagePairs)*block
		return nil, fmt.Errorf("budget %v is too short for two blocks: one block of %d takes %v; give --budget %v or more",
			x.experiment.Budget, len(x.layout.stages[s].conditions), block.Round(10*time.Millisecond),
			enough.Round(time.Second)+time.Second)
	}
	if x.experiment.Trials > 0 {
		blocks = min(blocks, x.experiment.Trials)
	}
	blocks = min(blocks, stat.MaxPairs)
	if err := x.lab.planned(s, blocks); err != nil {
		return nil, err
	}
	return x.plans.plan(blocks, family)
}

// stagePairs is how many blocks a budget that is suggested holds.
const stagePairs = 12

// warmUp runs each condition that a stage still needs once, for caches to warm and to know how long
// it takes.
func (x *engine) warmUp(ctx context.Context, s int) error {
	x.progress("%s: warming up", x.stageName(s))
	for _, number := range x.shuffled(trial.KindWarmup, s, 0, x.needed(s)) {
		if x.warm[number] {
			continue
		}
		if _, err := x.perform(ctx, slot{trial.KindWarmup, s, 0, number}); err != nil {
			return err
		}
		x.warm[number] = true
	}
	return nil
}

// block runs each condition that an open question needs once, in random order.
func (x *engine) block(ctx context.Context, s, block int) error {
	needed := x.needed(s)
	if cold := !x.warm[needed[0]]; cold {
		if err := x.warmUp(ctx, s); err != nil {
			return err
		}
	}
	for _, number := range x.shuffled(trial.KindMeasure, s, block, needed) {
		if _, err := x.perform(ctx, slot{trial.KindMeasure, s, block, number}); err != nil {
			return err
		}
	}
	return nil
}

func (x *engine) perform(ctx context.Context, at slot) (Trial, error) {
	made, err := x.lab.perform(ctx, at)
	if err != nil {
		return made, err
	}
	x.took[at.condition] = time.Duration(made.TookS * float64(time.Second))
	x.trials = append(x.trials, made)
	return made, nil
}

// shuffled is the order of a block: it follows from the seed, the stage and the block alone.
func (x *engine) shuffled(kind string, s, block int, numbers []int) []int {
	names := make([]string, len(numbers))
	for i, number := range numbers {
		names[i] = fmt.Sprint(number)
	}
	ordered := make([]int, 0, len(numbers))
	for _, name := range x.order.Order(fmt.Sprintf("%s-%d", kind, s), block, names) {
		ordered = append(ordered, numbers[slices.Index(names, name)])
	}
	return ordered
}

// needed lists the conditions that open questions of a stage use; the baseline comes first.
func (x *engine) needed(s int) []int {
	used := map[int]bool{}
	for c, comparison := range x.layout.stages[s].comparisons {
		if x.experiment.Design != Factorial && !x.openComparison(s, c) {
			continue
		}
		for number := range comparison.usedBy() {
			used[number] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(x.layout.stages[s].conditions), func(number int) bool { return !used[number] })
}

func (x *engine) openComparison(s, c int) bool {
	for _, metric := range x.experiment.Metrics {
		if effect, found := x.effects[question{s, c, metric.Name}]; !found || effect.Verdict == Undecided {
			return true
		}
	}
	return false
}

func (x *engine) open(s int) bool {
	for c := range x.layout.stages[s].comparisons {
		if x.openComparison(s, c) {
			return true
		}
	}
	return false
}

// blockTime is what the next block takes, judged by the latest trial of each condition.
func (x *engine) blockTime(s int) time.Duration {
	var total time.Duration
	for _, number := range x.needed(s) {
		total += x.took[number]
	}
	return total
}

// nextBlock is the number after the last block of a stage: one that was cut short is not filled up
// later, because what comes between would not be the same for all of it.
func (x *engine) nextBlock(s int) int {
	next := 0
	for _, made := range x.trials {
		if made.Kind == trial.KindMeasure && made.Stage == s {
			next = max(next, made.Block+1)
		}
	}
	return next
}

// completeBlocks counts the blocks of a stage in which something can be compared.
func (x *engine) completeBlocks(s int) int {
	most := 0
	for _, comparison := range x.layout.stages[s].comparisons {
		most = max(most, len(x.complete(comparison)))
	}
	return most
}

func (x *engine) stageName(s int) string {
	if len(x.layout.stages) == 1 {
		return "trying"
	}
	return "trying " + x.layout.stages[s].comparisons[0].factor
}
