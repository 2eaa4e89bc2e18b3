package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestFitScalingFindsTheLaw(t *testing.T) {
	workers := []float64{1, 2, 4, 8, 16, 32}
	for _, law := range []ScalingLaw{{1000, 0.05, 0.001}, {250, 0, 0}, {10, 0.3, 0}, {10, 0, 0.01}} {
		var throughput []float64
		for _, n := range workers {
			throughput = append(throughput, law.At(n))
		}
		got, err := FitScaling(workers, throughput)
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range [][2]float64{{got.One / law.One, 1}, {got.Contention, law.Contention},
			{got.Coherence, law.Coherence}} {
			if math.Abs(pair[0]-pair[1]) > 1e-6 {
				t.Errorf("%+v became %+v", law, got)
			}
		}
	}
	if peak := (ScalingLaw{1, 0.19, 0.01}).Peak(); math.Abs(peak-9) > 1e-9 {
		t.Errorf("peak at %g workers, it is at 9", peak)
	}
}

// With 3 % of noise both terms are found within a few hundredths, and never negative.
func TestFitScalingUnderNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	truth := ScalingLaw{100, 0.1, 0.002}
	for range 200 {
		var workers, throughput []float64
		for _, n := range []float64{1, 2, 4, 8, 16} {
			for range 5 {
				workers = append(workers, n)
				throughput = append(throughput, truth.At(n)*math.Exp(0.03*random.NormFloat64()))
			}
		}
		got, err := FitScaling(workers, throughput)
		wrong := max(math.Abs(got.Contention-truth.Contention)/0.06, math.Abs(got.Coherence-truth.Coherence)/0.005)
		if err != nil || wrong > 1 || got.Contention < 0 || got.Coherence < 0 {
			t.Fatalf("%+v became %+v, %v", truth, got, err)
		}
	}
}

func TestFitScalingRefuses(t *testing.T) {
	for _, bad := range [][2][]float64{
		{{1, 2}, {1, 2}}, {{1, 2, 4}, {1, 2}}, {{0, 1, 2}, {1, 2, 3}}, {{1, 2, 3}, {1, 0, 3}}, {{1, 1, 2, 2}, {1, 1, 2, 2}},
		{{1, 2, math.Inf(1)}, {1, 2, 3}}, {{1, 2, 3}, {1, math.NaN(), 3}},
	} {
		if law, err := FitScaling(bad[0], bad[1]); err == nil {
			t.Errorf("%v gave %+v", bad, law)
		}
	}
}
