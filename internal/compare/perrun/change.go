// Package perrun judges amounts that have one value for each recording: how much they changed from
// A to B, which part of a metric's change that is, and what can be told from zero. All intervals
// come from the spread between the recordings of a side.
//
// It refuses to know a spread from one recording: the interval is then as wide as the values.
//
//	perrun.Change([]float64{1.0, 1.1}, []float64{1.4, 1.5}, 0.95) // 0.4, between 0.1 and 0.7
package perrun

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"culprit/internal/stat"
)

// Growth is how much more of an amount B has than A, on average.
func Growth(a, b []float64) float64 { return stat.Average(b) - stat.Average(a) }

// Largest is the key of the largest amount above zero, of equal ones the first; else nothing.
func Largest[K cmp.Ordered, V int64 | float64](amounts map[K]V) (key K, most V) {
	for other, amount := range amounts {
		if amount > most || amount == most && most > 0 && other < key {
			key, most = other, amount
		}
	}
	return key, most
}

// movedWithin is the factor within which one amount lost what another gained. Chosen.
const movedWithin = 2

// Moved reports whether one amount lost about what another gained: a cost that moved and did not
// change (cost shift: FBDetect, SOSP 2024).
func Moved(lost, gained float64) bool {
	return lost < 0 && gained > 0 && -lost >= gained/movedWithin && -lost <= gained*movedWithin
}

// Add adds up amounts, recording by recording.
func Add(sum, more []float64) {
	for i := range more {
		sum[i] += more[i]
	}
}

// Side names one of the two things compared.
type Side string

// The two sides. With one side only, everything is on A.
const (
	A Side = "A"
	B Side = "B"
)

// Sides is how many recordings each side has. Amounts are added up in one list, first those of A.
type Sides struct{ A, B int }

// Name is how messages call the recording at a place of such a list: "recording 2 of B".
func (s Sides) Name(at int) string {
	if at < s.A {
		return fmt.Sprintf("recording %d of %s", at+1, A)
	}
	return fmt.Sprintf("recording %d of %s", at-s.A+1, B)
}

// Amounts is a list with one value for each recording.
func (s Sides) Amounts() []float64 { return make([]float64, s.A+s.B) }

// Split gives the values of each side.
func (s Sides) Split(values []float64) (a, b []float64) { return values[:s.A:s.A], values[s.A:] }

// Change returns mean(b) − mean(a) with the interval that the spread between runs allows; with one
// run on a side nothing is known about the spread, so the interval is as wide as the values
// themselves. One-sided: the mean of a.
func Change(a, b []float64, confidence float64) stat.Interval {
	if len(b) == 0 {
		if estimate, err := stat.Mean(a, confidence); err == nil {
			return estimate
		}
		return stat.Interval{Value: stat.Average(a), Low: 0, High: 2 * stat.Average(a)}
	}
	if estimate, err := stat.MeanDifference(a, b, confidence); err == nil {
		return estimate
	}
	value, wide := Growth(a, b), math.Abs(stat.Average(a))+math.Abs(stat.Average(b))
	return stat.Interval{Value: value, Low: value - wide, High: value + wide}
}

// shareLimit bounds shares whose interval is unbounded, in times the change. Chosen: ten times the
// change says "unknown" to every reader, and fits into JSON, which has no infinity.
const shareLimit = 10

// Share returns the part of the change of a metric that an item accounts for. All vectors hold one
// value per run; one-sided, b and metricB are empty and the share is that of the metric itself.
// Known is false where the spread between runs is unknown or the metric's change cannot be told
// from zero, unless each pair of runs changed the same way.
func Share(a, b, metricA, metricB []float64, confidence float64) (share stat.Interval, known bool) {
	if len(b) == 0 && len(metricB) == 0 {
		estimate, err := stat.RatioOfMeans(a, metricA, confidence)
		return bounded(estimate, stat.Average(a), stat.Average(metricA)), err == nil
	}
	estimate, err := stat.RatioOfDifferences(a, b, metricA, metricB, confidence)
	if err != nil && len(a) == len(b) && len(a) >= 2 {
		// Pairs ran one after the other: what drifts between pairs cancels. The narrower of the two
		// would be chosen after the fact, so pairs count only when the other has no answer.
		item, metric := minus(b, a), minus(metricB, metricA)
		if estimate, err = stat.RatioOfMeans(item, metric, confidence); err != nil {
			estimate, err = inEachPair(item, metric, confidence)
		}
	}
	return bounded(estimate, Growth(a, b), Growth(metricA, metricB)), err == nil
}

// inEachPair is the middle of the shares that pairs of runs have each. Where a few runs changed
// much more than the others their mean cannot be told from zero, though each pair changed the same
// way: what threads pay for a line that they share depends on which cores the host gives them.
func inEachPair(item, metric []float64, confidence float64) (stat.Interval, error) {
	shares := make([]float64, len(item))
	for i := range item {
		if metric[i] == 0 || metric[i] > 0 != (metric[0] > 0) {
			return stat.Interval{}, errNotAlike
		}
		shares[i] = item[i] / metric[i]
	}
	return stat.HodgesLehmann(shares, confidence)
}

var errNotAlike = errors.New("take shares of pairs: not all changed the same way")

func minus(x, y []float64) []float64 {
	difference := make([]float64, len(x))
	for i := range x {
		difference[i] = x[i] - y[i]
	}
	return difference
}

func bounded(estimate stat.Interval, x, y float64) stat.Interval {
	if estimate.Value == 0 && y != 0 {
		estimate.Value = x / y
	}
	if estimate.Low == 0 && estimate.High == 0 && (estimate.Value != 0 || x != 0) {
		estimate.Low, estimate.High = math.Inf(-1), math.Inf(1)
	}
	limit := func(v float64) float64 {
		if math.IsNaN(v) {
			return 0
		}
		return max(-shareLimit, min(shareLimit, v))
	}
	return stat.Interval{Value: limit(estimate.Value), Low: limit(estimate.Low),
		High: limit(estimate.High)}
}

// TooSmall is the part of the metric below which an item is not tested. Leaving out what is small
// on both sides together does not favour differences (independent filtering: Bourgon, Gentleman &
// Huber 2010), and each test that is not made leaves the others more power. Chosen.
const TooSmall = 0.001

// PValues tests each of many changes alone; 1 where there are too few runs to test. What disturbs a
// run makes it longer by a part of itself, so that times that are never zero are tested by their
// logarithms.
func PValues(a, b [][]float64) []float64 {
	p := make([]float64, len(a))
	for i := range a {
		x, y := stat.Logarithms(a[i]), stat.Logarithms(b[i])
		if x == nil || y == nil {
			x, y = a[i], b[i]
		}
		p[i] = 1
		if value, err := stat.DifferenceP(x, y); err == nil {
			p[i] = value
		}
	}
	return p
}
