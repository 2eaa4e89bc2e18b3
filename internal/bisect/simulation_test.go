package bisect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"culprit/internal/stat"
)

// world is a simulated history: levels, noise, candidates that do not build.
type world struct {
	random *rand.Rand
	levels []float64 // ln of the metric
	own    []float64 // what each candidate's layout adds
	noise  float64
	drift  float64
	odd    float64 // chance of a run that something came between
	broken map[int]bool
	fails  map[int]bool // builds, but its command fails
	runs   int
	builds int
	until  int // runs after which the process is killed; 0: never
}

var errKilled = errors.New("killed")

func (w *world) prepare(_ context.Context, position int) (time.Duration, error) {
	w.builds++
	if w.broken[position] {
		return 0, skipError("does not build")
	}
	return time.Second, nil
}

func (w *world) run(_ context.Context, position int) (map[string]float64, error) {
	w.runs++
	if w.until > 0 && w.runs > w.until {
		return nil, errKilled
	}
	if w.fails[position] {
		return nil, skipError("command fails")
	}
	w.drift += w.random.NormFloat64() * w.noise / 20
	value := w.levels[position] + w.own[position] + w.drift + w.noise*w.random.NormFloat64()
	if w.random.Float64() < w.odd {
		value += 10 * w.noise * w.random.Float64()
	}
	return map[string]float64{"wall": math.Exp(value)}, nil
}

// planted is a change: the first candidate that has it, and its size.
type planted struct {
	at   int
	size float64
}

// history makes a line of candidates that differ from their neighbours by own at random, and by
// what is planted.
func history(random *rand.Rand, last int, noise, own float64, steps ...planted) *world {
	w := &world{random: random, noise: noise, levels: make([]float64, last+1), own: make([]float64, last+1),
		broken: map[int]bool{}, fails: map[int]bool{}}
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

// plans take a while to work out and are the same in every simulation.
type plans map[int]*stat.Plan

func (p plans) search(t *testing.T, lab lab, last int, seed int64) (*Result, error) {
	t.Helper()
	result := &Result{}
	options := Options{Metrics: []Metric{{Name: "wall"}}, Smallest: 0.02, Trials: 100, Seed: seed, Good: "good",
		Bad:      "bad",
		Progress: func(string) {}}
	x := newEngine(options, last, lab, result)
	x.plans = p
	err := x.run(t.Context())
	result.Decisions = x.made()
	return result, err
}

func (p plans) find(t *testing.T, w *world, seed int64) *Result {
	t.Helper()
	result, err := p.search(t, w, len(w.levels)-1, seed)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func seeded(seed int64, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), stream)) }

// rounds of a simulation; -short takes fewer.
func rounds(most int) int {
	if testing.Short() {
		return most / 4
	}
	return most
}

// A planted 5 % among 200 candidates with 3 % noise, where neutral candidates differ by 0.3 % and
// every fiftieth run is hit by something: right in 19 of 20, with no more than 2.5 × log2(200)
// decisions.
func TestFindsOneStep(t *testing.T) {
	count, right, most, total, runs := rounds(60), 0, 0, 0, 0
	shared := plans{}
	for seed := range int64(count) {
		random := seeded(seed, 1)
		at := 1 + random.IntN(200)
		w := history(random, 200, 0.03, 0.003, planted{at, 0.05})
		w.odd = 0.02
		result := shared.find(t, w, seed+1)
		most, total, runs = max(most, len(result.Decisions)), total+len(result.Decisions), runs+w.runs
		if len(result.Culprits) == 1 && result.Culprits[0].Position == at {
			right++
			continue
		}
		t.Logf("seed %d: planted at %d, found %+v, outcome %s", seed, at, result.Culprits, result.Outcome)
	}
	t.Logf("right %d of %d; decisions %.1f on average, at most %d; %d runs on average", right, count,
		float64(total)/float64(count), most, runs/count)
	if right < count*19/20 {
		t.Errorf("right in %d of %d", right, count)
	}
	if limit := 2.5 * math.Log2(200); float64(most) > limit {
		t.Errorf("%d decisions, at most %.1f allowed", most, limit)
	}
}

