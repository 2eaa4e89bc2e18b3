package report

import (
	"math"
	"strings"
	"testing"

	"culprit/internal/cause"
	"culprit/internal/explain"
	"culprit/internal/stat"
)

// Each number of the requests is one line with both sides, the ratio, its interval where there is
// one, and a mark where it is decided: which way it went, not whether that is good.
func TestRequestsOfBothSides(t *testing.T) {
	one := func(name, unit string, a, b float64, outcome stat.Outcome, low, high float64) explain.RequestMetric {
		return explain.RequestMetric{Name: name, Unit: unit, A: []float64{a}, B: []float64{b}, Outcome: outcome,
			Effect: cause.Effect{Ratio: b / a, Low: low, High: high}}
	}
	none := math.NaN()
	p := newPage(TextOptions{})
	p.comparedRequests(&Comparison{})
	if text := p.out.String(); text != "" {
		t.Errorf("without requests: %q", text)
	}
	p.comparedRequests(&Comparison{Requests: []explain.RequestMetric{
		one("latency", "s", 0.001, 0.002, stat.Worse, 1.8, 2.2),
		one("throughput", "1/s", 500, 250, stat.Worse, 0.4, 0.6),
		one("p99", "s", 0.004, 0.001, stat.Better, 0.2, 0.3),
		one("cpu", "s", 2e-5, 3e-5, "", none, none),
		one("host", "", 0.4, 0.8, "", none, none)}})
	text := p.out.String()
	for _, want := range []string{"▲ latency, mean", "1\u00a0ms", "2\u00a0ms  2.00× (1.80×…2.20×)", "▼ requests a second",
		"0.50× (0.40×…0.60×)", "▼ p99", "  CPU of one request", "1.50×\n", "40\u00a0%", "80\u00a0%  2.00×\n"} {
		if !strings.Contains(strings.ReplaceAll(text, "\u202f", "\u00a0"), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
