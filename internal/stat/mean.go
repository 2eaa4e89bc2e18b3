package stat

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// ErrUnbounded is returned, with the estimate, when the denominator of a ratio cannot be told from
// zero: no finite interval has the confidence asked for.
var ErrUnbounded = errors.New("the denominator cannot be told from zero")

// moments are the mean and the sum of squared deviations of some values.
type moments struct {
	count, mean, squares float64
}

func momentsOf(values []float64) moments {
	m := moments{count: float64(len(values))}
	for _, value := range values {
		m.mean += value / m.count
	}
	for _, value := range values {
		m.squares += (value - m.mean) * (value - m.mean)
	}
	if equal(values) {
		// Rounding of the mean must not look like spread.
		m.mean, m.squares = values[0], 0
	}
	return m
}

// meanVariance is the variance of the mean.
func (m moments) meanVariance() float64 {
	return m.squares / (m.count - 1) / m.count
}

func equal(values []float64) bool {
	for _, value := range values {
		if value != values[0] {
			return false
		}
	}
	return true
}

// Mean returns the mean of a with Student's t interval. It assumes independent values that are
// roughly normal; it needs two, and fails on NaN and infinities.
func Mean(a []float64, confidence float64) (Interval, error) {
	if err := checkSides(confidence, map[string][]float64{"a": a}); err != nil {
		return Interval{}, fmt.Errorf("take mean: %w", err)
	}
	m := momentsOf(a)
	half := studentQuantile(m.count-1, confidence) * math.Sqrt(m.meanVariance())
	return around(m.mean, half)
}

// MeanDifference returns mean(b) − mean(a), in their unit, with Welch's interval (1947): unequal
// spreads, independent values, roughly normal. Each side needs two values; it fails on NaN and
// infinities. Sides that do not vary at all give an interval without width.
func MeanDifference(a, b []float64, confidence float64) (Interval, error) {
	if err := checkSides(confidence, map[string][]float64{"a": a, "b": b}); err != nil {
		return Interval{}, fmt.Errorf("compare means: %w", err)
	}
	difference, variance, freedom := welch(momentsOf(a), momentsOf(b))
	if variance == 0 {
		return around(difference, 0)
	}
	return around(difference, studentQuantile(freedom, confidence)*math.Sqrt(variance))
}

// DifferenceP returns the two-sided p-value of Welch's t-test (1947) that the means of a and b are
// equal. Where neither side varies it is 0 when they differ and 1 when they do not. It needs and
// refuses what MeanDifference does.
func DifferenceP(a, b []float64) (float64, error) {
	if err := checkSides(0.5, map[string][]float64{"a": a, "b": b}); err != nil {
		return 0, fmt.Errorf("test means: %w", err)
	}
	difference, variance, freedom := welch(momentsOf(a), momentsOf(b))
	if difference == 0 {
		return 1, nil
	}
	if variance == 0 {
		return 0, nil
	}
	t := math.Abs(difference) / math.Sqrt(variance)
	return min(1, 2*distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Survival(t)), nil
}

// welch returns b − a, its variance and the degrees of freedom (Welch–Satterthwaite).
func welch(a, b moments) (difference, variance, freedom float64) {
	variance = a.meanVariance() + b.meanVariance()
	return b.mean - a.mean, variance, satterthwaite(a.count, a.meanVariance(), b.count, b.meanVariance())
}

// satterthwaite returns the degrees of freedom of a sum of two variances of means; those of both
// samples when neither varies.
func satterthwaite(countA, varianceA, countB, varianceB float64) float64 {
	sum := varianceA + varianceB
	if sum == 0 {
		return countA + countB - 2
	}
	// As shares of the sum, whose squares cannot underflow to 0/0.
	shareA, shareB := varianceA/sum, varianceB/sum
	return 1 / (shareA*shareA/(countA-1) + shareB*shareB/(countB-1))
}

// studentQuantile is the two-sided quantile of Student's t.
func studentQuantile(freedom, confidence float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile((1 + confidence) / 2)
}

// around is value ± half, refused where the values were so large that it overflows.
func around(value, half float64) (Interval, error) {
	interval := Interval{Value: value, Low: value - half, High: value + half}
	if math.IsNaN(half) || math.IsInf(interval.Low, 0) || math.IsInf(interval.High, 0) {
		return Interval{}, fmt.Errorf("take interval: values near %g are too large to square", value)
	}
	return interval, nil
}

// checkSides checks the confidence and that each side has at least two finite values.
func checkSides(confidence float64, sides map[string][]float64) error {
	if err := checkOpenUnit("confidence", confidence); err != nil {
		return err
	}
	for _, name := range []string{"a", "b", "x", "y", "xA", "xB", "yA", "yB"} {
		if values, given := sides[name]; given {
			if err := checkValues(name, values, 2); err != nil {
				return err
			}
		}
	}
	return nil
}
