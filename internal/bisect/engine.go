package bisect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"culprit/internal/bisect/search"
	"culprit/internal/stat"
	"culprit/internal/trial"
)

// errSkip is wrapped by what makes a candidate one that cannot be measured: its build fails, or its command.
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

// Reading is one run of a block.
type Reading struct {
	Position int     `json:"position"`
	Again    bool    `json:"again,omitempty"` // the second run of the good end in a block: A/A
	Value    float64 `json:"value"`
	metrics  map[string]float64
}

// Block is one run of each candidate that is compared, in random order, right after one another.
type Block struct {
	Decision int       `json:"decision"` // 1-based
	Purpose  string    `json:"purpose"`
	Low      int       `json:"low"`
	High     int       `json:"high"`
	Readings []Reading `json:"readings"` // in the order in which they were made
}

// engine makes the trials that the search needs, and no more. What it does follows from the seed and from what the lab
// answers alone, so that a search that was cut short is gone through again from its journal.
type engine struct {
	options   Options
	lab       lab
	last      int
	metric    Metric
	fell      bool // the bad end is the faster one: the change looked for is a gain
	blocks    []Block
	decisions []Decision
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
	x.decisions = append(x.decisions, decision)
	return &x.decisions[len(x.decisions)-1]
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

// block runs each position once, in an order that follows from the seed.
func (x *engine) block(ctx context.Context, decision *Decision, purpose string, p part, positions []int) error {
	labels := make([]string, len(positions))
	for i := range positions {
		labels[i] = strconv.Itoa(i)
	}
	plan := trial.Plan{Seed: x.options.Seed}
	block := Block{Decision: decision.Number, Purpose: purpose, Low: p.low, High: p.high}
	for _, label := range plan.Order(fmt.Sprintf("%s-%d", purpose, decision.Number), decision.Blocks, labels) {
		i := slices.Index(labels, label)
		metrics, err := x.lab.run(ctx, positions[i])
		if err != nil {
			return err
		}
		x.runS = append(x.runS, metrics[trial.MetricWall])
		again := slices.Index(positions, positions[i]) != i
		block.Readings = append(block.Readings, Reading{Position: positions[i], Again: again, metrics: metrics})
	}
	decision.Blocks++
	decision.Runs += len(positions)
	x.blocks = append(x.blocks, block)
	return nil
}

// score is the logarithm of a reading on a metric, larger for what is worse.
func score(reading Reading, metric Metric) (float64, error) {
	value, found := reading.metrics[metric.Name]
	if !found || !(value > 0) || math.IsInf(value, 0) {
		return 0, fmt.Errorf("compare metric %s: a run gave %g, and only numbers above zero have a ratio", metric.Name, value)
	}
	if metric.Higher {
		return -math.Log(value), nil
	}
	return math.Log(value), nil
}

// differences are ln(to/from) of all blocks that hold both, of one purpose or, where it is "", of any.
func (x *engine) differences(metric Metric, purpose string, from, to int, again bool) ([]float64, error) {
	var values []float64
	for _, block := range x.blocks {
		if purpose != "" && block.Purpose != purpose {
			continue
		}
		low := slices.IndexFunc(block.Readings, func(r Reading) bool { return r.Position == from && !r.Again })
		high := slices.IndexFunc(block.Readings, func(r Reading) bool { return r.Position == to && r.Again == again })
		if low < 0 || high < 0 {
			continue
		}
		a, err := score(block.Readings[low], metric)
		if err != nil {
			return nil, err
		}
		b, err := score(block.Readings[high], metric)
		if err != nil {
			return nil, err
		}
		values = append(values, b-a)
	}
	return values, nil
}

// model is what is known of a part's ends and of the noise, by all its blocks so far.
func (x *engine) model(p part) (search.Model, error) {
	model := search.Model{Last: p.high - p.low, Smallest: math.Log1p(x.options.Smallest)}
	spans, err := x.differences(x.metric, "", p.low, p.high, false)
	if err != nil {
		return model, err
	}
	again, err := x.differences(x.metric, "", p.low, p.low, true)
	if err != nil {
		return model, err
	}
	middle := centre(spans)
	model.Delta = max(x.sign()*middle, model.Smallest/2)
	model.Noise = noiseOf(again, spans)
	return model, nil
}

// noiseOf is the standard deviation of ln of one run, by differences of two that are alike and by those of two that
// are not, about their middle. Robust: a run that something came between must not make all others look certain or not.
func noiseOf(again, spans []float64) float64 {
	residuals := make([]float64, 0, len(again)+len(spans))
	for _, value := range again {
		residuals = append(residuals, math.Abs(value))
	}
	middle := centre(spans)
	for _, value := range spans {
		residuals = append(residuals, math.Abs(value-middle))
	}
	const deviationOfMedian = 1.4826
	return max(leastNoise, deviationOfMedian*stat.Middle(residuals)/math.Sqrt2)
}

// leastNoise keeps a metric that is the same in every run (a count) from dividing by zero.
const leastNoise = 1e-5

// centre is the mean without the lowest and the highest eighth: a run that something came between does not move it, and
// of normal values it is nearly as exact as the mean.
func centre(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	cut := len(sorted) / 8
	sum := 0.0
	for _, value := range sorted[cut : len(sorted)-cut] {
		sum += value
	}
	return sum / float64(len(sorted)-2*cut)
}

// sign turns a gain that is looked for into growth.
func (x *engine) sign() float64 {
	if x.fell {
		return -1
	}
	return 1
}

// observations are, for each position of a part, how far its runs lay above the mean of both ends in the same block.
func (x *engine) observations(p part) (map[int][]float64, error) {
	seen := map[int][]float64{}
	for _, block := range x.blocks {
		if block.Low != p.low || block.High != p.high || block.Purpose == forEnds {
			continue
		}
		ends, counted := 0.0, 0
		scores := make([]float64, len(block.Readings))
		for i, reading := range block.Readings {
			var err error
			if scores[i], err = score(reading, x.metric); err != nil {
				return nil, err
			}
			if reading.Position == p.low || reading.Position == p.high {
				ends, counted = ends+scores[i]/2, counted+1
			}
		}
		if counted != 2 {
			continue
		}
		for i, reading := range block.Readings {
			if reading.Position != p.low && reading.Position != p.high && !x.skipped[reading.Position] {
				at := reading.Position - p.low
				seen[at] = append(seen[at], x.sign()*(scores[i]-ends))
			}
		}
	}
	return seen, nil
}
