package stat

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func near(t *testing.T, name string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %g, want %g", name, got, want)
	}
}

func TestMean(t *testing.T) {
	// Mean 3, standard error sqrt(2.5/5), t(0.975, 4) = 2.776445.
	got, err := Mean([]float64{1, 2, 3, 4, 5}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "mean", got.Value, 3, 1e-12)
	near(t, "low", got.Low, 3-2.776445*math.Sqrt(0.5), 1e-5)
	near(t, "high", got.High, 3+2.776445*math.Sqrt(0.5), 1e-5)
	flat, err := Mean([]float64{0.1, 0.1, 0.1}, 0.95)
	if err != nil || flat != (Interval{0.1, 0.1, 0.1}) {
		t.Errorf("values that do not vary: %+v (%v)", flat, err)
	}
}

// Student's sleep data (1908) as in R: t.test(extra ~ group) gives p = 0.07939 and −3.3654832 …
// 0.2054832 for a − b.
func TestWelch(t *testing.T) {
	a := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	b := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	p, err := DifferenceP(a, b)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "p", p, 0.07939, 5e-6)
	got, err := MeanDifference(a, b, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "difference", got.Value, 1.58, 1e-12)
	near(t, "low", got.Low, -0.2054832, 1e-6)
	near(t, "high", got.High, 3.3654832, 1e-6)
}

func TestDifferenceOfSidesThatDoNotVary(t *testing.T) {
	a, b := []float64{1000, 1000, 1000}, []float64{2000, 2000, 2000}
	if p, err := DifferenceP(a, b); err != nil || p != 0 {
		t.Errorf("different: p = %g (%v)", p, err)
	}
	if p, err := DifferenceP(a, a); err != nil || p != 1 {
		t.Errorf("alike: p = %g (%v)", p, err)
	}
	got, err := MeanDifference(a, b, 0.95)
	if err != nil || got != (Interval{1000, 1000, 1000}) {
		t.Errorf("difference %+v (%v)", got, err)
	}
	// Absent on one side: the interval comes from the other side's spread.
	got, err = MeanDifference([]float64{0, 0, 0}, []float64{9, 10, 11}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "low", got.Low, 10-4.302653/math.Sqrt(3), 1e-5)
}

func TestRatioOfMeansCancelsSharedNoise(t *testing.T) {
	y := []float64{1.0, 1.6, 0.8, 1.3}
	x := make([]float64, len(y))
	for i := range y {
		x[i] = 0.9 * y[i]
	}
	got, err := RatioOfMeans(x, y, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "share", got.Value, 0.9, 1e-12)
	near(t, "width", got.High-got.Low, 0, 1e-6)
}

// The ends of Fieller's interval are where the paired t-test of x − θy just rejects.
func TestRatioOfMeansInvertsThePairedTest(t *testing.T) {
	x, y := []float64{0.9, 1.1, 0.7, 1.2, 1.0}, []float64{2.0, 2.4, 1.9, 2.2, 2.1}
	got, err := RatioOfMeans(x, y, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []float64{got.Low, got.High} {
		residual := make([]float64, len(x))
		for i := range x {
			residual[i] = x[i] - end*y[i]
		}
		mean, err := Mean(residual, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "nearer end of the residual's interval", min(math.Abs(mean.Low), math.Abs(mean.High)), 0, 1e-9)
	}
}

func TestRatioWithDenominatorNearZeroIsFlagged(t *testing.T) {
	got, err := RatioOfMeans([]float64{1, 1.1, 0.9}, []float64{0.5, -0.4, 0.3}, 0.95)
	if !errors.Is(err, ErrUnbounded) || !math.IsInf(got.Low, -1) || !math.IsInf(got.High, 1) {
		t.Errorf("%+v (%v)", got, err)
	}
	near(t, "estimate", got.Value, 7.5, 1e-9)
	got, err = RatioOfMeans([]float64{1, 2}, []float64{0, 0}, 0.95)
	if !errors.Is(err, ErrUnbounded) || got.Value != 0 {
		t.Errorf("zero denominator: %+v (%v)", got, err)
	}
	_, err = RatioOfDifferences([]float64{1, 2}, []float64{3, 4}, []float64{5, 6}, []float64{5, 6}, 0.95)
	if !errors.Is(err, ErrUnbounded) {
		t.Errorf("no change of the metric: %v", err)
	}
}

func TestRatioOfDifferencesWithoutSpread(t *testing.T) {
	flat := func(value float64) []float64 { return []float64{value, value, value} }
	got, err := RatioOfDifferences(flat(0), flat(3), flat(1), flat(5), 0.95)
	if err != nil || got != (Interval{0.75, 0.75, 0.75}) {
		t.Errorf("%+v (%v)", got, err)
	}
}

func TestSmallSampleIntervalsCover(t *testing.T) {
	const cases = 2000
	random := rand.New(rand.NewPCG(21, 22))
	covered := map[string]int{}
	for range cases {
		var x, y, rest [2][]float64
		for side, runs := range [2]int{3, 5} {
			for range runs {
				// An item that is 0.1 s in A and 0.4 s in B of a metric that is 1 s and 1.4 s:
				// share 0.75.
				item := [2]float64{0.1, 0.4}[side] * (1 + 0.03*random.NormFloat64())
				other := [2]float64{0.9, 1.0}[side] * (1 + 0.02*random.NormFloat64())
				x[side], y[side] = append(x[side], item), append(y[side], item+other)
				rest[side] = append(rest[side], other)
			}
		}
		share, err := RatioOfDifferences(x[0], x[1], y[0], y[1], 0.95)
		if err == nil && share.Contains(0.75) {
			covered["share"]++
		}
		change, err := MeanDifference(rest[0], rest[1], 0.95)
		if err == nil && change.Contains(0.1) {
			covered["change"]++
		}
		paired, err := RatioOfMeans(x[1], y[1], 0.95)
		if err == nil && paired.Contains(0.4/1.4) {
			covered["part"]++
		}
	}
	for _, name := range []string{"share", "change", "part"} {
		if covered[name] < cases*93/100 || covered[name] == cases {
			t.Errorf("%s: %d of %d intervals cover", name, covered[name], cases)
		}
	}
}

func TestSmallSamplesRefuseBadInput(t *testing.T) {
	good, short := []float64{1, 2, 3}, []float64{1}
	bad := []float64{1, math.NaN(), 3}
	huge := []float64{-1e308, 1e308, 1e308}
	for name, err := range map[string]error{
		"mean short":      second(Mean(short, 0.95)),
		"mean NaN":        second(Mean(bad, 0.95)),
		"mean huge":       second(Mean(huge, 0.95)),
		"mean confidence": second(Mean(good, 1)),
		"difference":      second(MeanDifference(good, short, 0.95)),
		"difference huge": second(MeanDifference(good, huge, 0.95)),
		"p NaN":           second(DifferenceP(bad, good)),
		"ratio lengths":   second(RatioOfMeans(good, good[:2], 0.95)),
		"ratio huge":      second(RatioOfMeans(good, huge, 0.95)),
		"shares lengths":  second(RatioOfDifferences(good, good, good, good[:2], 0.95)),
		"shares NaN":      second(RatioOfDifferences(good, good, bad, good, 0.95)),
		"centre short":    second(HodgesLehmann(good, 0.95)),
		"ranks none":      second(SignedRankP(nil)),
		"median none":     second(Median(nil)),
		"median infinite": second(Median([]float64{math.Inf(1)})),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func second[T any](_ T, err error) error { return err }
