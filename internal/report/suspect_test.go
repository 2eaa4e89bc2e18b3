package report

import (
	"strings"
	"testing"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/rank"
	"culprit/internal/investigate"
	"culprit/internal/trial"
)

// An interval that was cut at an end that no share can have tells nothing, and is not printed as if
// it did.
func TestShareWithoutAnInterval(t *testing.T) {
	c := &investigate.Case{B: &investigate.SideSummary{}}
	for want, share := range map[string]compare.Interval{
		"51 % of the change (with no useful interval)": {Value: 0.51, Low: -10, High: 1},
		"51 % of the change (48 % to 55 %)":            {Value: 0.51, Low: 0.48, High: 0.55},
		"share of the change unknown":                  {},
	} {
		got := strings.ReplaceAll(shareOf(c, cause.Suspect{Share: share}), space, " ")
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Both numbers of a prediction are told, and whether they agree; a floor is called one.
func TestPredictionBesideWhatWasObserved(t *testing.T) {
	of := vdsoSuspect().Prediction
	c := &investigate.Case{Per: "request"}
	const agrees = "183,000 × 1.83 µs = 335 ms per request by number × cost here (clock read by a system call " +
		"instead of the vDSO), observed 334 ms (316 ms to 348 ms): agrees"
	if got := strings.ReplaceAll(predictionLine(c, of), space, " "); got != agrees {
		t.Errorf("%q, want %q", got, agrees)
	}
	of.AtLeast, of.Agrees = true, false
	of.Observed = interval(0.02, 0.02, 0.02)
	got := strings.ReplaceAll(predictionLine(c, of), space, " ")
	if !strings.HasPrefix(got, "at least 183,000 × ") || !strings.HasSuffix(got, "observed 20 ms: does not agree") {
		t.Errorf("%q", got)
	}
	of.Agrees, of.Observed = true, interval(3.35, 3, 4)
	if got := strings.ReplaceAll(predictionLine(c, of), space, " "); !strings.HasSuffix(got, ": 10 % of that") {
		t.Errorf("%q, want how much of it the floor is", got)
	}
	if predictionLine(c, nil) != "" {
		t.Error("nothing is predicted, and something is told of it")
	}
}

// What an undecided case recorded is shown, decided or not, and no culprit is made of it.
func TestUndecidedShowsWhatWasRecorded(t *testing.T) {
	c := undecidedCase()
	c.Items = []investigate.Item{{Signal: "cpu", Name: "store", A: 0.1, B: 0.5, Unit: "s"}}
	text := func() string {
		p := &page{width: 100}
		p.noSuspect(c)
		return p.out.String()
	}
	if got := text(); strings.Contains(got, "store") {
		t.Errorf("nothing was recorded: %s", got)
	}
	c.Profile = sampleProfile()
	if got := text(); !strings.Contains(got, "store") || !strings.Contains(got, "what was recorded") {
		t.Errorf("what was recorded is left out: %s", got)
	}
}

// Trials that were left out for one reason are one entry, however large the disturbance of each
// was.
func TestReasonsAreCountedWithoutTheirAmounts(t *testing.T) {
	c := &investigate.Case{}
	for _, partner := range []bool{false, true} {
		for side, seconds := range map[string]float64{"A": 0.04, "B": 0.07} {
			run := trial.Run{Kind: trial.KindMeasure, Valid: true}
			run.Leave(trial.Exclusion{Kind: trial.ExcludedSteal, Seconds: seconds, Side: side, Partner: partner})
			c.Trials = append(c.Trials, run)
		}
	}
	const want = "4 of 4 trials left out: steal time (2); the other run of its pair was disturbed (2)"
	if got := strings.ReplaceAll(leftOutOf(c).String(), space, " "); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What was counted is listed when it is decided and large enough to count: a few bytes more of a
// file are not.
func TestCountsThatHardlyDifferAreLeftOut(t *testing.T) {
	c := &Comparison{Smallest: 0.02, Ranking: &rank.Ranking{Beside: []rank.Item{
		{Signal: rank.SignalCounted, Name: "read bytes", Unit: "bytes", A: 4270, B: 4275, OfA: 0.001, Decided: true},
		{Signal: rank.SignalCounted, Name: "brk calls", Unit: "calls", A: 10, B: 30, OfA: 2, Decided: true},
		{Signal: rank.SignalCounted, Name: "stat calls", Unit: "calls", B: 3, Decided: true},
		{Signal: rank.SignalCounted, Name: "mmap calls", Unit: "calls", A: 10, B: 12, OfA: 0.2}}}}
	p := &page{width: 100}
	p.comparedBeside(c)
	text := p.out.String()
	if !strings.Contains(text, "brk calls") || !strings.Contains(text, "stat calls") ||
		strings.Contains(text, "read bytes") || strings.Contains(text, "mmap calls") {
		t.Error(text)
	}
}
