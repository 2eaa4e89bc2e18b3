package compare

import (
	"math"

	"culprit/internal/stat"
)

// Change returns mean(b) − mean(a) with the interval that the spread between
// runs allows; with one run on a side nothing is known about the spread, so
// the interval is as wide as the values themselves. One-sided: the mean of a.
func Change(a, b []float64, confidence float64) Interval {
	if len(b) == 0 {
		if estimate, err := stat.Mean(a, confidence); err == nil {
			return Interval(estimate)
		}
		return Interval{Value: mean(a), Low: 0, High: 2 * mean(a)}
	}
	if estimate, err := stat.MeanDifference(a, b, confidence); err == nil {
		return Interval(estimate)
	}
	value, wide := mean(b)-mean(a), math.Abs(mean(a))+math.Abs(mean(b))
	return Interval{Value: value, Low: value - wide, High: value + wide}
}

// shareLimit bounds shares whose interval is unbounded: ten times the change says "unknown" and fits into JSON.
const shareLimit = 10

// Share returns the part of the change of a metric that an item accounts for.
// All vectors hold one value per run; one-sided, b and metricB are empty and the
// share is that of the metric itself. Known is false where the spread between
// runs is unknown or the metric's change cannot be told from zero.
func Share(a, b, metricA, metricB []float64, confidence float64) (share Interval, known bool) {
	if len(b) == 0 && len(metricB) == 0 {
		estimate, err := stat.RatioOfMeans(a, metricA, confidence)
		return bounded(estimate, mean(a), mean(metricA)), err == nil
	}
	paired := len(a) == len(b) && len(a) >= 2
	estimate, err := stat.RatioOfDifferences(a, b, metricA, metricB, confidence)
	if paired {
		// Pairs ran one after the other: what drifts between pairs cancels. The narrower
		// of the two would be chosen after the fact, so pairs count only when the other has no answer.
		if err != nil {
			estimate, err = stat.RatioOfMeans(minus(b, a), minus(metricB, metricA), confidence)
		}
	}
	return bounded(estimate, mean(b)-mean(a), mean(metricB)-mean(metricA)), err == nil
}

func minus(x, y []float64) []float64 {
	difference := make([]float64, len(x))
	for i := range x {
		difference[i] = x[i] - y[i]
	}
	return difference
}

func bounded(estimate stat.Interval, x, y float64) Interval {
	if estimate.Value == 0 && y != 0 {
		estimate.Value = x / y
	}
	if estimate.Low == 0 && estimate.High == 0 {
		estimate.Low, estimate.High = math.Inf(-1), math.Inf(1)
		if estimate.Value == 0 && x == 0 {
			estimate.Low, estimate.High = 0, 0
		}
	}
	limit := func(v float64) float64 {
		if math.IsNaN(v) {
			return 0
		}
		return max(-shareLimit, min(shareLimit, v))
	}
	return Interval{Value: limit(estimate.Value), Low: limit(estimate.Low), High: limit(estimate.High)}
}

// decide marks which of many changes can be told from zero when all are looked
// at together, at a false discovery rate of 1 − confidence.
func decide(a, b [][]float64, confidence float64) []bool {
	decided, err := stat.BenjaminiHochberg(pValues(a, b), 1-confidence)
	if err != nil {
		return make([]bool, len(a))
	}
	return decided
}

// pValues tests each of many changes alone; 1 where there are too few runs to test. What disturbs a run makes it
// longer by a part of itself, so that times that are never zero are tested by their logarithms.
func pValues(a, b [][]float64) []float64 {
	p := make([]float64, len(a))
	for i := range a {
		p[i] = 1
		x, y := a[i], b[i]
		if positive(x) && positive(y) {
			x, y = logarithms(x), logarithms(y)
		}
		if value, err := stat.DifferenceP(x, y); err == nil {
			p[i] = value
		}
	}
	return p
}

func positive(values []float64) bool {
	for _, value := range values {
		if !(value > 0) {
			return false
		}
	}
	return true
}

func logarithms(values []float64) []float64 {
	list := make([]float64, len(values))
	for i, value := range values {
		list[i] = math.Log(value)
	}
	return list
}
