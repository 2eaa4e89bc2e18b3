package report

import (
	"strings"
	"testing"

	"culprit/internal/cause"
)

// An interval stands in the unit of the ratio beside it: "97.3× (95 % between +945 % and +26076 %)" makes one count.
func TestIntervalAsTold(t *testing.T) {
	for _, c := range []struct {
		ratio, low, high float64
		want             string
	}{
		{1.012, 0.996, 1.03, "95 % between −0.4 % and +3 %"},
		{1.33, 1.3, 1.36, "95 % between +30 % and +36 %"},
		{2.13, 1.91, 2.18, "95 % between 1.91× and 2.18×"},
		{97.3, 10.45, 261.76, "95 % between 10.4× and 262×"},
	} {
		effect := cause.Effect{Ratio: c.ratio, Low: c.low, High: c.high, Confidence: 0.95}
		if got := strings.ReplaceAll(intervalAsTold(effect), "\u00a0", " "); got != c.want {
			t.Errorf("%.2f: %q, want %q", c.ratio, got, c.want)
		}
	}
}
