package ci

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"culprit/internal/cause"
	"culprit/internal/investigate"
	"culprit/internal/stat"
	"culprit/internal/trial"
)

var wall = investigate.Metric{Name: "wall", Unit: "s", Better: "lower"}

// A change of what CanShow says fails in about 4 of 5 checks, when it is looked at as investigate
// looks, and no change practically never does.
func TestCanShow(t *testing.T) {
	const pairs, failOver, checks = 40, 0.05, 300
	random := rand.New(rand.NewPCG(1, 2))
	plan, err := stat.NewPlan(pairs, 2, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	for _, spread := range []float64{0.01, 0.03, 0.1} {
		noise := Noise{Metric: "wall", Spread: spread, Of: 1000}
		noise.canShow(atLooks+power, pairs, failOver)
		for _, change := range []float64{0, math.Log1p(*noise.CanShow)} {
			failed := 0
			for range checks {
				failed += fails(t, plan, random, change, spread, failOver)
			}
			rate := float64(failed) / checks
			if change == 0 && rate > 0.02 || change > 0 && rate < 0.72 {
				t.Errorf("spread %g: a change of %.3f fails in %.2f of the checks", spread, change, rate)
			}
		}
	}
}

func fails(t *testing.T, plan *stat.Plan, random *rand.Rand, change, spread, failOver float64) int {
	t.Helper()
	var logs []float64
	for look := plan.Next(0); look > 0; look = plan.Next(look) {
		for len(logs) < look {
			logs = append(logs, change+spread*random.NormFloat64())
		}
		decision, err := plan.Decide(logs, MustShow(failOver))
		if err != nil {
			t.Fatal(err)
		}
		if decision.Outcome == stat.Undecided && !decision.Last {
			continue
		}
		ratio, confidence := decision.Verdict()
		effect := cause.Effect{Ratio: ratio.Value, Low: ratio.Low, High: ratio.High, Confidence: confidence}
		if outcomeOf(wall, effect, failOver) == investigate.Worse {
			return 1
		}
		break
	}
	return 0
}

func oneSided(random *rand.Rand, level, spread float64) *investigate.Case {
	c := &investigate.Case{Host: investigate.Host{CPU: "x", CPUs: 2}, A: investigate.SideSummary{Command: "./bench"}}
	batch := level * math.Exp(spread*random.NormFloat64())
	for i := range 5 {
		c.Trials = append(c.Trials, trial.Run{Side: "A", Pair: i, Kind: trial.KindMeasure, Valid: true,
			Metrics: map[string]float64{"wall": batch * math.Exp(0.002*random.NormFloat64())}})
	}
	return c
}

// Batches differ by more than the runs within one: only the batches are counted, so that few checks
// of an unchanged program fail, and a change beyond what can be shown is found.
func TestAgainst(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, change := range []float64{1, 1.25} {
		outcomes := map[investigate.Outcome]int{}
		for range 300 {
			var batches []Batch
			for range 10 {
				batches = append(batches, Batch{Name: "b", Case: oneSided(random, 1, 0.006)})
			}
			r, err := Against(batches, oneSided(random, change, 0.006), []investigate.Metric{wall}, 0.05)
			if err != nil {
				t.Fatal(err)
			}
			outcomes[r.Outcome]++
		}
		if worse := outcomes[investigate.Worse]; change == 1 && worse > 2 || change > 1 && worse < 250 {
			t.Errorf("change %g: %v", change, outcomes)
		}
	}
	noisy := []Batch{{Case: oneSided(random, 1, 0)}, {Case: oneSided(random, 1.5, 0)}, {Case: oneSided(random, 2, 0)}}
	r, err := Against(noisy, oneSided(random, 9, 0), []investigate.Metric{wall}, 0.05)
	if err != nil || r.Outcome != Refused || !strings.Contains(r.Why, "cannot show a change of 10 %") {
		t.Errorf("a baseline that differs by half gives %+v, %v", r, err)
	}
	if _, err := Against(noisy[:2], noisy[0].Case, []investigate.Metric{wall}, 0.05); err == nil {
		t.Error("two batches have no spread that says something")
	}
	other := oneSided(random, 1, 0)
	other.Host.CPU = "y"
	if kept, left := OfKind(append(noisy, Batch{Name: "o", Case: other}), noisy[0].Case); len(kept) != 3 ||
		len(left) != 1 || !strings.Contains(left[0], "another kind of host") {
		t.Errorf("kept %d, left out %v", len(kept), left)
	}
}

// A host on which A is not A is refused, and so is one whose noise hides what matters.
func TestRefuse(t *testing.T) {
	quiet := 0.06
	aa := &investigate.Case{Metrics: []investigate.MetricResult{{Metric: wall, Outcome: investigate.Worse,
		Effect: cause.Effect{Ratio: 1.3}}}}
	if why := Refuse(aa, []Noise{{Metric: "wall", CanShow: &quiet, Enough: true}}, 0.05); !strings.Contains(why, "+30 %") {
		t.Errorf("A that is not A: %q", why)
	}
	aa.Metrics[0].Outcome = investigate.Undecided
	loud := 0.4
	why := Refuse(aa, []Noise{{Metric: "wall", Spread: 0.2, CanShow: &loud}, {Metric: "cpu"}}, 0.05)
	if !strings.Contains(why, "only one of 40 %") {
		t.Errorf("a noisy host: %q", why)
	}
	if why := Refuse(aa, []Noise{{Metric: "wall", CanShow: &loud}, {Metric: "cpu", CanShow: &quiet, Enough: true}},
		0.05); why != "" {
		t.Errorf("one metric is enough: %q", why)
	}
	if why := Refuse(aa, []Noise{{Metric: "wall"}}, 0.05); !strings.Contains(why, "too few") {
		t.Errorf("no pairs: %q", why)
	}
}

func TestOutcomeOf(t *testing.T) {
	higher := investigate.Metric{Name: "rate", Better: "higher"}
	for _, test := range []struct {
		metric    investigate.Metric
		low, high float64
		want      investigate.Outcome
	}{
		{wall, 1.06, 1.3, investigate.Worse}, {wall, 1.04, 1.3, investigate.Undecided},
		{wall, 0.98, 1.04, investigate.Same}, {wall, 0.7, 0.9, investigate.Better},
		{wall, 0, math.Inf(1), investigate.Undecided}, {wall, math.NaN(), math.NaN(), investigate.Undecided},
		{higher, 0.7, 0.9, investigate.Worse}, {higher, 1.06, 1.3, investigate.Better},
	} {
		effect := cause.Effect{Ratio: math.Sqrt(test.low * test.high), Low: test.low, High: test.high}
		if math.IsNaN(effect.Ratio) {
			effect.Ratio = 1
		}
		if got := outcomeOf(test.metric, effect, 0.05); got != test.want {
			t.Errorf("%s %g to %g is %s, want %s", test.metric.Name, test.low, test.high, got, test.want)
		}
	}
}
