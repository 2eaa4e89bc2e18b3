package trial

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"culprit/internal/stat"
)

// LogRatios returns ln(B/A) of a metric for every pair of which both runs are valid, in the order
// of the pairs. sides names the two labels (sides, or levels of a knob), baseline first.
func LogRatios(runs []Run, metric string, sides [2]string) ([]float64, error) {
	pairs := pairsOf(runs, sides)
	ratios := make([]float64, len(pairs))
	for i, pair := range pairs {
		var logs [2]float64
		for at, run := range pair {
			value, err := logOf(run, metric)
			if err != nil {
				return nil, err
			}
			logs[at] = value
		}
		ratios[i] = logs[1] - logs[0]
	}
	return ratios, nil
}

// Paired returns a metric of both runs of each of these pairs, in the same order.
func Paired(runs []Run, metric string, sides [2]string) (a, b []float64) {
	for _, pair := range pairsOf(runs, sides) {
		a, b = append(a, pair[0].Metrics[metric]), append(b, pair[1].Metrics[metric])
	}
	return a, b
}

// pairsOf are the pairs of which both runs are valid, in their order.
func pairsOf(runs []Run, sides [2]string) [][2]Run {
	known, seen := map[int][2]Run{}, map[int][2]bool{}
	for _, run := range runs {
		at := slices.Index(sides[:], run.label())
		if at < 0 || !run.Valid {
			continue
		}
		pair, both := known[run.Pair], seen[run.Pair]
		pair[at], both[at] = run, true
		known[run.Pair], seen[run.Pair] = pair, both
	}
	maps.DeleteFunc(known, func(pair int, _ [2]Run) bool { return seen[pair] != [2]bool{true, true} })
	pairs := make([][2]Run, 0, len(known))
	for _, pair := range slices.Sorted(maps.Keys(known)) {
		pairs = append(pairs, known[pair])
	}
	return pairs
}

// CostLogs are the logarithms of a metric without and with the recorder, for a comparison of two
// unpaired samples. Each value has its own side's median without the recorder taken off, so that
// both sides can be put together: the recorder's cost as a ratio is exp(centre of With − centre of
// Without).
type CostLogs struct {
	Without, With []float64
}

// RecordingCost gathers what says how much slower a run is under the recorder: the runs that decide
// the metric against the evidence runs of the same side. Runs left out as disturbed do not take
// part.
func RecordingCost(runs []Run, metric string) (CostLogs, error) {
	without, with := map[string][]float64{}, map[string][]float64{}
	for _, run := range runs {
		into := without
		switch {
		case !run.Valid || run.Kind != KindMeasure && run.Kind != KindEvidence:
			continue
		case run.Kind == KindEvidence:
			into = with
		}
		value, err := logOf(run, metric)
		if err != nil {
			return CostLogs{}, err
		}
		into[run.Side] = append(into[run.Side], value)
	}
	var cost CostLogs
	for _, side := range sortedKeys(without) {
		if len(with[side]) == 0 {
			continue
		}
		center := stat.Middle(without[side])
		for _, value := range without[side] {
			cost.Without = append(cost.Without, value-center)
		}
		for _, value := range with[side] {
			cost.With = append(cost.With, value-center)
		}
	}
	return cost, nil
}

// Values returns a metric of the valid runs of one side, in their order.
func Values(runs []Run, metric, side string) []float64 {
	var values []float64
	for _, run := range runs {
		if value, found := run.Metrics[metric]; found && run.Valid && run.label() == side {
			values = append(values, value)
		}
	}
	return values
}

// label is what a run is compared by: the knob's level in a proof, the side everywhere else.
func (r Run) label() string {
	if r.Kind == KindProof && r.Level != "" {
		return r.Level
	}
	return r.Side
}

func logOf(run Run, metric string) (float64, error) {
	value, found := run.Metrics[metric]
	if !found {
		return 0, fmt.Errorf("compare metric %s: run %d of %s does not have it", metric, run.Order, run.Side)
	}
	if !(value > 0) || math.IsInf(value, 0) {
		return 0, fmt.Errorf("compare metric %s: run %d of %s has %g, and only numbers above zero have a ratio",
			metric, run.Order, run.Side, value)
	}
	return math.Log(value), nil
}
