package investigate

import (
	"math"
	"strings"
	"testing"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/stat"
)

func TestWeigh(t *testing.T) {
	for _, each := range []struct {
		name             string
		claimed, removed part
		want             string
	}{
		{"all of it", part{0.5, 0.45, 0.55}, part{0.52, 0.48, 0.56}, "proven"},
		{"more than it", part{0.3, 0.25, 0.35}, part{0.6, 0.5, 0.7}, "proven"},
		{"as much, as far as is known", part{0.5, 0.4, 0.6}, part{0.38, 0.3, 0.45}, "proven"},
		{"a third, surely not all", part{0.9, 0.85, 0.95}, part{0.3, 0.25, 0.35}, "undecided"},
		{"anything", part{0.5, 0.45, 0.55}, part{0.3, 0.01, 0.6}, "undecided"},
		{"perhaps nothing", part{0.5, 0.45, 0.55}, part{0.2, -0.1, 0.5}, "undecided"},
		{"nothing", part{0.5, 0.45, 0.55}, part{0.001, -0.02, 0.02}, "refuted"},
		{"less than a tenth", part{0.9, 0.8, 1}, part{0.05, 0.03, 0.08}, "refuted"},
		{"the other way", part{0.5, 0.45, 0.55}, part{-0.3, -0.4, -0.2}, "refuted"},
		{"of nothing", part{0, 0, 0}, part{0, -0.1, 0.1}, "undecided"},
	} {
		if got := weigh(each.claimed, each.removed); got != each.want {
			t.Errorf("%s: %s, want %s", each.name, got, each.want)
		}
	}
}

func TestClaimedPart(t *testing.T) {
	share := compare.Interval{Value: 0.8, Low: 0.7, High: 0.9}
	// B takes twice as long: half of its time is the change, and 80 % of that was explained.
	for ratio, want := range map[float64]float64{2: 0.4, 0.5: 0.4, 1.25: 0.16} {
		if got := claimedPart(share, &cause.Effect{Ratio: ratio}); math.Abs(got.value-want) > 1e-9 || got.low >= got.value {
			t.Errorf("ratio %g: %+v, want %g", ratio, got, want)
		}
	}
	if got := claimedPart(share, nil); got != (part{0.8, 0.7, 0.9}) {
		t.Errorf("one side: %+v", got)
	}
	if got := claimedPart(compare.Interval{Value: 0.6}, nil); got != (part{0.6, 0.6, 0.6}) {
		t.Errorf("no interval: %+v", got)
	}
}

func TestExplainedVerdict(t *testing.T) {
	planned := flip{from: "hpet", to: "tsc"}
	claimed := part{0.5, 0.4, 0.6}
	for want, ratio := range map[string]stat.Interval{
		"slower one":      {Value: 1.2, Low: 1.1, High: 1.3},
		"not all":         {Value: 0.8, Low: 0.75, High: 0.85},
		"more pairs":      {Value: 0.8, Low: 0.5, High: 1.1},
		"said to explain": {Value: 0.5, Low: 0.45, High: 0.55},
	} {
		removed := removedPart(ratio)
		if text := reasoned(weigh(claimed, removed), planned, claimed, removed, 7); !strings.Contains(text, want) {
			t.Errorf("%+v: %s; want %s", ratio, text, want)
		}
	}
}
