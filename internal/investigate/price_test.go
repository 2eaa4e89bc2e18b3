package investigate

import (
	"testing"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/stat"
)

// What the same work takes on one CPU tells whether sharing costs anything; with one side that is
// the proof, and it answers the doubt.
func TestPrice(t *testing.T) {
	for _, one := range []struct {
		low, value, high float64
		verdict          string
		price            cause.PriceVerdict
		doubts           int
	}{
		{0.40, 0.49, 0.62, provenVerdict, cause.PriceCostly, 1},
		{0.97, 1, 1.03, refutedVerdict, cause.PriceHarmless, 1},
		{1.1, 1.2, 1.3, refutedVerdict, cause.PriceHarmless, 1},
		{0.8, 0.97, 1.1, undecidedVerdict, cause.PriceUndecided, 2},
	} {
		inv := &investigation{c: &Case{}}
		suspect := &cause.Suspect{Cause: cause.LineFalseSharing, Share: compare.Interval{Value: 0.98, Low: 0.98, High: 0.98},
			Doubts: []cause.Doubt{{Kind: cause.DoubtFree, Text: "free"}, {Kind: cause.DoubtRuns, Text: "runs"}}}
		decision := stat.Decision{Ratio: stat.Interval{Value: one.value, Low: one.low, High: one.high}, Confidence: 0.95}
		planned := flip{what: "affinity", prices: true, tree: &treeFlip{}}
		inv.conclude(planned, decision, suspect, 20)
		if suspect.Proof.Verdict != one.verdict || suspect.Price == nil || suspect.Price.Verdict != one.price ||
			len(suspect.Doubts) != one.doubts || suspect.Proof.Why == "" {
			t.Errorf("%v: %+v, %+v, doubts %v", one.value, suspect.Proof, suspect.Price, suspect.Doubts)
		}
		if gain := suspect.Price.Gain; gain.Low > gain.Ratio || gain.Ratio > gain.High || gain.Ratio*one.value < 0.999 {
			t.Errorf("%v: %+v", one.value, gain)
		}
	}
	if price := priceOf(stat.Interval{Value: 0.5, Low: 0, High: 1}, 0.95); price != nil {
		t.Errorf("a price without an end: %+v", price)
	}
}

// Of one side, trials end when the price is known closely, not when sharing is seen to cost
// something. What is free, what is held against a change, and what no interval holds, needs no more
// of them.
func TestTrialsUntilThePriceIsKnown(t *testing.T) {
	of := func(low, value, high float64) stat.Decision {
		return stat.Decision{Ratio: stat.Interval{Low: low, Value: value, High: high}}
	}
	for _, one := range []struct {
		name     string
		b        *SideSummary
		prices   bool
		decision stat.Decision
		enough   bool
	}{
		{"costly, from 2 to 7 times", nil, true, of(0.15, 0.22, 0.45), false},
		{"costly, its upper end a third away", nil, true, of(0.15, 0.20, 0.22), false},
		{"costly, within a quarter", nil, true, of(0.18, 0.20, 0.24), true},
		{"free", nil, true, of(0.97, 1, 1.03), true},
		{"two sides", &SideSummary{}, true, of(0.15, 0.22, 0.45), true},
		{"no price", nil, false, of(0.15, 0.22, 0.45), true},
		{"no interval", nil, true, of(0, 0.22, 0.45), true},
	} {
		inv := &investigation{c: &Case{B: one.b}}
		if enough := inv.closeEnough(flip{prices: one.prices}, one.decision); enough != one.enough {
			t.Errorf("%s: enough %v", one.name, enough)
		}
	}
}

// With two sides the flip is held against the change, as any other; the price is told beside it.
func TestPriceBesideTheChange(t *testing.T) {
	inv := &investigation{c: &Case{B: &SideSummary{}, Outcome: Worse,
		Effect: &cause.Effect{Ratio: 2, Low: 1.9, High: 2.1}}}
	suspect := &cause.Suspect{Share: compare.Interval{Value: 1, Low: 0.9, High: 1.1}}
	decision := stat.Decision{Ratio: stat.Interval{Value: 0.5, Low: 0.48, High: 0.53}, Confidence: 0.95}
	inv.conclude(flip{prices: true}, decision, suspect, 20)
	if suspect.Proof.Verdict != provenVerdict || suspect.Price == nil || suspect.Level != cause.Proven {
		t.Errorf("%+v, %+v", suspect.Proof, suspect.Price)
	}
}

// Code that grew on more CPUs turns out to be contention where one CPU takes the growth away, and
// stays code where it does not: neither is a price of a line, nor does the second refute that the
// code grew.
func TestCodeThatTurnsOutToBeContended(t *testing.T) {
	for _, one := range []struct {
		low, value, high float64
		cause            cause.ID
		level            cause.Level
	}{
		{0.48, 0.5, 0.53, cause.CPUContended, cause.Proven},
		{0.98, 1, 1.02, cause.CodeGrew, cause.Explains},
		{0.7, 0.9, 1.1, cause.CodeGrew, cause.Explains},
	} {
		inv := &investigation{c: &Case{B: &SideSummary{}, Outcome: Worse, Metric: Metric{Name: "cpu"},
			Effect: &cause.Effect{Ratio: 2, Low: 1.9, High: 2.1}}, options: Options{Metric: MetricChoice{Name: "cpu"}}}
		suspect := &cause.Suspect{Cause: cause.CodeGrew, Tests: cause.CPUContended, Level: cause.Explains,
			Share: compare.Interval{Value: 1, Low: 0.9, High: 1.1}}
		planned, err := inv.planFlip(suspect)
		if err != nil || planned.tree == nil || planned.prices || !planned.exact {
			t.Fatalf("%+v, %v", planned, err)
		}
		decision := stat.Decision{Ratio: stat.Interval{Value: one.value, Low: one.low, High: one.high}, Confidence: 0.95}
		inv.conclude(planned, decision, suspect, 20)
		if suspect.Cause != one.cause || suspect.Level != one.level || suspect.Price != nil || len(suspect.Evidence) != 1 {
			t.Errorf("%v: %+v", one.value, suspect)
		}
	}
}
