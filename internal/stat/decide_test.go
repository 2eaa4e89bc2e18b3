package stat

import (
	"math"
	"strings"
	"testing"
)

func mustPlan(t *testing.T, maxPairs, metrics int) *Plan {
	t.Helper()
	plan, err := NewPlan(maxPairs, metrics, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// spread returns n log-ratios, symmetric about centre, within ± half.
func spread(n int, centre, half float64) []float64 {
	d := make([]float64, n)
	for i := range d {
		d[i] = centre + half*(2*float64(i)/float64(n-1)-1)
	}
	return d
}

func TestDecideOutcomes(t *testing.T) {
	plan := mustPlan(t, 50, 2)
	cases := []struct {
		name string
		d    []float64
		want Outcome
	}{
		{"clear rise at the first look", spread(8, math.Log(1.3), 0.05), Worse},
		{"clear fall at the first look", spread(8, math.Log(0.7), 0.05), Better},
		{"rise without any noise", spread(8, math.Log(1.3), 0), Worse},
		{"identical values", spread(8, 0, 0), Same},
		{"within the margin", spread(50, 0.002, 0.02), Same},
		{"certain but too small to count, too large to be the same", spread(50, 0.0195, 0.002), Undecided},
		{"certain and well below what counts", spread(50, 0.01, 0.002), Same},
		{"noise", spread(50, 0.01, 0.5), Undecided},
	}
	for _, c := range cases {
		got, err := plan.Decide(c.d, 0.02)
		if err != nil {
			t.Fatal(err)
		}
		if got.Outcome != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
		if (got.More == 0) != (got.Outcome != Undecided) || got.More < 0 || got.More > MaxMore {
			t.Errorf("%s: %s with %d more pairs", c.name, got.Outcome, got.More)
		}
		if !got.Ratio.Contains(got.Ratio.Value) || got.Confidence != 0.95 || got.Last != (len(c.d) == 50) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestDecideFlips(t *testing.T) {
	plan := mustPlan(t, 20, 1)
	d := spread(20, math.Log(1.2), 0.1)
	flipped := make([]float64, len(d))
	for i := range d {
		flipped[i] = -d[i]
	}
	rise, errRise := plan.Decide(d, 0.02)
	fall, errFall := plan.Decide(flipped, 0.02)
	if errRise != nil || errFall != nil || rise.Outcome != Worse || fall.Outcome != Better {
		t.Errorf("%v %v, %+v %+v", errRise, errFall, rise, fall)
	}
	if math.Abs(rise.Ratio.Low*fall.Ratio.High-1) > 1e-12 {
		t.Errorf("intervals %+v and %+v are not each other's inverse", rise.Ratio, fall.Ratio)
	}
}

func TestDecideWithTooFewPairs(t *testing.T) {
	plan := mustPlan(t, 4, 1)
	if plan.Decidable || plan.Needs != 6 {
		t.Fatalf("plan for 4 pairs: %+v", plan)
	}
	got, err := plan.Decide(spread(4, math.Log(2), 0.01), 0.02)
	if err != nil || got.Outcome != Undecided || !got.Last {
		t.Fatalf("%+v (%v)", got, err)
	}
	if got.Confidence != 0.875 || got.More < 2 {
		t.Errorf("confidence %g with %d more pairs, want 0.875 and at least 2", got.Confidence, got.More)
	}
}

func TestMorePairsFollowsTheSpread(t *testing.T) {
	plan := mustPlan(t, 20, 2)
	near, errNear := plan.Decide(spread(20, 0.05, 0.2), 0.02)
	far, errFar := plan.Decide(spread(20, 0.05, 0.4), 0.02)
	if errNear != nil || errFar != nil {
		t.Fatal(errNear, errFar)
	}
	if near.Outcome != Undecided || far.Outcome != Undecided || near.More >= far.More {
		t.Errorf("%s %d, with twice the noise %s %d", near.Outcome, near.More, far.Outcome, far.More)
	}
	// Twice the noise needs four times the pairs.
	if ratio := float64(far.More+20) / float64(near.More+20); ratio < 3 || ratio > 5 {
		t.Errorf("%d and %d pairs in all", near.More+20, far.More+20)
	}
}

func TestDecideRefusesBadInput(t *testing.T) {
	plan := mustPlan(t, 20, 2)
	good := spread(20, 0, 0.1)
	bad := spread(20, 0, 0.1)
	bad[3] = math.NaN()
	infinite := spread(20, 0, 0.1)
	infinite[5] = math.Inf(1)
	cases := []struct {
		d        []float64
		smallest float64
		want     string
	}{
		{good[:9], 0.02, "9 pairs are not a look of the plan [8 10 13 17 20]"},
		{nil, 0.02, "too few values"},
		{bad, 0.02, "d[3] is NaN"},
		{infinite, 0.02, "d[5] is +Inf"},
		{good, 0, "smallest difference 0"},
		{good, math.NaN(), "smallest difference NaN"},
	}
	for _, c := range cases {
		got, err := plan.Decide(c.d, c.smallest)
		if err == nil || !strings.Contains(err.Error(), c.want) || got.Outcome != "" {
			t.Errorf("got %+v, %v; want an error with %q", got, err, c.want)
		}
	}
}

func TestLogRatios(t *testing.T) {
	d, err := LogRatios([]float64{1, 2, 1e300}, []float64{2, 1, 1e-300})
	if err != nil || math.Abs(d[0]-math.Ln2) > 1e-15 || math.Abs(d[1]+math.Ln2) > 1e-15 || math.IsInf(d[2], 0) {
		t.Errorf("%v (%v)", d, err)
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := LogRatios([]float64{1, 1}, []float64{1, bad})
		if err == nil || !strings.Contains(err.Error(), "pair 2") {
			t.Errorf("a value of %g: %v", bad, err)
		}
	}
	if _, err := LogRatios([]float64{1}, nil); err == nil {
		t.Error("sides of different lengths were paired")
	}
}

// A reader who is told "the same within 2 %" sees an interval that lies within 2 %.
func TestVerdictShowsWhatItWasReadFrom(t *testing.T) {
	plan := mustPlan(t, 20, 1)
	same, err := plan.Decide(spread(20, 0, 0.015), 0.02)
	if err != nil {
		t.Fatal(err)
	}
	ratio, confidence := same.Verdict()
	if same.Outcome != Same || ratio.Low < 1/1.02 || ratio.High > 1.02 || math.Abs(confidence-0.9) > 1e-9 {
		t.Errorf("%s: %v with %v", same.Outcome, ratio, confidence)
	}
	worse, err := plan.Decide(spread(20, 0.1, 0.015), 0.02)
	if err != nil {
		t.Fatal(err)
	}
	ratio, confidence = worse.Verdict()
	if worse.Outcome != Worse || ratio != worse.Ratio || confidence != worse.Confidence {
		t.Errorf("%s: %v with %v", worse.Outcome, ratio, confidence)
	}
}
