package stat

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func TestBlockTrend(t *testing.T) {
	doses := []float64{1, 2, 4}
	nan := math.NaN()
	for name, each := range map[string]struct {
		blocks [][]float64
		tau, p float64
	}{
		// Each block of three has six orders: the probability of the one that rises, three times
		// over, twice.
		"rises": {[][]float64{{1, 2, 3}, {11, 12, 13}, {5, 7, 9}}, 1, 2.0 / 216},
		"falls": {[][]float64{{3, 2, 1}, {13, 12, 11}, {9, 7, 5}}, -1, 2.0 / 216},
		// S is 1 of 3: four of six orders have |S| = 1 and two have 3, so all are at least as
		// extreme.
		"one block":   {[][]float64{{1, 3, 2}}, 1.0 / 3, 1},
		"ties":        {[][]float64{{1, 1, 1}, {2, 2, 2}}, 0, 1},
		"missing":     {[][]float64{{1, nan, 3}, {nan, nan, 3}}, 1, 1},
		"up and down": {[][]float64{{1, 2, 3}, {3, 2, 1}}, 0, 1},
	} {
		tau, p, err := BlockTrend(doses, each.blocks)
		if err != nil || math.Abs(tau-each.tau) > 1e-12 || math.Abs(p-each.p) > 1e-12 {
			t.Errorf("%s: tau %v, p %v, %v; want %v, %v", name, tau, p, err, each.tau, each.p)
		}
	}
	if _, _, err := BlockTrend(doses, [][]float64{{nan, nan, 1}}); !errors.Is(err, ErrTooFew) {
		t.Errorf("a block with one value: %v", err)
	}
	if _, _, err := BlockTrend(doses, [][]float64{{1, 2}}); err == nil {
		t.Error("a block of another length passes")
	}
	if _, _, err := BlockTrend(doses[:2], nil); !errors.Is(err, ErrTooFew) {
		t.Errorf("two doses: %v", err)
	}
}

// With nothing there, at most about one trend in twenty is found; and exact and normal agree where
// both can be used.
func TestBlockTrendOfNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	doses := []float64{1, 2, 3, 4}
	const rounds = 2000
	found := 0
	for range rounds {
		var blocks [][]float64
		for range 8 {
			blocks = append(blocks, []float64{random.NormFloat64(), random.NormFloat64(), random.NormFloat64(),
				random.NormFloat64()})
		}
		if _, p, err := BlockTrend(doses, blocks); err != nil {
			t.Fatal(err)
		} else if p <= 0.05 {
			found++
		}
	}
	if share := float64(found) / rounds; share < 0.025 || share > 0.06 {
		t.Errorf("%.3f of no trends are found", share)
	}
	var many [][]float64
	for range exactSteps {
		many = append(many, []float64{random.NormFloat64(), random.NormFloat64(), random.NormFloat64(), random.NormFloat64()})
	}
	_, approximate, err := BlockTrend(doses, many)
	if err != nil || !(approximate > 0.001) {
		t.Errorf("normal approximation: p %v, %v", approximate, err)
	}
}
