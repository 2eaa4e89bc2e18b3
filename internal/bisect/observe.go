package bisect

import (
	"fmt"
	"math"
	"slices"

	"culprit/internal/bisect/search"
	"culprit/internal/stat"
)

// score is the logarithm of a reading on a metric, larger for what is worse.
func score(run reading, metric Metric) (float64, error) {
	value, found := run.metrics[metric.Name]
	if !found || !(value > 0) || math.IsInf(value, 0) {
		return 0, fmt.Errorf("compare metric %s: a run gave %g, and only numbers above zero have a ratio", metric.Name, value)
	}
	if metric.Higher {
		return -math.Log(value), nil
	}
	return math.Log(value), nil
}

// differences are ln(to/from) of all blocks that hold both, of one purpose or, where it is "", of
// any.
func (x *engine) differences(metric Metric, purpose string, from, to int, again bool) ([]float64, error) {
	var values []float64
	for _, made := range x.blocks {
		if purpose != "" && made.purpose != purpose {
			continue
		}
		low := slices.IndexFunc(made.readings, func(r reading) bool { return r.position == from && !r.again })
		high := slices.IndexFunc(made.readings, func(r reading) bool { return r.position == to && r.again == again })
		if low < 0 || high < 0 {
			continue
		}
		a, err := score(made.readings[low], metric)
		if err != nil {
			return nil, err
		}
		b, err := score(made.readings[high], metric)
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

// noiseOf is the standard deviation of ln of one run, by differences of two that are alike and by
// those of two that are not, about their middle. Robust: a run that something came between must not
// make all others look certain or not.
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

// centre is the mean without the lowest and the highest eighth: a run that something came between
// does not move it, and of normal values it is nearly as exact as the mean.
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

// observations are, for each position of a part, how far its runs lay above the mean of both ends
// in the same block.
func (x *engine) observations(p part) (map[int][]float64, error) {
	seen := map[int][]float64{}
	for _, made := range x.blocks {
		if made.low != p.low || made.high != p.high || made.purpose == forEnds {
			continue
		}
		ends, counted := 0.0, 0
		scores := make([]float64, len(made.readings))
		for i, run := range made.readings {
			var err error
			if scores[i], err = score(run, x.metric); err != nil {
				return nil, err
			}
			if run.position == p.low || run.position == p.high {
				ends, counted = ends+scores[i]/2, counted+1
			}
		}
		if counted != 2 {
			continue
		}
		for i, run := range made.readings {
			if run.position != p.low && run.position != p.high && !x.skipped[run.position] {
				at := run.position - p.low
				seen[at] = append(seen[at], x.sign()*(scores[i]-ends))
			}
		}
	}
	return seen, nil
}
