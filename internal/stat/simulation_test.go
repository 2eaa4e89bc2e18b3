package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// A noise makes the factor by which the k-th run of a case is off. It may keep state over a case.
type noise struct {
	name  string
	start func(random *rand.Rand) func(run int) float64
}

func noises() []noise {
	return []noise{
		{"normal", func(random *rand.Rand) func(int) float64 {
			return func(int) float64 { return 1 + 0.03*random.NormFloat64() }
		}},
		{"log-normal", func(random *rand.Rand) func(int) float64 {
			return func(int) float64 { return math.Exp(0.15 * random.NormFloat64()) }
		}},
		{"bimodal", func(random *rand.Rand) func(int) float64 {
			return func(int) float64 {
				factor := 1 + 0.01*random.NormFloat64()
				if random.Float64() < 0.3 {
					factor *= 1.2
				}
				return factor
			}
		}},
		{"drifting", func(random *rand.Rand) func(int) float64 {
			drift, level := 0.004*random.NormFloat64(), 0.0
			return func(run int) float64 {
				level += 0.01 * random.NormFloat64()
				return math.Exp(drift*float64(run) + level + 0.02*random.NormFloat64())
			}
		}},
	}
}

// runCase makes the trials of one investigation with two metrics that share some of their noise, in
// random order within each pair, and stops at the look that decides both. It returns both metrics'
// decisions.
func runCase(t *testing.T, plan *Plan, n noise, effect, smallest float64, random *rand.Rand) [2]Decision {
	t.Helper()
	factor := n.start(random)
	var d [2][]float64
	var decided [2]Decision
	run := 0
	for pairs := 0; ; {
		look := plan.Next(pairs)
		for ; pairs < look; pairs++ {
			var sides [2][2]float64 // [side][metric]
			order := random.IntN(2)
			for _, side := range [2]int{order, 1 - order} {
				shared := factor(run)
				run++
				work := 1.0
				if side == 1 {
					work = effect
				}
				sides[side] = [2]float64{work * shared, work * shared * (1 + 0.01*random.NormFloat64())}
			}
			for metric := range d {
				d[metric] = append(d[metric], math.Log(sides[1][metric]/sides[0][metric]))
			}
		}
		done := true
		for metric := range d {
			if decided[metric].Outcome == "" || decided[metric].Outcome == Undecided {
				decision, err := plan.Decide(d[metric], smallest)
				if err != nil {
					t.Fatal(err)
				}
				decided[metric] = decision
			}
			done = done && decided[metric].Outcome != Undecided
		}
		if done || plan.Next(pairs) == 0 {
			return decided
		}
	}
}

// casesOf is how many investigations are simulated: a quarter of them with -short.
func casesOf() int {
	if testing.Short() {
		return 250
	}
	return 1000
}

func TestSameSidesGiveFewFalseAlarms(t *testing.T) {
	simulatedCases := casesOf()
	plan := mustPlan(t, 40, 2)
	for i, n := range noises() {
		random := rand.New(rand.NewPCG(11, uint64(i)))
		alarms, misses := 0, 0
		for range simulatedCases {
			alarm, miss := false, false
			for _, decision := range runCase(t, plan, n, 1, 0.02, random) {
				alarm = alarm || decision.Outcome == Worse || decision.Outcome == Better
				miss = miss || !decision.Ratio.Contains(1)
			}
			if alarm {
				alarms++
			}
			if miss {
				misses++
			}
		}
		// Both metrics count: 5 % over the whole investigation.
		if alarms > simulatedCases*5/100 {
			t.Errorf("%s: %d false alarms in %d investigations", n.name, alarms, simulatedCases)
		}
		if misses > simulatedCases*6/100 {
			t.Errorf("%s: %d of %d investigations hold an interval that misses", n.name, misses, simulatedCases)
		}
		t.Logf("%s: %d false alarms, %d with an interval that misses", n.name, alarms, misses)
	}
}

func TestIntervalsCoverTheEffectWheneverOneStops(t *testing.T) {
	simulatedCases := casesOf()
	plan := mustPlan(t, 40, 1)
	for i, n := range noises() {
		for _, effect := range []float64{1, 1.03, 1.10, 0.8} {
			random := rand.New(rand.NewPCG(12, uint64(i)))
			covered := 0
			for range simulatedCases {
				// The first metric alone: its interval is at 95 % in a plan for one metric.
				if runCase(t, plan, n, effect, 0.02, random)[0].Ratio.Contains(effect) {
					covered++
				}
			}
			if covered < simulatedCases*94/100 {
				t.Errorf("%s: %d of %d intervals cover the ratio %g", n.name, covered, simulatedCases, effect)
			}
		}
	}
}

func TestFalseSameIsRare(t *testing.T) {
	simulatedCases := casesOf()
	plan := mustPlan(t, 40, 2)
	for i, n := range noises() {
		random := rand.New(rand.NewPCG(13, uint64(i)))
		wrong := 0
		for range simulatedCases {
			// Just not the same: the hardest case there is.
			for _, decision := range runCase(t, plan, n, 1.0201, 0.02, random) {
				if decision.Outcome == Same {
					wrong++
					break
				}
			}
		}
		if wrong > simulatedCases*6/100 {
			t.Errorf("%s: %d of %d called the same although they differ by 2 %%", n.name, wrong, simulatedCases)
		}
	}
}

func TestClearEffectsAreFoundEarly(t *testing.T) {
	quiet := noise{"quiet", func(random *rand.Rand) func(int) float64 {
		return func(int) float64 { return 1 + 0.02*random.NormFloat64() }
	}}
	for _, c := range []struct {
		maxPairs, latest int
		effect           float64
		want             Outcome
	}{{50, 10, 1.10, Worse}, {50, 10, 0.90, Better}, {8, 8, 1.10, Worse}, {50, 50, 1.00, Same}} {
		t.Run(fmt.Sprintf("%g in %d pairs", c.effect, c.maxPairs), func(t *testing.T) {
			plan := mustPlan(t, c.maxPairs, 2)
			random := rand.New(rand.NewPCG(14, 1))
			found, pairs := 0, 0
			for range 300 {
				decided := runCase(t, plan, quiet, c.effect, 0.02, random)
				if decided[0].Outcome == c.want && decided[0].Pairs <= c.latest {
					found++
				}
				pairs += decided[0].Pairs
			}
			if found < 285 {
				t.Errorf("found in %d of 300 within %d pairs", found, c.latest)
			}
			t.Logf("%d pairs on average", pairs/300)
		})
	}
}
