package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The example of Benjamini & Hochberg (1995), section 4: 15 tests at 0.05, four discoveries.
func TestBenjaminiHochbergPublishedExample(t *testing.T) {
	p := []float64{0.0459, 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298,
		0.0344, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000}
	found, err := BenjaminiHochberg(p, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]bool, len(p))
	for i := 1; i <= 4; i++ {
		want[i] = true
	}
	if !slices.Equal(found, want) {
		t.Errorf("found %v", found)
	}
	for _, bad := range [][]float64{{math.NaN()}, {-0.1}, {1.1}} {
		if _, err := BenjaminiHochberg(bad, 0.05); err == nil {
			t.Errorf("p-value %g was taken", bad[0])
		}
	}
	if found, err := BenjaminiHochberg(nil, 0.05); err != nil || len(found) != 0 {
		t.Errorf("no tests: %v (%v)", found, err)
	}
}

func TestOutlierLimit(t *testing.T) {
	// Median 2, MAD 1: the limit is 2 + 5·1.4826.
	limit, err := OutlierLimit([]float64{1, 2, 3, 100, 1}, OutlierDeviations, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "limit", limit, 2+5*1.4826, 1e-9)
	// Values that are nearly all zero: the floor decides.
	limit, err = OutlierLimit([]float64{0, 0, 0, 0, 0.01, 3}, OutlierDeviations, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "limit by floor", limit, 0.1, 1e-12)
	for name, err := range map[string]error{
		"short": second(OutlierLimit([]float64{1, 2}, 5, 0)),
		"NaN":   second(OutlierLimit([]float64{1, 2, math.NaN()}, 5, 0)),
		"k":     second(OutlierLimit([]float64{1, 2, 3}, 0, 0)),
		"floor": second(OutlierLimit([]float64{1, 2, 3}, 5, -1)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestOutlierLimitLeavesGoodRunsIn(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 32))
	left, total := 0, 0
	for range 500 {
		values := make([]float64, 20)
		for i := range values {
			values[i] = 0.05 + 0.01*random.NormFloat64()
		}
		values[7] = 0.5
		limit, err := OutlierLimit(values, OutlierDeviations, 0.005)
		if err != nil {
			t.Fatal(err)
		}
		if values[7] <= limit {
			t.Errorf("a disturbance of ten times the rest is within %g", limit)
		}
		for i, value := range values {
			if i != 7 && value > limit {
				left++
			}
			total++
		}
	}
	if left > total/500 {
		t.Errorf("%d of %d good runs left out", left, total)
	}
}

func TestOneSided(t *testing.T) {
	quiet, busy := []float64{0.01, 0.02, 0.00, 0.01, 0.03, 0.02, 0.01}, []float64{0.9, 1.0, 0.8, 0.0, 1.1, 1.0, 0.9}
	cases := []struct {
		name          string
		first, second []float64
		want          Side
	}{
		{"a competitor that B starts", quiet, busy, Second},
		{"a competitor that A starts", busy, quiet, First},
		{"none", quiet, quiet, Neither},
		{"a burst that hit two runs", quiet, []float64{0.01, 0.9, 0.8, 0.00, 0.02, 0.01, 0.01}, Neither},
		{"both", busy, busy, Neither},
		{"too little to matter", []float64{0, 0, 0, 0, 0, 0}, []float64{.01, .01, .01, .01, .01, .01}, Neither},
		{"all zero", make([]float64, 6), make([]float64, 6), Neither},
		{"too few runs", quiet[:2], busy[:2], Neither},
		{"many runs", slices.Repeat(quiet, 6), slices.Repeat(busy, 6), Second},
		{"many equal runs", make([]float64, 30), make([]float64, 30), Neither},
	}
	for _, c := range cases {
		got, p, err := OneSided(c.first, c.second, 0.05, 0.05)
		if err != nil || got != c.want || !(p >= 0 && p <= 1) {
			t.Errorf("%s: %s, p = %g (%v)", c.name, got, p, err)
		}
	}
	if _, _, err := OneSided(nil, quiet, 0.05, 0.01); err == nil {
		t.Error("a side without runs was compared")
	}
	if _, _, err := OneSided(quiet, []float64{math.Inf(1)}, 0.05, 0.01); err == nil {
		t.Error("an infinite disturbance was compared")
	}
}

func TestRankSumAgreesWithEnumeration(t *testing.T) {
	first, second := []float64{1, 2, 2, 5}, []float64{2, 3, 6, 7, 8}
	all := append(slices.Clone(first), second...)
	ranks := doubledRanks(all)
	expected, observed := len(first)*(len(all)+1), 0
	for _, rank := range ranks[:len(first)] {
		observed += rank
	}
	extreme, total := 0, 0
	for chosen := range 1 << len(all) {
		count, sum := 0, 0
		for i, rank := range ranks {
			count += chosen >> i & 1
			sum += chosen >> i & 1 * rank
		}
		if count != len(first) {
			continue
		}
		total++
		if math.Abs(float64(sum-expected)) >= math.Abs(float64(observed-expected)) {
			extreme++
		}
	}
	near(t, "p", rankSumP(first, second), float64(extreme)/float64(total), 1e-12)
}
