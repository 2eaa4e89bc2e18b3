package report

import (
	"math"
	"strings"
	"testing"
)

func TestTicks(t *testing.T) {
	for _, test := range []struct {
		a      axis
		factor float64
		unit   string
		want   string
	}{
		{axis{low: 0.1201, high: 0.141}, 1000, "ms", "125 ms, 130 ms, 135 ms, 140 ms"},
		{axis{low: 0.97, high: 1.2, log: true}, 1, "×", "1.00×, 1.05×, 1.10×, 1.15×, 1.20×"},
		{axis{low: 0.83, high: 4.4, log: true}, 1, "×", "1×, 2×, 3×, 4×"},
		{axis{low: 0.9, high: 30, log: true}, 1, "×", "1×, 2×, 5×, 10×, 20×"},
		{axis{low: 1e-200, high: 1e200, log: true}, 1, "×", ""},
		{axis{low: 5, high: 5}, 1, "", ""},
		{axis{low: 0, high: math.MaxFloat64}, 1e3, "", ""},
	} {
		marks := test.a.ticks(test.factor, test.unit)
		var texts []string
		for _, mark := range marks {
			texts = append(texts, strings.ReplaceAll(mark.Text, space, " "))
		}
		if got := strings.Join(texts, ", "); test.want != "" && got != test.want {
			t.Errorf("%+v: %s, want %s", test.a, got, test.want)
		}
		if len(marks) > ticksMax+1 {
			t.Errorf("%+v: %d marks", test.a, len(marks))
		}
	}
}
