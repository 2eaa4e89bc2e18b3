package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// enumerateSignedRank adds up the chance of a sum at most limit over all sign patterns of the
// ranks.
func enumerateSignedRank(ranks []float64, limit float64) float64 {
	hits := 0
	for pattern := range 1 << len(ranks) {
		sum := 0.0
		for i, rank := range ranks {
			if pattern>>i&1 == 1 {
				sum += rank
			}
		}
		if sum <= limit {
			hits++
		}
	}
	return float64(hits) / math.Exp2(float64(len(ranks)))
}

func TestSignedRankDistributionEqualsEnumeration(t *testing.T) {
	for n := 1; n <= 12; n++ {
		ranks := make([]float64, n)
		for i := range ranks {
			ranks[i] = float64(i + 1)
		}
		for sum, got := range signedRankCDF(n) {
			if want := enumerateSignedRank(ranks, float64(sum)); got != want {
				t.Fatalf("P(T ≤ %d) of %d pairs is %g, enumeration says %g", sum, n, got, want)
			}
		}
	}
}

// Two-sided 5 % critical values from Hollander, Wolfe & Chicken (2013), table A.4, and other
// printed tables.
func TestSignedRankCriticalValues(t *testing.T) {
	for n, want := range map[int]int{5: -1, 6: 0, 7: 2, 8: 3, 10: 8, 15: 25, 20: 52, 25: 89, 30: 137, 50: 434} {
		if got := signedRankCritical(n, 0.025); got != want {
			t.Errorf("critical value of %d pairs is %d, the table says %d", n, got, want)
		}
	}
}

func TestNormalApproximationMeetsTheExactDistribution(t *testing.T) {
	for _, tail := range []float64{0.025, 0.0025} {
		exact := critical(signedRankCDF(exactPairs+1), tail)
		approximate := signedRankCritical(exactPairs+1, tail)
		if approximate > exact || float64(approximate) < 0.99*float64(exact) {
			t.Errorf("tail %g: approximation rejects up to %d, exact distribution up to %d", tail, approximate, exact)
		}
	}
}

func TestSignedRankPWithTiesAndZeros(t *testing.T) {
	cases := []struct {
		name string
		d    []float64
		want float64
	}{
		{"all one sign", []float64{1, 2, 3, 4, 5, 6}, 2.0 / 64},
		{"all zero", []float64{0, 0, 0}, 1},
		{"balanced", []float64{-1, 1}, 1},
		// Mean ranks 1.5 1.5 3.5 3.5 5; the negative one has 1.5.
		{"ties", []float64{-1, 1, 2, 2, 3}, 2 * enumerateSignedRank([]float64{1.5, 1.5, 3.5, 3.5, 5}, 1.5)},
		// Two zeros hold ranks 1 and 2, so the smallest difference weighs 3 (Pratt), not 1.
		{"zeros", []float64{0, 0, -1, 2, 3, 4}, 2 * enumerateSignedRank([]float64{3, 4, 5, 6}, 3)},
	}
	for _, c := range cases {
		got, err := SignedRankP(c.d)
		if err != nil || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: p = %g (%v), want %g", c.name, got, err, c.want)
		}
	}
}

func TestSignedRankPBeyondTheExactRange(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	rejected := 0
	const cases = 400
	for range cases {
		d := make([]float64, exactPairs+44)
		for i := range d {
			d[i] = math.Round(3 * random.NormFloat64())
		}
		p, err := SignedRankP(d)
		if err != nil {
			t.Fatal(err)
		}
		if p <= 0.05 {
			rejected++
		}
	}
	if rejected < cases/50 || rejected > cases/10 {
		t.Errorf("%d of %d rejected at 5 %%", rejected, cases)
	}
}

// The depression scores of Hollander & Wolfe (1973), page 29, as in R's wilcox.test: p = 0.03906,
// estimate −0.46, interval −0.786 … −0.010.
func TestHodgesLehmannAgreesWithPublishedExample(t *testing.T) {
	x := []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	y := []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
	d := make([]float64, len(x))
	for i := range x {
		d[i] = y[i] - x[i]
	}
	if p, err := SignedRankP(d); err != nil || math.Abs(p-0.0390625) > 1e-12 {
		t.Errorf("p = %g (%v), published 0.03906", p, err)
	}
	got, err := HodgesLehmann(d, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2]float64{
		"estimate": {got.Value, -0.46}, "low": {got.Low, -0.786}, "high": {got.High, -0.010},
	} {
		if math.Abs(pair[0]-pair[1]) > 6e-4 {
			t.Errorf("%s is %g, published %g", name, pair[0], pair[1])
		}
	}
}

// The interval must hold exactly the centres that the test does not reject.
func TestIntervalInvertsTheTest(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for n := 6; n <= 14; n++ {
		d := make([]float64, n)
		for i := range d {
			d[i] = random.NormFloat64()
		}
		interval, err := HodgesLehmann(d, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		for centre, inside := range map[float64]bool{
			interval.Low + 1e-9: true, interval.Low - 1e-9: false,
			interval.High - 1e-9: true, interval.High + 1e-9: false,
		} {
			moved := make([]float64, n)
			for i := range d {
				moved[i] = d[i] - centre
			}
			p, err := SignedRankP(moved)
			if err != nil || (p > 0.05) != inside {
				t.Errorf("%d values: p = %g (%v) at centre %g of interval %+v", n, p, err, centre, interval)
			}
		}
	}
}
