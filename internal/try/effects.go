package try

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"culprit/internal/stat"
	"culprit/internal/trial"
)

// The verdicts of a comparison, and of a comparison with what is allowed.
const (
	Worse     = string(stat.Worse)
	Better    = string(stat.Better)
	Same      = string(stat.Same)
	Undecided = string(stat.Undecided)
	Over      = "over"
	Within    = "within"
)

// Effect is the answer to one comparison on one metric.
type Effect struct {
	Factor      string  `json:"factor"`
	Level       string  `json:"level"`
	Against     string  `json:"against"`
	Metric      string  `json:"metric"`
	Ratio       float64 `json:"ratio"` // level / against; null when nothing could be compared
	Low         float64 `json:"low"`
	High        float64 `json:"high"`
	Confidence  float64 `json:"confidence"` // over all comparisons, metrics and looks together
	Verdict     string  `json:"verdict"`
	Blocks      int     `json:"blocks"` // that count
	More        int     `json:"more,omitempty"`
	Control     bool    `json:"control,omitempty"`
	Negative    bool    `json:"negative,omitempty"`
	Interaction bool    `json:"interaction,omitempty"`
	// Why says why it is undecided, where no number of blocks would help.
	Why string `json:"why,omitempty"`
}

// complete lists the blocks in which every condition of a comparison was run, each with its trials
// by condition.
func (x *engine) complete(c comparison) []map[int]int {
	used := c.usedBy()
	blocks := map[int]map[int]int{}
	for i, made := range x.trials {
		if made.Kind != trial.KindMeasure || made.Stage != c.stage || !used[made.Condition] || !made.counts() {
			continue
		}
		if blocks[made.Block] == nil {
			blocks[made.Block] = map[int]int{}
		}
		blocks[made.Block][made.Condition] = i
	}
	var complete []map[int]int
	for _, block := range slices.Sorted(maps.Keys(blocks)) {
		if len(blocks[block]) == len(used) {
			complete = append(complete, blocks[block])
		}
	}
	return complete
}

// block is what one complete block says about a comparison: its pairs of trials that count.
type block struct {
	terms, minus [][2]int // indexes into engine.trials: base, other
}

// judged returns the blocks of a comparison that count, and what to tell of those that do not. The
// metrics to be decided are never looked at.
func (x *engine) judged(c comparison) ([]block, trial.Verdicts) {
	complete := x.complete(c)
	pairs := slices.Concat(c.terms, c.minus)
	var runs []trial.Run
	for at, numbers := range complete {
		for k, pair := range pairs {
			for side, number := range [2]int{pair.base, pair.other} {
				made := x.trials[numbers[number]]
				runs = append(runs, trial.Run{Side: [2]string{c.against, c.level}[side], Pair: at*len(pairs) + k,
					Metrics: made.Metrics, Disturb: made.Disturb})
			}
		}
	}
	verdicts := trial.Judge(runs)
	var blocks []block
	for at, numbers := range complete {
		var kept block
		for k, pair := range pairs {
			if !verdicts.Runs[2*(at*len(pairs)+k)].Valid {
				continue
			}
			trials := [2]int{numbers[pair.base], numbers[pair.other]}
			if k < len(c.terms) {
				kept.terms = append(kept.terms, trials)
			} else {
				kept.minus = append(kept.minus, trials)
			}
		}
		if len(kept.terms) > 0 && (len(c.minus) == 0 || len(kept.minus) > 0) {
			blocks = append(blocks, kept)
		}
	}
	return blocks, verdicts
}

// fewest is how many blocks count for the open question that has the fewest.
func (x *engine) fewest(s int) int {
	least := math.MaxInt
	for c, comparison := range x.layout.stages[s].comparisons {
		if x.openComparison(s, c) {
			blocks, _ := x.judged(comparison)
			least = min(least, len(blocks))
		}
	}
	return least
}

// logRatios returns for each block ln(level/against), the mean of its pairs.
func (x *engine) logRatios(blocks []block, metric Metric) ([]float64, error) {
	logs := make([]float64, len(blocks))
	for i, block := range blocks {
		more, err := x.meanLog(block.terms, metric)
		if err != nil {
			return nil, err
		}
		less := 0.0
		if len(block.minus) > 0 {
			if less, err = x.meanLog(block.minus, metric); err != nil {
				return nil, err
			}
		}
		logs[i] = more - less
	}
	return logs, nil
}

