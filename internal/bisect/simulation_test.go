package bisect

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// world is a simulated history: levels, noise, candidates that do not build.
type world struct {
	random *rand.Rand
	levels []float64 // ln of the metric
	noise  float64
	own    []float64 // what each candidate's layout adds
	broken map[int]bool
	drift  float64
	runs   int
	builds int
	odd    float64 // chance of a run that something came between
}

func (w *world) prepare(_ context.Context, position int) (time.Duration, error) {
	w.builds++
	if w.broken[position] {
		return 0, fmt.Errorf("does not build: %w", errSkip)
	}
	return time.Second, nil
}

func (w *world) run(_ context.Context, position int) (map[string]float64, error) {
	w.runs++
	w.drift += w.random.NormFloat64() * w.noise / 20
	value := w.levels[position] + w.own[position] + w.drift + w.noise*w.random.NormFloat64()
	if w.random.Float64() < w.odd {
		value += 10 * w.noise * w.random.Float64()
	}
	return map[string]float64{"wall": math.Exp(value)}, nil
}

// step is a planted change.
type planted struct {
	at   int
	size float64
}

func history(random *rand.Rand, last int, noise, own float64, steps ...planted) *world {
	w := &world{random: random, noise: noise, levels: make([]float64, last+1), own: make([]float64, last+1),
		broken: map[int]bool{}}
	for position := range w.levels {
		for _, step := range steps {
			if position >= step.at {
				w.levels[position] += math.Log1p(step.size)
			}
		}
		w.own[position] = own * random.NormFloat64()
	}
	return w
}

func simulate(t *testing.T, w *world, seed int64) *Result {
	t.Helper()
	result := &Result{}
	options := Options{Metrics: []Metric{{Name: "wall"}}, Smallest: 0.02, Trials: 100, Seed: seed, Good: "good", Bad: "bad",
		Progress: func(string) {}}
	x := newEngine(options, len(w.levels)-1, w, result)
	if err := x.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	result.Decisions = x.decisions
	return result
}

// A planted 5 % among 200 candidates with 3 % noise: the promise of issue 15.
func TestFindsOneStep(t *testing.T) {
	const rounds = 200
	right, most, total, runs := 0, 0, 0, 0
	for seed := range int64(rounds) {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		at := 1 + random.IntN(200)
		w := history(random, 200, 0.03, 0.003, planted{at, 0.05})
		w.odd = 0.02
		result := simulate(t, w, seed+1)
		most, total, runs = max(most, len(result.Decisions)), total+len(result.Decisions), runs+w.runs
		if len(result.Culprits) > 0 && result.Culprits[0].Position == at {
			right++
		} else {
			t.Logf("seed %d: planted at %d, found %+v outcome %s", seed, at, result.Culprits, result.Outcome)
		}
	}
	t.Logf("right %d of %d, decisions %.1f on average, at most %d, %d runs on average", right, rounds,
		float64(total)/rounds, most, runs/rounds)
	if right < rounds*19/20 {
		t.Errorf("right in %d of %d", right, rounds)
	}
	if limit := 2.5 * math.Log2(200); float64(most) > limit {
		t.Errorf("%d decisions, at most %.1f allowed", most, limit)
	}
}
