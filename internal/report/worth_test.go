package report

import (
	"bytes"
	"strings"
	"testing"

	"culprit/internal/stat"
	"culprit/internal/worth"
)

// What is told of two numbers of workers claims no peak and tells no coherence.
func TestWorthOfTwoWorkers(t *testing.T) {
	answer := &worth.Answer{Load: "threads", Metric: "wall", Scaling: []worth.Scaling{{Metric: worth.RunsPerSecond,
		Law: &stat.ScalingLaw{One: 2, Contention: 0.2}, Contention: &worth.Interval{Value: 0.2, Low: 0.1, High: 0.3},
		Levels: []worth.ScalingWorker{{Workers: 1, Measured: 2, Perfect: 2, Law: 2},
			{Workers: 4, Measured: 5, Perfect: 8, Law: 5}, {Workers: 8, Measured: 5, Perfect: 8, Beyond: true}}}}}
	var out bytes.Buffer
	if err := Worth(&out, answer, TextOptions{Width: 200}); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{"of runs/s with threads: with 4 it is 2.50× that with 1",
		"contention and coherence together, as contention: 0.2 "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "more always help") {
		t.Errorf("a peak is told of two numbers:\n%s", text)
	}
}
