package report

import (
	"strings"
	"testing"

	"culprit/internal/cause"
	"culprit/internal/investigate"
	"culprit/internal/stat"
)

// An interval stands in the unit of the ratio beside it: "97.3× (95 % between +945 % and +26076 %)"
// makes one count.
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

// An undecided effect is told in the unit that is easy to read, too.
func TestSpan(t *testing.T) {
	for _, c := range []struct {
		metric    string
		low, high float64
		want      string
	}{
		{"wall", 0.9, 1.3, "B is anything from 10 % faster to 30 % slower than A (75 %)"},
		{"wall", 11.5, 19.5, "B is anything from 11.5× to 19.5× slower than A (75 %)"},
		{"cpu", 2.09, 2.35, "B is anything from 2.09× to 2.35× what A has (75 %)"},
	} {
		effect := cause.Effect{Ratio: c.low, Low: c.low, High: c.high, Confidence: 0.75}
		if got := strings.ReplaceAll(span(effect, c.metric), "\u00a0", " "); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Where no number of pairs would decide, the advice is not a budget of four hours.
func TestNextStepOfTooMany(t *testing.T) {
	side := func() *investigate.SideSummary { return &investigate.SideSummary{Trials: 33} }
	c := &investigate.Case{Outcome: investigate.Undecided, A: *side(), B: side(), ElapsedS: 48, Smallest: 0.02,
		NeedTrials: stat.MaxMore}
	if got := nextStep(c); strings.Contains(got, "--budget") || !strings.Contains(got, "--smallest") {
		t.Errorf("%q", got)
	}
	c.NeedTrials = 33
	if got := nextStep(c); !strings.Contains(got, "--budget 100s") {
		t.Errorf("%q", got)
	}
	c.NeedBudgetS = 71
	if got := nextStep(c); !strings.Contains(got, "--budget 80s") {
		t.Errorf("the budget that the trials tell is not the one advised: %q", got)
	}
}

// Of a side that was recorded earlier no pairs are told, but what both sides are; what would decide
// is more of it.
func TestCaseAgainstAnEarlierSide(t *testing.T) {
	c := &investigate.Case{Outcome: investigate.Undecided, Per: "request",
		Metric: investigate.Metric{Name: "latency", Unit: "s"},
		A:      investigate.SideSummary{Command: "old.culprit", Trials: 1, Earlier: true, Median: 0.001},
		B:      &investigate.SideSummary{Command: "port:80 (process 7)", Trials: 5, Median: 0.002}}
	if got := detail(c); !strings.Contains(got, "A is 1 recording made earlier (old.culprit), B is 5 windows of port:80") {
		t.Errorf("%q", got)
	}
	if got := nextStep(c); !strings.Contains(got, "earlier side") {
		t.Errorf("%q", got)
	}
}
