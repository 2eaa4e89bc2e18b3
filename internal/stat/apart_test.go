package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestApart(t *testing.T) {
	cheap, dear := []float64{1.0, 1.2, 0.9, 1.1, 1.3}, []float64{6, 9, 5, 7, 8}
	for _, test := range []struct {
		name    string
		a, b    []float64
		metrics int
		want    Outcome
	}{
		{"five of each, apart", cheap, dear, 2, Worse},
		{"the other way", dear, cheap, 2, Better},
		{"four of each are too few for two metrics", cheap[:4], dear[:4], 2, Undecided},
		{"four of each are enough for one", cheap[:4], dear[:4], 1, Worse},
		{"one run of the dearer side is as cheap", cheap, []float64{6, 9, 5, 7, 1.2}, 2, Undecided},
		{"apart by less than what counts", []float64{1, 1, 1, 1, 1}, []float64{1.019, 2, 2, 2, 2}, 2, Undecided},
	} {
		plan, err := NewPlan(len(test.a), test.metrics, 0.05)
		if err != nil {
			t.Fatal(err)
		}
		logs := make([]float64, len(test.a))
		for i := range logs {
			logs[i] = math.Log(test.b[i] / test.a[i])
		}
		decision, err := plan.Decide(logs, 0.02)
		if err != nil {
			t.Fatal(err)
		}
		if decision.Outcome != Undecided {
			t.Fatalf("%s: signed ranks say %s", test.name, decision.Outcome)
		}
		got := plan.Apart(decision, test.a, test.b, 0.02)
		if got.Outcome != test.want || (got.More == 0) != (test.want != Undecided) || got.Ratio != decision.Ratio {
			t.Errorf("%s: %+v, want %s", test.name, got, test.want)
		}
	}
	plan, _ := NewPlan(20, 2, 0.05)
	if got := plan.Apart(Decision{Outcome: Undecided}, cheap, dear, 0.02); got.Outcome != Undecided {
		t.Errorf("a plan that signed ranks can decide was decided by ranks: %+v", got)
	}
}

// Of equal sides a verdict is as rare as the plan allows, whatever the noise: of two modes as well,
// and where it drifts.
func TestApartIsSeldomWrong(t *testing.T) {
	const cases = 20_000
	random := rand.New(rand.NewPCG(1, 2))
	for name, noise := range map[string]func(pair int) float64{
		"normal":     func(int) float64 { return 1 + 0.1*random.NormFloat64() },
		"log-normal": func(int) float64 { return math.Exp(0.5 * random.NormFloat64()) },
		"two modes":  func(int) float64 { return 1 + 3*float64(random.IntN(2)) + 0.1*random.Float64() },
		"drifting":   func(pair int) float64 { return 1 + 0.3*float64(pair) + 0.1*random.NormFloat64() },
	} {
		for _, pairs := range []int{5, 6} {
			plan, err := NewPlan(pairs, 2, 0.05)
			if err != nil {
				t.Fatal(err)
			}
			wrong := 0
			for range cases {
				a, b := make([]float64, pairs), make([]float64, pairs)
				for i := range pairs {
					a[i], b[i] = noise(i), noise(i)
				}
				if plan.Apart(Decision{Outcome: Undecided}, a, b, 0.02).Outcome != Undecided {
					wrong++
				}
			}
			if rate := float64(wrong) / cases; rate > 0.0125 {
				t.Errorf("%s noise, %d pairs: %.2f %% of equal pairs differ", name, pairs, 100*rate)
			}
		}
	}
}
