package stat

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Prediction returns the mean of a with the interval in which one more value of the same kind lies
// at this confidence: Student's prediction interval, which is wider than the mean's by what single
// values scatter. It assumes what [Mean] assumes and refuses what that does.
func Prediction(a []float64, confidence float64) (Interval, error) {
	if err := checkSides(confidence, map[string][]float64{"a": a}); err != nil {
		return Interval{}, fmt.Errorf("predict value: %w", err)
	}
	m := momentsOf(a)
	half := studentQuantile(m.count-1, confidence) * math.Sqrt(m.meanVariance()*(m.count+1))
	return around(m.mean, half)
}

// Deviation returns the standard deviation of a; it needs two values, and fails on NaN and
// infinities.
func Deviation(a []float64) (float64, error) {
	if err := checkValues("a", a, 2); err != nil {
		return 0, fmt.Errorf("take deviation: %w", err)
	}
	m := momentsOf(a)
	return math.Sqrt(m.squares / (m.count - 1)), nil
}

// DeviationAtMost returns what the standard deviation of normal values is below with this
// confidence, one-sided, where count of them showed the deviation seen.
func DeviationAtMost(seen float64, count int, confidence float64) (float64, error) {
	if err := checkOpenUnit("confidence", confidence); err != nil {
		return 0, fmt.Errorf("bound deviation: %w", err)
	}
	if count < 2 {
		return 0, fmt.Errorf("bound deviation: %w: %d values, needs at least 2", ErrTooFew, count)
	}
	freedom := float64(count - 1)
	return seen * math.Sqrt(freedom/distuv.ChiSquared{K: freedom}.Quantile(1-confidence)), nil
}
