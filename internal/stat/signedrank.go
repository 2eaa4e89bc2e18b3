package stat

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// exactPairs is up to how many pairs the signed-rank distribution is computed exactly. The dynamic
// programme takes about n³/6 additions, 3 million for 256, so the normal approximation is needed
// only beyond every plan.
const exactPairs = 256

// signedRankCDF returns P(T ≤ t) for t = 0 … n(n+1)/2, where T is the sum of the positive ranks of
// n differences whose signs are fair coins (Wilcoxon 1945). Each rank either joins the sum or not:
// the distribution of n is the mean of that of n−1 and of itself moved up by n. Up to 52 pairs the
// probabilities are exact binary fractions.
func signedRankCDF(n int) []float64 {
	mass := make([]float64, n*(n+1)/2+1)
	mass[0] = 1
	for rank := 1; rank <= n; rank++ {
		for t := rank * (rank + 1) / 2; t >= 0; t-- {
			mass[t] /= 2
			if t >= rank {
				// mass[t-rank] has not been halved yet: t runs downwards.
				mass[t] += mass[t-rank] / 2
			}
		}
	}
	for t := 1; t < len(mass); t++ {
		mass[t] = min(1, mass[t]+mass[t-1])
	}
	return mass
}

// signedRankCritical returns the largest t with P(T ≤ t) ≤ tail, or −1 when even t = 0 is too
// likely. Beyond exactPairs it uses the normal approximation with continuity correction, which is
// conservative that far out: the distribution has lighter tails than the normal.
func signedRankCritical(n int, tail float64) int {
	if n <= exactPairs {
		return critical(signedRankCDF(n), tail)
	}
	pairs := float64(n)
	mean := pairs * (pairs + 1) / 4
	deviation := math.Sqrt(pairs * (pairs + 1) * (2*pairs + 1) / 24)
	return int(math.Floor(mean + deviation*distuv.UnitNormal.Quantile(tail) - 0.5))
}

// critical returns the largest index whose cumulative probability is at most tail, −1 when there is
// none.
func critical(cumulative []float64, tail float64) int {
	// The slack of rounding lets 0.025 meet a probability that is 0.025 in all but the last bit.
	limit := tail * (1 + 1e-12)
	index, _ := slices.BinarySearchFunc(cumulative, limit, func(p, limit float64) int {
		if p <= limit {
			return -1
		}
		return 1
	})
	return index - 1
}

// SignedRankP returns the two-sided p-value of Wilcoxon's signed-rank test (1945) that d is
// symmetric about zero. Ties share their mean rank and the distribution is computed for exactly
// these ranks; zeros take part in the ranking and are then dropped (Pratt 1959), so that many zeros
// do not make a few large differences look certain. Above 256 non-zero values the normal
// approximation with continuity correction is used. All zeros give 1. It fails on no values, NaN
// and infinities.
func SignedRankP(d []float64) (float64, error) {
	if err := checkValues("d", d, 1); err != nil {
		return 0, fmt.Errorf("test signed ranks: %w", err)
	}
	size := make([]float64, len(d))
	for i, value := range d {
		size[i] = math.Abs(value)
	}
	// Twice the mean rank is a whole number, which makes it an index.
	var ranks []int
	positive, total := 0, 0
	for i, rank := range doubledRanks(size) {
		if d[i] == 0 {
			continue
		}
		ranks = append(ranks, rank)
		total += rank
		if d[i] > 0 {
			positive += rank
		}
	}
	least := min(positive, total-positive)
	if len(ranks) > exactPairs {
		return signedRankNormalP(ranks, total, least), nil
	}
	return min(1, 2*subsetProbability(ranks, least)), nil
}

// signedRankNormalP approximates the two-sided p-value for doubled ranks; least is the smaller of
// the two rank sums.
func signedRankNormalP(ranks []int, total, least int) float64 {
	variance := 0.0
	for _, rank := range ranks {
		variance += float64(rank) * float64(rank) / 4
	}
	// Doubled ranks move in steps of two: half a step is 1.
	z := (float64(total)/2 - float64(least) - 1) / math.Sqrt(variance)
	return min(1, 2*distuv.UnitNormal.Survival(z))
}

// subsetProbability returns the probability that the sum of a random subset of ranks, each in or
// out by a fair coin, is at most limit.
func subsetProbability(ranks []int, limit int) float64 {
	mass := make([]float64, limit+1)
	mass[0] = 1
	for _, rank := range ranks {
		for t := limit; t >= 0; t-- {
			mass[t] /= 2
			if t >= rank {
				mass[t] += mass[t-rank] / 2
			}
		}
	}
	sum := 0.0
	for _, m := range mass {
		sum += m
	}
	return sum
}

// doubledRanks returns twice the rank of each value, ties sharing their mean rank.
func doubledRanks(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	ranks := make([]int, len(values))
	for start := 0; start < len(order); {
		end := start + 1
		for end < len(order) && values[order[end]] == values[order[start]] {
			end++
		}
		for _, i := range order[start:end] {
			ranks[i] = start + 1 + end // ranks start+1 … end have the mean (start+1+end)/2
		}
		start = end
	}
	return ranks
}
