package stat

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// exactError is the probability under no change that any look rejects, by enumerating every order
// of signs: an independent check of the calibration for small plans.
func exactError(looks, limits []int, oneSided bool) float64 {
	state := map[uint64]float64{0: 1}
	rejected, pairs := 0.0, 0
	for i, look := range looks {
		for ; pairs < look; pairs++ {
			next := make(map[uint64]float64, 2*len(state))
			for signs, chance := range state {
				for position := range pairs + 1 {
					for bit := range uint64(2) {
						words := []uint64{signs}
						insertBit(words, position, bit)
						next[words[0]] += chance / float64(2*(pairs+1))
					}
				}
			}
			state = next
		}
		for signs, chance := range state {
			lower := 0
			for position := range look {
				lower += int(signs>>position&1) * (position + 1)
			}
			upper := look*(look+1)/2 - lower
			if upper <= limits[i] || !oneSided && lower <= limits[i] {
				rejected += chance
				delete(state, signs)
			}
		}
	}
	return rejected
}

func TestSmallPlansKeepTheErrorRateExactly(t *testing.T) {
	for maxPairs := 5; maxPairs <= 13; maxPairs++ {
		for metrics := 1; metrics <= 3; metrics++ {
			plan, err := NewPlan(maxPairs, metrics, 0.05)
			if err != nil {
				t.Fatal(err)
			}
			alpha := 0.05 / float64(metrics)
			two, one := exactError(plan.Looks, plan.twoSided, false), exactError(plan.Looks, plan.oneSided, true)
			if two > alpha || one > alpha {
				t.Errorf("%d pairs, %d metrics: errors %.4f, %.4f exceed %.4f", maxPairs, metrics, two, one, alpha)
			}
			if plan.Decidable && two < 0.3*alpha {
				t.Errorf("%d pairs, %d metrics: use only %.4f of %.4f", maxPairs, metrics, two, alpha)
			}
			if plan.Decidable != (maxPairs >= plan.Needs) {
				t.Errorf("%d pairs, %d metrics: decidable %v but needs %d",
					maxPairs, metrics, plan.Decidable, plan.Needs)
			}
		}
	}
}

// simulatedError draws real differences and ranks them, sharing nothing with the calibration but
// the plan.
func simulatedError(t *testing.T, plan *Plan, paths int, seed uint64) (two, one float64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 99))
	last := plan.Looks[len(plan.Looks)-1]
	d := make([]float64, last)
	for range paths {
		for i := range d {
			d[i] = random.NormFloat64()
		}
		rejectsTwo, rejectsOne := false, false
		for i, look := range plan.Looks {
			ranks := doubledRanks(absolute(d[:look]))
			lower, total := 0, look*(look+1)/2
			for j, rank := range ranks {
				if d[j] > 0 {
					lower += rank / 2
				}
			}
			rejectsTwo = rejectsTwo || min(lower, total-lower) <= plan.twoSided[i]
			rejectsOne = rejectsOne || lower <= plan.oneSided[i]
		}
		if rejectsTwo {
			two++
		}
		if rejectsOne {
			one++
		}
	}
	return two / float64(paths), one / float64(paths)
}

func absolute(d []float64) []float64 {
	sizes := slices.Clone(d)
	for i := range sizes {
		sizes[i] = math.Abs(sizes[i])
	}
	return sizes
}

func TestLongPlansKeepAndUseTheErrorRate(t *testing.T) {
	for _, c := range []struct{ maxPairs, metrics, endAt, paths int }{
		{30, 1, 30, 20_000}, {50, 2, 50, 20_000}, {50, 2, 27, 20_000}, {110, 2, 110, 6_000},
	} {
		plan, err := NewPlan(c.maxPairs, c.metrics, 0.05)
		if err != nil {
			t.Fatal(err)
		}
		if c.endAt < c.maxPairs {
			if plan, err = plan.EndAt(c.endAt); err != nil {
				t.Fatal(err)
			}
		}
		if testing.Short() {
			c.paths /= 4
		}
		alpha := 0.05 / float64(c.metrics)
		two, one := simulatedError(t, plan, c.paths, 7)
		slack := 3 * math.Sqrt(alpha*(1-alpha)/float64(c.paths))
		for name, rate := range map[string]float64{"two-sided": two, "one-sided": one} {
			if rate > alpha+slack || rate < 0.7*alpha {
				t.Errorf("%+v, looks %v: %s error %.4f, planned %.4f", c, plan.Looks, name, rate, alpha)
			}
		}
	}
}

