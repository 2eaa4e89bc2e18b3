package regress

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// A known answer: y = 1 + 2x exactly, then one with the errors of a textbook's formula.
func TestFitKnownLine(t *testing.T) {
	design := [][]float64{{1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 1000}}
	fit, err := Fit(design, []float64{1, 3, 5, 7, 2001})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(fit.Coefficient[0]-1) > 1e-9 || math.Abs(fit.Coefficient[1]-2) > 1e-9 || fit.Error[1] > 1e-9 {
		t.Errorf("coefficients %v, errors %v", fit.Coefficient, fit.Error)
	}
}

// HC2 with two groups and no covariate is Welch's standard error.
func TestErrorIsWelchs(t *testing.T) {
	a, b := []float64{1, 2, 4, 7}, []float64{10, 30, 20, 15, 5, 8}
	var design [][]float64
	var y []float64
	for _, v := range a {
		design, y = append(design, []float64{1, 0}), append(y, v)
	}
	for _, v := range b {
		design, y = append(design, []float64{1, 1}), append(y, v)
	}
	fit, err := Fit(design, y)
	if err != nil {
		t.Fatal(err)
	}
	variance := func(v []float64) float64 {
		mean, sum := 0.0, 0.0
		for _, x := range v {
			mean += x / float64(len(v))
		}
		for _, x := range v {
			sum += (x - mean) * (x - mean)
		}
		return sum / float64(len(v)-1) / float64(len(v))
	}
	if want := math.Sqrt(variance(a) + variance(b)); math.Abs(fit.Error[1]-want) > 1e-9 {
		t.Errorf("error %g, Welch's is %g", fit.Error[1], want)
	}
}

func TestRefused(t *testing.T) {
	for name, design := range map[string][][]float64{
		"few":       {{1, 2}, {1, 3}},
		"dependent": {{1, 2, 4}, {1, 3, 6}, {1, 5, 10}, {1, 6, 12}, {1, 7, 14}, {1, 9, 18}},
		"empty":     {{1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}},
		"infinite":  {{1, math.Inf(1)}, {1, 0}, {1, 0}, {1, 0}, {1, 0}},
	} {
		if _, err := Fit(design, make([]float64, len(design))); !errors.Is(err, ErrDependent) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Fit(nil, nil); err == nil {
		t.Error("no rows were fitted")
	}
}

// The interval holds the truth in 95 of 100 where the groups' spreads differ.
func TestCoverage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	held, rounds := 0, 600
	for range rounds {
		var design [][]float64
		var y []float64
		for i := range 60 {
			group := float64(i % 3 / 2)
			x := random.NormFloat64()
			design = append(design, []float64{1, group, x})
			y = append(y, 3*group+2*x+(1+4*group)*random.NormFloat64())
		}
		fit, err := Fit(design, y)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(fit.Coefficient[1]-3) <= fit.Half(1, 0.95) {
			held++
		}
	}
	if share := float64(held) / float64(rounds); share < 0.92 || share > 0.98 {
		t.Errorf("the 95 %% interval held the truth in %.3f", share)
	}
}
