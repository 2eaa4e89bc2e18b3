package stat

import (
	"errors"
	"fmt"
	"math"
)

// DriftDifference returns mean(b) − mean(a) less what a steady drift explains that both sides show
// within themselves (analysis of covariance with the time as covariate): for sides that were
// measured one after the other, where a host that slowly changes looks like a difference. Times are
// in any one unit, one for each value. It needs two values a side and differing times within a
// side; a jump of the host between the sides it cannot tell from a difference.
func DriftDifference(a, b, timesA, timesB []float64, confidence float64) (Interval, error) {
	sides := map[string][]float64{"a": a, "b": b, "x": timesA, "y": timesB}
	if err := checkSides(confidence, sides); err != nil {
		return Interval{}, fmt.Errorf("compare means under drift: %w", err)
	}
	if len(a) != len(timesA) || len(b) != len(timesB) {
		return Interval{}, errors.New("compare means under drift: not one time for each value")
	}
	var tt, ty, yy float64 // sums of squares and products within the sides
	within := func(times, values []float64) (meanTime, meanValue float64) {
		meanTime, meanValue = momentsOf(times).mean, momentsOf(values).mean
		for i := range values {
			t, y := times[i]-meanTime, values[i]-meanValue
			tt, ty, yy = tt+t*t, ty+t*y, yy+y*y
		}
		return meanTime, meanValue
	}
	timeA, valueA := within(timesA, a)
	timeB, valueB := within(timesB, b)
	if tt == 0 {
		return Interval{}, errors.New("compare means under drift: the values of a side all have one time")
	}
	apart, slope := timeB-timeA, ty/tt
	freedom := float64(len(a) + len(b) - 3)
	variance := max(0, yy-ty*slope) / freedom * (1/float64(len(a)) + 1/float64(len(b)) + apart*apart/tt)
	return around(valueB-valueA-slope*apart, studentQuantile(freedom, confidence)*math.Sqrt(variance))
}
