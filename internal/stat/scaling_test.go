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

// Two numbers of workers tell contention; what coherence takes between them is counted with it.
func TestFitContention(t *testing.T) {
	truth := ScalingLaw{One: 10, Contention: 0.2}
	got, err := FitContention([]float64{1, 4}, []float64{truth.At(1), truth.At(4)})
	if err != nil || math.Abs(got.One-10) > 1e-9 || math.Abs(got.Contention-0.2) > 1e-9 || got.Coherence != 0 {
		t.Errorf("%+v became %+v, %v", truth, got, err)
	}
	if better, err := FitContention([]float64{1, 4}, []float64{10, 44}); err != nil || better.Contention != 0 {
		t.Errorf("more than four times as much with four: %+v, %v", better, err)
	}
	if law, err := FitContention([]float64{4, 4}, []float64{10, 11}); err == nil {
		t.Errorf("one number of workers gave %+v", law)
	}
}
