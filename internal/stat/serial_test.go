package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Values of a host that drifts to and fro are called different less often once neighbours'
// dependence is taken into account, and independent ones no more often than they may.
func TestIndependent(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	series := func(correlation float64) []float64 {
		values, now := make([]float64, 12), random.NormFloat64()
		for i := range values {
			now = correlation*now + math.Sqrt(1-correlation*correlation)*random.NormFloat64()
			values[i] = now
		}
		return values
	}
	const draws = 2000
	alarms := func(correlation float64, prepare func([]float64) []float64) float64 {
		wrong := 0
		for range draws {
			interval, err := MeanDifference(prepare(series(correlation)), prepare(series(correlation)), 0.95)
			if err != nil {
				t.Fatal(err)
			}
			if !interval.Contains(0) {
				wrong++
			}
		}
		return float64(wrong) / draws
	}
	asTheyAre := func(values []float64) []float64 { return values }
	if rate := alarms(0, Independent); rate > 0.06 {
		t.Errorf("independent values: %g", rate)
	}
	before, after := alarms(0.5, asTheyAre), alarms(0.5, Independent)
	if after > 0.6*before {
		t.Errorf("values that depend on each other: %g, before %g", after, before)
	}
	same := []float64{2, 2, 2, 2}
	if got := Independent(same); Average(got) != 2 || got[0] != 2 {
		t.Errorf("%v", got)
	}
	drift := []float64{1, 2, 3, 4, 5, 6}
	if got := Independent(drift); math.Abs(Average(got)-3.5) > 1e-9 || got[5] <= 6 {
		t.Errorf("%v", got)
	}
}
