package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// The true ratio lies within the interval as often as it says, for many and for few samples.
func TestSampledRatioCovers(t *testing.T) {
	source := rand.New(rand.NewPCG(17, 17))
	for _, each := range []struct{ above, below float64 }{{500, 300}, {60, 200}, {25, 25}} {
		const rounds = 4000
		inside, told := 0, 0
		for range rounds {
			above := distuv.Poisson{Lambda: each.above, Src: source}.Rand()
			below := distuv.Poisson{Lambda: each.below, Src: source}.Rand()
			// One of the two has a sample each million, the other each two millions.
			found, known := SampledRatio(above*1e6, below*2e6, above, below, 0.95)
			if !known {
				continue
			}
			told++
			if truth := each.above / each.below / 2; found.Low <= truth && truth <= found.High {
				inside++
			}
		}
		if share := float64(inside) / float64(told); math.Abs(share-0.95) > 0.015 || told < rounds*99/100 {
			t.Errorf("%v: inside in %.3f of %d", each, share, told)
		}
	}
	if _, known := SampledRatio(9e6, 1e9, 9, 1000, 0.95); known {
		t.Error("nine samples are enough")
	}
}
