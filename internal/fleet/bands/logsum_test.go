package bands

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The product is as good as the sum of logarithms, over the whole range of what is added.
func TestLogSum(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for _, spread := range []float64{0.01, 3, 300} {
		all, want := newLogSum(), 0.0
		for range 1000 {
			x := math.Exp(spread * (2*random.Float64() - 1))
			all.add(x)
			want += math.Log(x)
		}
		if got := all.value(); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Errorf("spread %g: %v, the sum is %v", spread, got, want)
		}
	}
	all := newLogSum()
	if all.add(0); !math.IsInf(all.value(), -1) {
		t.Errorf("the logarithm of 0 is %v", all.value())
	}
	if all.add(math.NaN()); !math.IsNaN(all.value()) {
		t.Errorf("with what is no number it is %v", all.value())
	}
}

// Bands that are far apart are two, however far (odds of e^800 are no float64), after few draws,
// and the p-value is a bound and still small.
func TestFarBands(t *testing.T) {
	for _, sd := range []float64{0.02, 0.01, 0.001} {
		answer, err := Find(fleet(400, 1, normal(sd), 0.5, 1.5), Options{})
		if err != nil || !answer.Two || answer.Replicates >= 99 || !(answer.P > 0 && answer.P <= 0.05) ||
			math.Abs(answer.Ratio-1.5) > 0.01 {
			t.Errorf("sd %g: two %v, p %g after %d, ratio %g, %s, %v", sd, answer.Two, answer.P, answer.Replicates,
				answer.Ratio, answer.Why, err)
		}
	}
}
