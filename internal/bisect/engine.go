package bisect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"culprit/internal/stat"
	"culprit/internal/trial"
)

// errSkip is wrapped by what makes a candidate one that cannot be measured: its build fails, or its
// command.
var errSkip = errors.New("skipped")

// lab is where candidates are made and run: this host, or a simulated one.
type lab interface {
	// prepare builds a candidate, once; it returns how long that took.
	prepare(ctx context.Context, position int) (time.Duration, error)
	// run runs the command on a candidate that was prepared.
	run(ctx context.Context, position int) (map[string]float64, error)
}

// The purposes of blocks.
const (
	forEnds  = "ends"  // do the ends differ, and how much noise is there
	forStep  = "step"  // is a candidate like one end or the other
	forProof = "proof" // is a candidate worse than the one before it
)

// reading is one run of a block.
type reading struct {
	position int
	again    bool // the second run of the good end in a block: A/A
	metrics  map[string]float64
}

// block is one run of each candidate that is compared, in random order, right after one another.
type block struct {
	purpose   string
	low, high int       // the ends of the part that it was made for
	readings  []reading // in the order in which they were made
}

// engine makes the trials that the search needs, and no more. What it does follows from the seed
// and from what the lab answers alone, so that a search that was cut short is gone through again
// from its journal.
type engine struct {
	options   Options
	lab       lab
	last      int
	metric    Metric
	fell      bool // the bad end is the faster one: the change looked for is a gain
	blocks    []block
	decisions []*Decision
	skipped   map[int]bool
	warm      map[int]bool
	buildS    []float64
	runS      []float64
	result    *Result
	plans     map[int]*stat.Plan // by metrics
}

func newEngine(options Options, last int, lab lab, result *Result) *engine {
	return &engine{options: options, lab: lab, last: last, skipped: map[int]bool{}, warm: map[int]bool{}, result: result,
		plans: map[int]*stat.Plan{}}
}

// plan says at how many blocks to look; working it out takes a while, so it is kept.
func (x *engine) plan(metrics int) (*stat.Plan, error) {
	if x.plans[metrics] == nil {
		plan, err := stat.NewPlan(x.options.Trials, metrics, alpha)
		if err != nil {
			return nil, err
		}
		x.plans[metrics] = plan
	}
	return x.plans[metrics], nil
}

// part is a stretch of candidates whose ends are compared.
type part struct{ low, high int }

// begin says that a further decision is being made.
func (x *engine) begin(decision Decision) *Decision {
	decision.Number = len(x.decisions) + 1
	x.decisions = append(x.decisions, &decision)
	return &decision
}

// made are all decisions, as they are now.
func (x *engine) made() []Decision {
	made := make([]Decision, len(x.decisions))
	for i, decision := range x.decisions {
		made[i] = *decision
	}
	return made
}

// ready builds a candidate and runs it once, for its caches; false where it is to be skipped.
func (x *engine) ready(ctx context.Context, position int) (bool, error) {
	if x.warm[position] {
		return true, nil
	}
	took, err := x.lab.prepare(ctx, position)
	if err == nil {
		if took > 0 {
			x.buildS = append(x.buildS, took.Seconds())
		}
		_, err = x.lab.run(ctx, position)
	}
	if errors.Is(err, errSkip) && position != 0 && position != x.last {
		x.skip(position, err)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	x.warm[position] = true
	return true, nil
}

func (x *engine) skip(position int, why error) {
	x.skipped[position] = true
	x.result.Skipped = append(x.result.Skipped, Skip{Position: position, Why: why.Error()})
}

// compare runs each position once, in an order that follows from the seed.
func (x *engine) compare(ctx context.Context, decision *Decision, purpose string, p part, positions []int) error {
	labels := make([]string, len(positions))
	for i := range positions {
		labels[i] = strconv.Itoa(i)
	}
	plan := trial.Plan{Seed: x.options.Seed}
	made := block{purpose: purpose, low: p.low, high: p.high}
	for _, label := range plan.Order(fmt.Sprintf("%s-%d", purpose, decision.Number), decision.Blocks, labels) {
		i := slices.Index(labels, label)
		metrics, err := x.measure(ctx, positions[i])
		if err != nil {
			return err
		}
		x.runS = append(x.runS, metrics[trial.MetricWall])
		again := slices.Index(positions, positions[i]) != i
		made.readings = append(made.readings, reading{positions[i], again, metrics})
	}
	decision.Blocks++
	decision.Runs += len(positions)
	x.blocks = append(x.blocks, made)
	return nil
}

// measure makes one run of a candidate whose command has worked before: one that fails is tried
// again, for a failure now and then is no reason to lose a candidate, let alone an end.
func (x *engine) measure(ctx context.Context, position int) (metrics map[string]float64, err error) {
	for range runsTried {
		if metrics, err = x.lab.run(ctx, position); !errors.Is(err, errSkip) {
			return metrics, err
		}
	}
	return nil, failedAt{position, err}
}

const runsTried = 3

// failedAt is a candidate whose command fails, though it has worked before.
type failedAt struct {
	position int
	error
}

func (f failedAt) Unwrap() error { return f.error }

// gaveUp skips a candidate whose command fails in the middle of a comparison; the ends of a part
// cannot be skipped.
func (x *engine) gaveUp(p part, err error) error {
	var failed failedAt
	if !errors.As(err, &failed) {
		return err
	}
	if failed.position == p.low || failed.position == p.high {
		return fmt.Errorf("%s: %w; it worked before, so it may be the host", x.options.nameOf(failed.position, x.last), err)
	}
	x.skip(failed.position, failed.error)
	return nil
}
