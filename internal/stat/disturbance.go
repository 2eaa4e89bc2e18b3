package stat

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// OutlierDeviations is how many robust standard deviations above the median a disturbance counts as
// from another world. With 5, fewer than one of a million undisturbed normal runs is left out; the
// usual 3.5 (Iglewicz & Hoaglin 1993) would leave out good runs of a long series.
const OutlierDeviations = 5.0

// madToSigma scales the median absolute deviation to the standard deviation of a normal
// distribution.
const madToSigma = 1.4826

// OutlierLimit returns the value above which one of the values is far outside the rest: median +
// k·max(1.4826·MAD, floor), in their unit (Hampel 1974). floor, in the same unit, is what never
// matters: it keeps values that are nearly all equal, such as a steal time of zero, from turning
// the next one into an outlier. Up to half of the values may be outliers themselves. It needs three
// values, fails on NaN and infinities, on k ≤ 0 and on a negative floor.
func OutlierLimit(values []float64, k, floor float64) (float64, error) {
	if err := checkValues("values", values, 3); err != nil {
		return 0, fmt.Errorf("limit outliers: %w", err)
	}
	if !(k > 0) || !(floor >= 0) || math.IsInf(k, 0) || math.IsInf(floor, 0) {
		return 0, fmt.Errorf("limit outliers: %g deviations with a floor of %g: needs k > 0 and floor ≥ 0", k, floor)
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	centre := middle(sorted)
	for i, value := range values {
		sorted[i] = math.Abs(value - centre)
	}
	slices.Sort(sorted)
	return centre + k*max(madToSigma*middle(sorted), floor), nil
}

// Side says with which of two sides something comes.
type Side string

// The sides.
const (
	Neither Side = "neither"
	First   Side = "first"
	Second  Side = "second"
)

// OneSided reports whether a disturbance comes with one side only, so that it is evidence about
// that side rather than noise to be left out: the side whose runs have more of it, by at least
// floor (in its unit) in the median of all differences between a run of one side and a run of the
// other (Hodges & Lehmann 1963), with an exact two-sided rank-sum test (Wilcoxon 1945, Mann &
// Whitney 1947) at level alpha that allows for ties. A burst that hit two runs of one side by
// chance is not one-sided. p is the test's p-value; above 40 runs together it is the normal
// approximation. Three runs a side cannot be decided below 0.1, four below 0.03. It needs one run a
// side, and fails on NaN and infinities.
func OneSided(first, second []float64, floor, alpha float64) (side Side, p float64, err error) {
	for name, values := range map[string][]float64{"first": first, "second": second} {
		if err := checkValues(name, values, 1); err != nil {
			return "", 0, fmt.Errorf("compare disturbances: %w", err)
		}
	}
	if err := checkOpenUnit("alpha", alpha); err != nil {
		return "", 0, fmt.Errorf("compare disturbances: %w", err)
	}
	if !(floor >= 0) {
		return "", 0, fmt.Errorf("compare disturbances: floor %g is negative", floor)
	}
	shifts := make([]float64, 0, len(first)*len(second))
	for _, x := range first {
		for _, y := range second {
			shifts = append(shifts, y-x)
		}
	}
	slices.Sort(shifts)
	shift := middle(shifts)
	p = rankSumP(first, second)
	switch {
	case p > alpha || math.Abs(shift) < floor || shift == 0:
		return Neither, p, nil
	case shift > 0:
		return Second, p, nil
	default:
		return First, p, nil
	}
}

// exactRuns is up to how many runs of both sides together the rank-sum distribution is computed
// exactly.
const exactRuns = 40

// rankSumP is the two-sided p-value of the rank-sum test, for exactly the ranks (with ties) that
// were seen.
func rankSumP(first, second []float64) float64 {
	ranks := doubledRanks(append(slices.Clone(first), second...))
	observed := 0
	for _, rank := range ranks[:len(first)] {
		observed += rank
	}
	runs := len(ranks)
	// Doubled ranks have the mean runs+1.
	expected := len(first) * (runs + 1)
	distance := observed - expected
	if distance < 0 {
		distance = -distance
	}
	if runs > exactRuns {
		return rankSumNormalP(ranks, len(first), distance)
	}
	total := runs * (runs + 1)
	// ways[j][s]: the number of choices of j runs whose doubled ranks add up to s.
	ways := make([][]float64, len(first)+1)
	for j := range ways {
		ways[j] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for _, rank := range ranks {
		for j := len(first); j >= 1; j-- {
			for s := total; s >= rank; s-- {
				ways[j][s] += ways[j-1][s-rank]
			}
		}
	}
	all, extreme := 0.0, 0.0
	for s, count := range ways[len(first)] {
		all += count
		if s-expected >= distance || expected-s >= distance {
			extreme += count
		}
	}
	return min(1, extreme/all)
}

// rankSumNormalP approximates the two-sided p-value, with the variance of the ranks as they are,
// ties included.
func rankSumNormalP(ranks []int, chosen, distance int) float64 {
	runs := float64(len(ranks))
	squares := 0.0
	for _, rank := range ranks {
		squares += (float64(rank) - runs - 1) * (float64(rank) - runs - 1)
	}
	if squares == 0 {
		return 1
	}
	variance := float64(chosen) * (runs - float64(chosen)) / runs / (runs - 1) * squares
	return min(1, 2*distuv.UnitNormal.Survival((float64(distance)-1)/math.Sqrt(variance)))
}