func (x *engine) meanLog(pairs [][2]int, metric Metric) (float64, error) {
	sum := 0.0
	for _, pair := range pairs {
		base, err := x.log(pair[0], metric)
		if err != nil {
			return 0, err
		}
		other, err := x.log(pair[1], metric)
		if err != nil {
			return 0, err
		}
		sum += other - base
	}
	return sum / float64(len(pairs)), nil
}

func (x *engine) log(index int, metric Metric) (float64, error) {
	made := x.trials[index]
	value, found := made.Metrics[metric.Name]
	if !found {
		return 0, fmt.Errorf("trial %d has no %s", made.Order, metric.Name)
	}
	value += metric.Add
	if !(value > 0) || math.IsInf(value, 0) {
		return 0, fmt.Errorf("trial %d has %s %g, and only numbers above zero have a ratio", made.Order, metric.Name, value)
	}
	return math.Log(value), nil
}

// decide takes one look at each open question of a stage; over says that there will be no further
// blocks.
func (x *engine) decide(s int, plan *stat.Plan, look int, over bool) error {
	for c, comparison := range x.layout.stages[s].comparisons {
		if !x.openComparison(s, c) {
			continue
		}
		blocks, _ := x.judged(comparison)
		at, use := look, plan
		if over {
			at = min(len(blocks), plan.Looks[len(plan.Looks)-1])
			use = nil
			if at >= leastBlocks {
				var err error
				if use, err = x.plans.ended(plan, at); err != nil {
					return err
				}
			}
		}
		for _, metric := range x.experiment.Metrics {
			key := question{s, c, metric.Name}
			if x.effects[key].Verdict != "" && x.effects[key].Verdict != Undecided {
				continue
			}
			x.effects[key] = x.answer(comparison, metric, blocks, use, at)
		}
	}
	return nil
}

// answer looks at one question. What has no ratio is undecided, and says why.
func (x *engine) answer(c comparison, metric Metric, blocks []block, plan *stat.Plan, at int) Effect {
	nothing := math.NaN()
	effect := Effect{Factor: c.factor, Level: c.level, Against: c.against, Metric: metric.Name, Verdict: Undecided,
		Ratio: nothing, Low: nothing, High: nothing, Blocks: at, Control: c.control, Negative: c.negative,
		Interaction: len(c.minus) > 0}
	if plan == nil || at < leastBlocks {
		effect.Why = fmt.Sprintf("%d block counts", at)
		return effect
	}
	logs, err := x.logRatios(blocks[:at], metric)
	if err != nil {
		effect.Why = err.Error()
		return effect
	}
	if metric.Higher {
		for i := range logs {
			logs[i] = -logs[i]
		}
	}
	decision, err := plan.Decide(logs, x.experiment.Smallest)
	if err != nil {
		effect.Why = err.Error()
		return effect
	}
	if len(c.terms) == 1 && len(c.minus) == 0 { // else trials differ by more than what is compared
		base, other := x.sides(blocks[:at], metric)
		decision = plan.Apart(decision, base, other, x.experiment.Smallest)
	}
	ratio, confidence := decision.Verdict()
	effect.Verdict, effect.Confidence, effect.More = string(decision.Outcome), confidence, decision.More
	if x.experiment.Allowed > 0 {
		ratio, effect.More = decision.Equivalence, 0
		effect.Verdict = against(ratio, 1+x.experiment.Allowed, plan.Decidable)
	}
	if metric.Higher {
		ratio = stat.Interval{Value: 1 / ratio.Value, Low: 1 / ratio.High, High: 1 / ratio.Low}
	}
	effect.Ratio, effect.Low, effect.High = ratio.Value, ratio.Low, ratio.High
	return effect
}

// sides are the values of each side of a comparison of two conditions, the dearer side the higher.
func (x *engine) sides(blocks []block, metric Metric) (base, other []float64) {
	value := func(trial int) float64 { return x.trials[trial].Metrics[metric.Name] + metric.Add }
	for _, block := range blocks {
		base, other = append(base, value(block.terms[0][0])), append(other, value(block.terms[0][1]))
	}
	if metric.Higher {
		return other, base
	}
	return base, other
}

// against holds a cost against what is allowed. Each end of the interval holds with the full
// confidence, and only one of them can be wrong about a given limit.
func against(ratio stat.Interval, limit float64, decidable bool) string {
	switch {
	case !decidable:
	case ratio.Low > limit:
		return Over
	case ratio.High < limit:
		return Within
	}
	return Undecided
}