func TestEndedPlansKeepTheErrorRateExactly(t *testing.T) {
	step := 10
	if testing.Short() {
		step = 20
	}
	for maxPairs := 9; maxPairs <= 50; maxPairs += step {
		for end := 2; end <= min(maxPairs, 12); end++ {
			plan, err := NewPlan(maxPairs, 2, 0.05)
			if err != nil {
				t.Fatal(err)
			}
			if plan, err = plan.EndAt(end); err != nil {
				t.Fatal(err)
			}
			two, one := exactError(plan.Looks, plan.twoSided, false), exactError(plan.Looks, plan.oneSided, true)
			if two > 0.025 || one > 0.025 {
				t.Errorf("%d pairs ended at %d: errors %.4f and %.4f", maxPairs, end, two, one)
			}
			if plan.Looks[len(plan.Looks)-1] != end || plan.Next(end) != 0 {
				t.Errorf("%d pairs ended at %d: looks %v", maxPairs, end, plan.Looks)
			}
		}
	}
}

func TestPlanShape(t *testing.T) {
	plan, err := NewPlan(50, 2, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{8, 10, 13, 17, 22, 29, 38, 50}; !slices.Equal(plan.Looks, want) {
		t.Errorf("looks %v, want %v", plan.Looks, want)
	}
	if plan.Next(0) != 8 || plan.Next(8) != 10 || plan.Next(50) != 0 {
		t.Errorf("next looks %d %d %d", plan.Next(0), plan.Next(8), plan.Next(50))
	}
	again, err := NewPlan(50, 2, 0.05)
	if err != nil || !slices.Equal(plan.twoSided, again.twoSided) || !slices.Equal(plan.oneSided, again.oneSided) {
		t.Errorf("a second plan differs: %v %v (%v)", plan.twoSided, again.twoSided, err)
	}
	longest, err := NewPlan(1_000_000, 2, 0.05)
	if err != nil || longest.Looks[len(longest.Looks)-1] != MaxPairs || len(longest.Looks) > mostLooks+1 {
		t.Errorf("longest plan %v (%v)", longest.Looks, err)
	}
}

func TestPlanningIsFast(t *testing.T) {
	for _, maxPairs := range []int{12, 50, 256} {
		fastest := time.Hour
		for range 3 {
			start := time.Now()
			if _, err := NewPlan(maxPairs, 2, 0.05); err != nil {
				t.Fatal(err)
			}
			fastest = min(fastest, time.Since(start))
		}
		// Thirty times the promise: a busy machine must not fail it, a search that explodes must.
		if fastest > 3*time.Second {
			t.Errorf("planning %d pairs took %v", maxPairs, fastest)
		}
	}
}

func TestPlanRefusesBadInput(t *testing.T) {
	for _, c := range []struct {
		pairs, metrics int
		alpha          float64
	}{{1, 1, 0.05}, {10, 0, 0.05}, {10, 1, 0}, {10, 1, 1}, {10, 1, math.NaN()}} {
		if plan, err := NewPlan(c.pairs, c.metrics, c.alpha); err == nil || plan != nil {
			t.Errorf("NewPlan(%d, %d, %g) gave %v, %v", c.pairs, c.metrics, c.alpha, plan, err)
		}
	}
	plan, err := NewPlan(20, 2, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.EndAt(21); err == nil {
		t.Error("a plan for 20 pairs ended at 21")
	}
	if _, err := plan.EndAt(1); !errors.Is(err, ErrTooFew) {
		t.Errorf("ending at one pair: %v", err)
	}
}
