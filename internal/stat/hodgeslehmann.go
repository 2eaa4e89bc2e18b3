package stat

import (
	"fmt"
	"math"
	"slices"
)

// HodgesLehmann estimates the centre of d: the median of the Walsh averages (dᵢ+dⱼ)/2, i ≤ j
// (Hodges & Lehmann 1963), with the interval that inverts Wilcoxon's signed-rank test (Tukey 1949;
// Hollander, Wolfe & Chicken 2013, section 3.3). It assumes that the differences are independent
// and symmetric about their centre, nothing of their shape. Measuring A and B in random order
// within a pair makes that true for ln(B/A) when the sides are alike or differ by a factor.
//
// The interval is exact up to 256 values (normal approximation with continuity correction above).
// The rank distribution is discrete, so the coverage is at least the confidence asked for; ties and
// zeros only widen it, because the interval is closed and nothing is dropped. It fails when so few
// values cannot reach the confidence (0.95 needs 6), and on NaN and infinities.
func HodgesLehmann(d []float64, confidence float64) (Interval, error) {
	if err := checkOpenUnit("confidence", confidence); err != nil {
		return Interval{}, fmt.Errorf("estimate centre: %w", err)
	}
	if err := checkValues("d", d, 1); err != nil {
		return Interval{}, fmt.Errorf("estimate centre: %w", err)
	}
	outside := signedRankCritical(len(d), (1-confidence)/2)
	if outside < 0 {
		return Interval{}, fmt.Errorf("estimate centre: %w: %d cannot give an interval of %.3g %%, %d can",
			ErrTooFew, len(d), 100*confidence, pairsThatReach(1-confidence))
	}
	return walshInterval(walshAverages(d), outside), nil
}

// pairsThatReach is the fewest pairs whose most extreme signed-rank result, all of one sign, has a
// two-sided p-value of at most level: 2^(1−n) ≤ level.
func pairsThatReach(level float64) int {
	n := max(1, int(math.Ceil(1-math.Log2(level)-1e-9)))
	return n
}

// walshAverages returns the sorted means of all pairs of values, each value with itself included.
func walshAverages(d []float64) []float64 {
	averages := make([]float64, 0, len(d)*(len(d)+1)/2)
	for i, x := range d {
		for _, y := range d[i:] {
			averages = append(averages, x/2+y/2)
		}
	}
	slices.Sort(averages)
	return averages
}

// walshInterval cuts the given number of averages off each end: the signed-rank statistic of d−θ is
// the number of Walsh averages above θ, so the test rejects θ exactly when at most that many lie on
// one side of it.
func walshInterval(averages []float64, outside int) Interval {
	return Interval{
		Value: middle(averages),
		Low:   averages[outside],
		High:  averages[len(averages)-1-outside],
	}
}
