package stat

import (
	"math/rand/v2"
	"testing"
)

// A host that slowly changes is no difference; a difference on such a host is found all the same.
func TestDriftDifference(t *testing.T) {
	timesA, timesB := []float64{0, 1, 2}, []float64{3, 4, 5}
	for name, c := range map[string]struct {
		a, b []float64
		zero bool // lies in the interval
	}{
		"drift alone":          {[]float64{5.01, 6, 7.02}, []float64{8, 8.97, 10}, true},
		"nothing":              {[]float64{5, 5.1, 5}, []float64{5.1, 5, 5}, true},
		"a step":               {[]float64{5, 5.02, 5.01}, []float64{8, 8.01, 8}, false},
		"a step under a drift": {[]float64{5, 6.01, 7}, []float64{18.01, 19, 20}, false},
	} {
		got, err := DriftDifference(c.a, c.b, timesA, timesB, 0.95)
		if err != nil || (got.Low <= 0 && got.High >= 0) != c.zero {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, c := range map[string][4][]float64{
		"one value":  {{1}, {2, 3}, {0}, {1, 2}},
		"one time":   {{1, 2}, {2, 3}, {0, 0}, {1, 1}},
		"times miss": {{1, 2}, {2, 3}, {0, 1, 2}, {1, 2}},
	} {
		if got, err := DriftDifference(c[0], c[1], c[2], c[3], 0.95); err == nil || got != (Interval{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// Of equal sides under a drift, few intervals leave zero out.
func TestDriftDifferenceCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	missed, rounds := 0, 2000
	for range rounds {
		drift := random.NormFloat64()
		var values, times []float64
		for i := range 8 {
			times = append(times, float64(i))
			values = append(values, drift*float64(i)+random.NormFloat64())
		}
		got, err := DriftDifference(values[:4], values[4:], times[:4], times[4:], 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if got.Low > 0 || got.High < 0 {
			missed++
		}
	}
	if share := float64(missed) / float64(rounds); share < 0.035 || share > 0.065 {
		t.Errorf("%v of the intervals leave zero out", share)
	}
}
