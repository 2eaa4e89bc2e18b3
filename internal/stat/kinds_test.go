package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestKindsOf(t *testing.T) {
	usual := []float64{1, 1.02, 0.99, 1.01, 1, 1.03, 0.98, 1}
	some := []float64{1, 9, 0.99, 1.01, 8, 1.03, 0.98, 1}
	for _, one := range []struct {
		name                 string
		a, b                 []float64
		found                bool
		slowA, slowB, aloneB int
	}{
		{"two runs of B are slow", usual, some, true, 0, 2, 2},
		{"the same pairs of both are slow", some, some, true, 2, 2, 0},
		{"all runs of B are slow", usual, []float64{9, 9, 9.1, 9, 8.9, 9, 9, 9}, true, 0, 8, 8},
		{"they scatter evenly", []float64{1, 1.2, 1.4, 1.6}, []float64{1.1, 1.3, 1.5, 1.7}, false, 0, 0, 0},
		{"all are alike", []float64{1, 1}, []float64{1, 1}, false, 0, 0, 0},
		{"one is zero", []float64{0, 1}, []float64{1, 1}, false, 0, 0, 0},
		{"sides of different lengths", usual, some[:3], false, 0, 0, 0},
	} {
		kinds, found := KindsOf(one.a, one.b, 0.95)
		if found != one.found {
			t.Errorf("%s: found %v", one.name, found)
		} else if found && (kinds.SlowA != one.slowA || kinds.SlowB != one.slowB || kinds.AloneB != one.aloneB) {
			t.Errorf("%s: %+v", one.name, kinds)
		}
	}
}

// runsOf are runs of which some take so many times as long as usual.
func runsOf(random *rand.Rand, pairs int, slow, times float64) []float64 {
	values := make([]float64, pairs)
	for i := range values {
		values[i] = math.Exp(0.01 * random.NormFloat64())
		if random.Float64() < slow {
			values[i] *= times
		}
	}
	return values
}

// decideBoth takes all looks of a plan, as an investigation does.
func decideBoth(t *testing.T, plan *Plan, a, b []float64) (Decision, *Kinds) {
	t.Helper()
	var decision Decision
	var kinds *Kinds
	for _, look := range plan.Looks {
		logs, err := LogRatios(a[:look], b[:look])
		if err != nil {
			t.Fatal(err)
		}
		if decision, err = plan.Decide(logs, 0.02); err != nil {
			t.Fatal(err)
		}
		if decision, kinds = plan.Kinds(decision, a[:look], b[:look], 0.02); decision.Outcome != Undecided {
			break
		}
	}
	return decision, kinds
}

func TestSomeSlowRunsDecide(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	plan, err := NewPlan(64, 2, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 300
	count := func(slowA, slowB, times float64) map[Outcome]int {
		seen := map[Outcome]int{}
		for range rounds {
			decision, kinds := decideBoth(t, plan, runsOf(random, 64, slowA, times), runsOf(random, 64, slowB, times))
			if decision.OfMeans && (kinds == nil || decision.Ratio != kinds.Ratio) {
				t.Fatalf("decided by means without them: %+v", decision)
			}
			seen[decision.Outcome]++
		}
		return seen
	}
	if seen := count(0, 0.3, 8); seen[Worse] < rounds*93/100 || seen[Better] > 0 {
		t.Errorf("three of ten runs of B take 8 times as long: %v", seen)
	}
	if seen := count(0.3, 0, 8); seen[Better] < rounds*93/100 {
		t.Errorf("three of ten runs of A do: %v", seen)
	}
	if seen := count(0.2, 0.2, 8); seen[Worse]+seen[Better] > rounds*3/100 {
		t.Errorf("two of ten runs of both do: %v", seen)
	}
	if seen := count(0.02, 0.02, 8); seen[Worse]+seen[Better] > rounds/100 || seen[Same] < rounds*80/100 {
		t.Errorf("one of fifty runs of both does, by the host: %v", seen)
	}
	if seen := count(0, 0, 1); seen[Same] < rounds*98/100 {
		t.Errorf("none does: %v", seen)
	}
}

func TestKindsHoldBackTheSame(t *testing.T) {
	plan, err := NewPlan(8, 1, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	a := []float64{1, 1.001, 0.999, 1, 1, 1.001, 1, 0.999}
	b := []float64{5, 1.001, 0.999, 6, 1, 1.001, 1, 0.999}
	same := Decision{Outcome: Same, Pairs: 8, Last: true}
	decision, kinds := plan.Kinds(same, a, b, 0.02)
	if decision.Outcome != Undecided || kinds == nil || decision.More < 8 {
		t.Errorf("two of eight runs take five times as long: %+v %+v", decision, kinds)
	}
	b[3] = 1
	if decision, kinds := plan.Kinds(same, a, b, 0.02); decision != same || kinds != nil {
		t.Errorf("one run does: %+v %+v", decision, kinds)
	}
	b[3], b[0] = 1.03, 1.03
	if decision, kinds := plan.Kinds(same, a, b, 0.02); decision != same || kinds != nil {
		t.Errorf("the means differ by less than counts: %+v %+v", decision, kinds)
	}
}