// Two regressions in one history: both, the larger one first.
func TestFindsTwoSteps(t *testing.T) {
	count, both, first := rounds(40), 0, 0
	shared := plans{}
	for seed := range int64(count) {
		random := seeded(seed, 2)
		large, small := 1+random.IntN(100), 101+random.IntN(100)
		if random.IntN(2) == 0 {
			large, small = small, large
		}
		w := history(random, 200, 0.02, 0.002, planted{large, 0.10}, planted{small, 0.05})
		result := shared.find(t, w, seed+1)
		if len(result.Culprits) > 0 && result.Culprits[0].Position == large {
			first++
		}
		if len(result.Culprits) == 2 && result.Culprits[0].Position == large && result.Culprits[1].Position == small {
			both++
			continue
		}
		t.Logf("seed %d: planted at %d and %d, found %+v", seed, large, small, result.Culprits)
	}
	t.Logf("both right in %d, the larger one first in %d of %d", both, first, count)
	if both < count*9/10 || first < count*19/20 {
		t.Errorf("both right in %d, the larger one first in %d of %d", both, first, count)
	}
}

// A regression that a later commit makes up for in part: the regression is the culprit.
func TestFindsAStepThatIsMadeUpForInPart(t *testing.T) {
	count, right := rounds(40), 0
	shared := plans{}
	for seed := range int64(count) {
		random := seeded(seed, 3)
		up, down := 1+random.IntN(120), 130+random.IntN(70)
		w := history(random, 200, 0.02, 0.002, planted{up, 0.12}, planted{down, -0.06})
		result := shared.find(t, w, seed+1)
		if len(result.Culprits) >= 1 && result.Culprits[0].Position == up {
			right++
			continue
		}
		t.Logf("seed %d: up at %d, down at %d, found %+v", seed, up, down, result.Culprits)
	}
	if right < count*9/10 {
		t.Errorf("right in %d of %d", right, count)
	}
}

// Candidates that do not build, or whose command fails, are gone around; where the culprit is among
// them, it is said which may be it.
func TestSkips(t *testing.T) {
	count, right, skips := rounds(40), 0, 0
	shared := plans{}
	for seed := range int64(count) {
		random := seeded(seed, 4)
		at := 1 + random.IntN(200)
		w := history(random, 200, 0.03, 0.003, planted{at, 0.06})
		for range 3 { // stretches that are broken, and single ones
			begin := 1 + random.IntN(190)
			for position := begin; position < begin+8; position++ {
				w.broken[position] = true
			}
			w.fails[1+random.IntN(198)] = true
		}
		result := shared.find(t, w, seed+1)
		skips += len(result.Skipped)
		if len(result.Culprits) != 1 {
			t.Logf("seed %d: planted at %d, found %+v", seed, at, result.Culprits)
			continue
		}
		c := result.Culprits[0]
		if c.Before < at && at <= c.Position && len(c.Among) == c.Position-c.Before-1 {
			for _, position := range c.Among {
				if !w.broken[position] && !w.fails[position] {
					t.Errorf("seed %d: %d is told as skipped and is not", seed, position)
				}
			}
			right++
			continue
		}
		t.Logf("seed %d: planted at %d, found %+v", seed, at, c)
	}
	t.Logf("right in %d of %d, %.1f skipped on average", right, count, float64(skips)/float64(count))
	if right < count*19/20 {
		t.Errorf("right in %d of %d", right, count)
	}
	if skips > 8*count {
		t.Errorf("%d candidates skipped in %d searches: it keeps trying where nothing builds", skips, count)
	}
}

// Close calls: the change is only as large as the noise of a single run, and a tenth of the runs is
// hit by something.
func TestFindsACloseStep(t *testing.T) {
	count, right, most := rounds(24), 0, 0
	shared := plans{}
	for seed := range int64(count) {
		random := seeded(seed, 5)
		at := 1 + random.IntN(64)
		w := history(random, 64, 0.04, 0.003, planted{at, 0.04})
		w.odd = 0.1
		result := shared.find(t, w, seed+1)
		most = max(most, len(result.Decisions))
		if result.Outcome == Undecided || len(result.Culprits) == 1 && (result.Culprits[0].Position == at ||
			result.Culprits[0].Outcome == Undecided) {
			right++ // what cannot be told is not told
			continue
		}
		t.Logf("seed %d: planted at %d, found %+v", seed, at, result.Culprits)
	}
	t.Logf("right or open in %d of %d, at most %d decisions", right, count, most)
	if right < count*9/10 {
		t.Errorf("right in %d of %d", right, count)
	}
}

