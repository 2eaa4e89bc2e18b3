package stat

import (
	"math"
	"testing"
)

func TestMiddleAndAverage(t *testing.T) {
	for _, test := range []struct {
		values          []float64
		middle, average float64
	}{
		{nil, 0, 0},
		{[]float64{3}, 3, 3},
		{[]float64{9, 1, 2}, 2, 4},
		{[]float64{4, 1, 2, 9}, 3, 4},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, math.MaxFloat64, math.MaxFloat64},
	} {
		if got := Middle(test.values); got != test.middle {
			t.Errorf("middle of %v is %v, want %v", test.values, got, test.middle)
		}
		if got := Average(test.values); got != test.average {
			t.Errorf("average of %v is %v, want %v", test.values, got, test.average)
		}
	}
	for _, odd := range []float64{math.NaN(), math.Inf(1)} {
		if got := Middle([]float64{1, odd}); got != 0 {
			t.Errorf("middle of 1 and %v is %v", odd, got)
		}
	}
	values := []float64{3, 1, 2}
	if Middle(values); values[0] != 3 {
		t.Error("the values were sorted in place")
	}
}
