package stat

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// exactSteps bounds the exact distribution of a trend: beyond so many pairs of doses it is as good
// as normal.
const exactSteps = 4000

// BlockTrend tells whether values rise or fall with a dose that each block has once per level.
// doses are the levels; blocks[i][j] is the value at doses[j] in block i, NaN where it is missing.
// tau is the mean of Kendall's rank correlation over all pairs of levels within blocks: 1 when
// every larger dose has the larger value, −1 when each has the smaller. p is two-sided: Kendall's S
// within each block, added up over the blocks (Jonckheere 1954; Skillings & Wolfe 1977 for blocks),
// exact up to 4000 pairs of levels and normal with continuity correction beyond. Ties count as no
// order at all, which keeps p too large rather than too small. What lifts a whole block does not
// matter. It fails on fewer than three doses, blocks of another length, and when no block has two
// values.
func BlockTrend(doses []float64, blocks [][]float64) (tau, p float64, err error) {
	if err := checkValues("doses", doses, 3); err != nil {
		return 0, 0, fmt.Errorf("find trend: %w", err)
	}
	score, pairs, variance := 0, 0, 0.0
	var sizes []int
	for i, block := range blocks {
		if len(block) != len(doses) {
			return 0, 0, fmt.Errorf("find trend: block %d has %d values for %d doses", i, len(block), len(doses))
		}
		of, size := kendall(doses, block)
		if size < 2 {
			continue
		}
		k := float64(size)
		score += of
		pairs += size * (size - 1) / 2
		variance += k * (k - 1) * (2*k + 5) / 18
		sizes = append(sizes, size)
	}
	if pairs == 0 {
		return 0, 0, fmt.Errorf("find trend: %w", errors.Join(ErrTooFew, errors.New("no block has two values")))
	}
	tau = float64(score) / float64(pairs)
	away := int(math.Abs(float64(score)))
	if pairs > exactSteps {
		z := math.Max(0, float64(away)-1) / math.Sqrt(variance)
		return tau, math.Min(1, 2*distuv.UnitNormal.Survival(z)), nil
	}
	// S = pairs − 2 × inversions, so |S| ≥ away exactly when there are at most (pairs − away)/2
	// inversions, or as few of the other kind.
	tail := 0.0
	for inversions, mass := range inversionMass(sizes, pairs) {
		if 2*inversions <= pairs-away {
			tail += mass
		}
	}
	return tau, math.Min(1, 2*tail), nil
}

// kendall returns the number of pairs in the order of their doses less those against it, and how
// many values there are.
func kendall(doses, values []float64) (score, size int) {
	for i, x := range values {
		if math.IsNaN(x) {
			continue
		}
		size++
		for j := range i {
			y := values[j]
			if math.IsNaN(y) {
				continue
			}
			switch product := (doses[i] - doses[j]) * (x - y); {
			case product > 0:
				score++
			case product < 0:
				score--
			}
		}
	}
	return score, size
}

// inversionMass is the distribution of the number of inversions of random orders of these sizes
// together: placing the k-th element adds 0 … k−1 inversions, each with the same chance.
func inversionMass(sizes []int, most int) []float64 {
	mass := make([]float64, most+1)
	mass[0] = 1
	for _, size := range sizes {
		for k := 2; k <= size; k++ {
			wider := make([]float64, most+1)
			sum := 0.0
			for t := range mass {
				sum += mass[t]
				if t >= k {
					sum -= mass[t-k]
				}
				wider[t] = max(0, sum) / float64(k)
			}
			mass = wider
		}
	}
	return mass
}