// Equal ends: nothing is searched for, and hardly ever is there an alarm.
func TestEqualEnds(t *testing.T) {
	count, alarms := rounds(40), 0
	shared := plans{}
	for seed := range int64(count) {
		w := history(seeded(seed, 6), 50, 0.02, 0, planted{1, 0})
		result := shared.find(t, w, seed+1)
		if result.Outcome == Worse || result.Outcome == Better {
			alarms++
		}
		if w.builds != 2 && len(result.Culprits) == 0 {
			t.Errorf("seed %d: %d builds for ends that are %s", seed, w.builds, result.Outcome)
		}
	}
	if alarms > count/10 {
		t.Errorf("%d alarms in %d", alarms, count)
	}
}

// A gain is found as a loss is.
func TestFindsAGain(t *testing.T) {
	w := history(seeded(7, 7), 40, 0.01, 0.001, planted{23, -0.10})
	result := plans{}.find(t, w, 1)
	if result.Outcome != Better || len(result.Culprits) != 1 || result.Culprits[0].Position != 23 {
		t.Errorf("%s, %+v", result.Outcome, result.Culprits)
	}
	if ratio := result.Culprits[0].Effect.Ratio; math.Abs(ratio-0.9) > 0.02 {
		t.Errorf("the effect is %g", ratio)
	}
}

// Two candidates only: the bad end is the culprit, by the comparison of the ends.
func TestOneStepIsTheCulprit(t *testing.T) {
	w := history(seeded(8, 8), 1, 0.01, 0, planted{1, 0.10})
	result := plans{}.find(t, w, 1)
	if len(result.Culprits) != 1 || result.Culprits[0].Position != 1 || result.Culprits[0].Outcome != Worse ||
		len(result.Decisions) != 1 {
		t.Errorf("%+v, %+v", result.Culprits, result.Decisions)
	}
}

// A search that is killed at any run goes on to the same result, and makes no run twice.
func TestGoesOnAfterAKill(t *testing.T) {
	shared, seed := plans{}, int64(9)
	// What a run shows hangs on how many were made before it, as it does on a real host: not on
	// what came to be killed.
	fresh := func() *world {
		w := history(seeded(seed, 9), 60, 0.02, 0.002, planted{37, 0.06})
		w.broken[30], w.fails[45] = true, true
		return w
	}
	whole := fresh()
	want := shared.find(t, whole, seed)
	for _, killAt := range []int{1, 2, 17, whole.runs / 2, whole.runs - 1} {
		dir := t.TempDir()
		first := fresh()
		first.until = killAt
		if _, err := searchIn(t, shared, dir, first, seed); !errors.Is(err, errKilled) {
			t.Fatalf("killed at run %d: %v", killAt, err)
		}
		first.until, first.runs = 0, 0
		got, err := searchIn(t, shared, dir, first, seed)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Culprits, want.Culprits) || !reflect.DeepEqual(got.Decisions, want.Decisions) {
			t.Errorf("killed at run %d: %+v, want %+v", killAt, got.Culprits, want.Culprits)
		}
		if first.runs != whole.runs-killAt {
			t.Errorf("killed at run %d: %d more, want %d", killAt, first.runs, whole.runs-killAt)
		}
	}
}

func searchIn(t *testing.T, shared plans, dir string, w *world, seed int64) (*Result, error) {
	t.Helper()
	journal, err := openJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	result, err := shared.search(t, remembered{w, journal}, len(w.levels)-1, seed)
	if errClose := journal.close(); errClose != nil {
		t.Fatal(errClose)
	}
	return result, err
}

// What a search will take is told before it begins, and about right.
func TestEstimate(t *testing.T) {
	told, took := 0.0, 0.0
	shared := plans{}
	for seed := range int64(rounds(20)) {
		random := seeded(seed, 10)
		w := history(random, 200, 0.03, 0.003, planted{1 + random.IntN(200), 0.05})
		result := shared.find(t, w, seed+1)
		if result.Estimate == nil {
			continue
		}
		told += float64(result.Estimate.Runs)
		for _, decision := range result.Decisions[1:] {
			took += float64(decision.Runs)
		}
		if len(result.Decisions) > result.Estimate.Most && len(result.Culprits) == 1 {
			t.Errorf("seed %d: %d decisions, at most %d told", seed, len(result.Decisions), result.Estimate.Most)
		}
	}
	if told < took/2 || told > 2*took {
		t.Errorf("%s runs told, %g taken", fmt.Sprint(told), took)
	}
}
