package bands

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The density holds its draws, on either side, and is a density: its fit to them is near what they
// were drawn from.
func TestGamma(t *testing.T) {
	for _, drawn := range [][4]float64{{3, math.Log(0.2), 1, 0}, {3, math.Log(0.2), -1, 0}, {-1, 0, 0.01, 0}} {
		random := rand.New(rand.NewPCG(6, 7))
		values := make([]float64, 4000)
		for i := range values {
			values[i] = drawGamma(drawn, random)
		}
		slices.Sort(values)
		fitted := fitGamma(values)
		for axis := range 3 {
			if off := math.Abs(fitted.parameters[axis] - drawn[axis]); off > 0.1 {
				t.Errorf("drawn from %v, fitted %v", drawn, fitted.parameters)
			}
		}
		total, step := 0.0, math.Exp(drawn[1])/500
		for x := drawn[0] - 12*math.Exp(drawn[1]); x < drawn[0]+12*math.Exp(drawn[1]); x += step {
			total += step * math.Exp(-gammaCost([]float64{x}, &drawn))
		}
		if math.Abs(total-1) > 0.01 {
			t.Errorf("the density of %v has %g below it", drawn, total)
		}
	}
}

// It is the Gaussian where it has no skew, without a step.
func TestGammaNearNormal(t *testing.T) {
	values := []float64{-1.5, -0.2, 0.1, 0.9, 2}
	normal := gammaCost(values, &[4]float64{0.1, 0.2, 0, 0})
	for _, skew := range []float64{0.021, -0.021} {
		if near := gammaCost(values, &[4]float64{0.1, 0.2, skew, 0}); math.Abs(near-normal) > 0.05 {
			t.Errorf("skew %g costs %g, none %g", skew, near, normal)
		}
	}
}

// Fleets of an exponential tail and an edge, which two bands fit well: the law that was told as two
// in one of eleven.
func TestAnEdgeIsNoBand(t *testing.T) {
	edge := func(r *rand.Rand) float64 {
		return (r.ExpFloat64()+r.ExpFloat64()+r.ExpFloat64()+r.ExpFloat64())/20 + 0.01*r.NormFloat64()
	}
	if share := told(t, 12, 100, edge, 0, 1); share > 0.17 { // of 5 % three or more in 12 are one in 50
		t.Errorf("%.2f of the fleets are told as two bands", share)
	}
}
