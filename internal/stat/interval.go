// Package stat is the mathematics of the verdict: from numbers to "worse", "better", "same" or
// "undecided" with an interval, and from a few replicates to the share of a change. It knows
// nothing of commands, kernels or recordings.
//
// Paired runs of two sides give log-ratios d = ln(B/A). A [Plan] fixes beforehand at which numbers
// of pairs one may look and how much certainty each look needs, so that looking often does not
// raise the error rate; [Plan.Decide] reads one look. Replicates of an evidence trial go to [Mean],
// [MeanDifference], [RatioOfMeans] and [RatioOfDifferences].
//
// It refuses what cannot be answered: too few values, NaN, infinities, ratios of values that are
// not positive. It then returns an error that names the value; it never returns NaN. A metric where
// higher is better is the caller's to flip: pass -d (or swap the sides) and a fall of the metric
// reads as "worse".
//
//	plan, err := stat.NewPlan(50, 2, 0.05) // at most 50 pairs, two metrics, 5 % error over both and all looks
//	for pairs := plan.Next(0); pairs > 0; pairs = plan.Next(pairs) {
//		d, err := stat.LogRatios(a[:pairs], b[:pairs])
//		decision, err := plan.Decide(d, 0.02) // differences below 2 % do not count
//		if decision.Outcome != stat.Undecided {
//			break
//		}
//	}
package stat

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrTooFew is wrapped by every error that more values would cure.
var ErrTooFew = errors.New("too few values")

// Interval is an estimate with its confidence interval, Low ≤ Value ≤ High, in the unit of what was
// estimated.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Over is the interval in a unit that is so many times as large; per is above zero.
func (i Interval) Over(per float64) Interval {
	return Interval{Value: i.Value / per, Low: i.Low / per, High: i.High / per}
}

// Exp turns an interval of log-ratios into one of ratios.
func (i Interval) Exp() Interval {
	return Interval{Value: math.Exp(i.Value), Low: math.Exp(i.Low), High: math.Exp(i.High)}
}

// Contains reports whether x lies in the closed interval.
func (i Interval) Contains(x float64) bool {
	return i.Low <= x && x <= i.High
}

// Median returns the middle value, or the mean of the two middle ones. It fails on no values and on
// NaN or infinities.
func Median(values []float64) (float64, error) {
	if err := checkValues("values", values, 1); err != nil {
		return 0, fmt.Errorf("take median: %w", err)
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return middle(sorted), nil
}

// Middle is the median for people to read, without an error: 0 of no values, or where one is NaN or
// infinite.
func Middle(values []float64) float64 {
	median, err := Median(values)
	if err != nil {
		return 0
	}
	return median
}

// Average is the mean for people to read, 0 of no values.
func Average(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum, count := 0.0, float64(len(values))
	for _, value := range values {
		sum += value
	}
	if !math.IsInf(sum, 0) {
		return sum / count
	}
	sum = 0
	for _, value := range values { // the sum was too large for a number, the mean is not
		sum += value / count
	}
	return sum
}

// LogRatios returns ln(b/a) pair by pair: above zero where b is larger. It fails when the lengths
// differ and on any value that is not positive and finite, because no ratio can be formed from it.
func LogRatios(a, b []float64) ([]float64, error) {
	if len(a) != len(b) {
		return nil, fmt.Errorf("form ratios: %d values on the first side but %d on the second", len(a), len(b))
	}
	ratios := make([]float64, len(a))
	for i := range a {
		for _, value := range [2]float64{a[i], b[i]} {
			if !(value > 0) || math.IsInf(value, 0) {
				return nil, fmt.Errorf("form ratios: pair %d holds %g, which is not a positive number", i+1, value)
			}
		}
		// A difference of logarithms, because b/a overflows where the logarithms do not.
		ratios[i] = math.Log(b[i]) - math.Log(a[i])
	}
	return ratios, nil
}

// Logarithms are those of values that are all above zero, nil where one is not.
func Logarithms(values []float64) []float64 {
	list := make([]float64, len(values))
	for i, value := range values {
		if !(value > 0) {
			return nil
		}
		list[i] = math.Log(value)
	}
	return list
}

// middle is the median of sorted values, of which there is at least one. Halving before adding
// avoids an overflow.
func middle(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return sorted[n/2-1]/2 + sorted[n/2]/2
}

// checkValues refuses fewer than least values, NaN and infinities.
func checkValues(name string, values []float64, least int) error {
	if len(values) < least {
		return fmt.Errorf("%w: %s has %d, needs %d", ErrTooFew, name, len(values), least)
	}
	for i, value := range values {
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return fmt.Errorf("%s[%d] is %g, not a finite number", name, i, value)
		}
	}
	return nil
}

// checkOpenUnit refuses what is not strictly between 0 and 1: a confidence, an error rate.
func checkOpenUnit(name string, value float64) error {
	if !(value > 0 && value < 1) {
		return fmt.Errorf("%s %g does not lie between 0 and 1", name, value)
	}
	return nil
}
