package report

import (
	"strings"
	"testing"

	"culprit/internal/investigate"
)

func TestSlowRunsAreTold(t *testing.T) {
	c := worseCase()
	c.Metrics[0].Kinds = &investigate.RunKinds{SlowB: 17, Pairs: 70, Usual: 1, Slow: 11.5, MeanA: 1.02, MeanB: 3.6,
		Decides: true}
	words := verdictOf(c)
	for want, got := range map[string]string{"in the mean, by runs that are slow": words.Headline,
		"s in the mean, 12 pairs":                                     words.Detail,
		"17 of 70 runs of B take 11.5× as long as the others, 0 of A": words.Others[0]} {
		if !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	c.Metrics[0].Kinds = &investigate.RunKinds{SlowA: 3, SlowB: 1, Pairs: 20, Usual: 1, Slow: 2}
	if got, want := verdictOf(c).Others[0], "3 of 20 runs of A take 2.00× as long as the others, 1 of B: too few to tell "+
		"from chance"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
