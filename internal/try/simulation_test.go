package try

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"culprit/internal/trial"
)

// simulated is a host with a clock of its own: a trial takes what the model says, with noise, drift
// and now and then a disturbance.
type simulated struct {
	clock  time.Time
	random *rand.Rand
	engine *engine
	noise  float64
	drift  float64 // per trial
	factor func(levels map[string]string, metric string) float64
	disk   []Trial
	order  int
	fail   int  // the trial that does not come back; 0: none
	calm   bool // nothing disturbs a trial
	plans  *planner
}

func (s *simulated) now() time.Time         { return s.clock }
func (s *simulated) planned(_, _ int) error { return nil }

func (s *simulated) perform(_ context.Context, at slot) (Trial, error) {
	s.order++
	if s.order == s.fail {
		return Trial{}, fmt.Errorf("killed")
	}
	made := Trial{Order: s.order, Kind: at.kind, Stage: at.stage, Block: at.block, Condition: at.condition,
		Levels: s.engine.levels(at.condition), Valid: true, Metrics: map[string]float64{}}
	base := math.Exp(s.drift * float64(s.order))
	if !s.calm && s.random.Float64() < 0.05 {
		made.Disturb.StealS = 0.5
		base *= 2
	}
	for _, metric := range []string{trial.MetricWall, trial.MetricCPU} {
		made.Metrics[metric] = base * math.Exp(s.noise*s.random.NormFloat64())
		if s.factor != nil {
			made.Metrics[metric] *= s.factor(made.Levels, metric)
		}
	}
	made.TookS = made.Metrics[trial.MetricWall]
	s.clock = s.clock.Add(time.Duration(made.TookS * float64(time.Second)))
	s.disk = append(s.disk, made)
	return made, nil
}

// experiment is what the simulations vary.
func simulatedExperiment(t *testing.T, vary ...string) Experiment {
	t.Helper()
	e := Experiment{Command: Command{Shell: "work {n} {m}"}, Design: Blocks, Budget: 100 * time.Second, Seed: 1,
		Metrics: []Metric{Wall, CPU}, Smallest: 0.02}
	for _, text := range vary {
		factor, err := ParseFactor(text)
		if err != nil {
			t.Fatal(err)
		}
		e.Factors = append(e.Factors, factor.Resolve(e.Command))
	}
	return e
}

func simulate(t *testing.T, e Experiment, lab *simulated) *Result {
	t.Helper()
	if err := e.Check(); err != nil {
		t.Fatal(err)
	}
	x, err := newEngine(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	lab.engine, x.lab, lab.clock = x, lab, time.Unix(0, 0)
	if lab.plans != nil {
		x.plans = lab.plans
	}
	if lab.random == nil {
		lab.random = rand.New(rand.NewPCG(uint64(e.Seed), 7))
	}
	if err := x.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return x.result()
}

// Nothing differs, whatever the design, the noise and the drift: at most one experiment in twenty
// may say that something does. The seeds are fixed, so the count is the same each time.
func TestFalseVerdicts(t *testing.T) {
	designs := []Experiment{
		simulatedExperiment(t, "n=1,2,3"),
		simulatedExperiment(t, "n=1,2", "m=1,2"),
		simulatedExperiment(t, "n=1,2"),
		simulatedExperiment(t, "n=1,2", "m=1,2"),
	}
	designs[1].Design, designs[3].Design = Factorial, One
	designs[2].Control = true
	wrongs, undecided := 0, 0
	experiments := 100
	if testing.Short() {
		experiments = 40
	}
	plans := newPlanner()
	for i := range experiments {
		e := designs[i%len(designs)]
		e.Seed, e.Budget, e.Trials = int64(i+1), time.Hour, 24
		result := simulate(t, e, &simulated{plans: plans, noise: []float64{0.01, 0.03, 0.1}[i%3],
			drift: []float64{0, 0.002, -0.004}[i%3]})
		wrong := false
		for _, effect := range result.Effects {
			wrong = wrong || effect.Verdict == Worse || effect.Verdict == Better
			if effect.Verdict == Undecided {
				undecided++
			}
			if !(effect.Low <= effect.Ratio && effect.Ratio <= effect.High) {
				t.Errorf("experiment %d: %+v", i, effect)
			}
		}
		if wrong {
			wrongs++
		}
	}
	if wrongs > experiments/20 {
		t.Errorf("%d of %d experiments find a difference where there is none", wrongs, experiments)
	}
	if undecided == 0 {
		t.Error("nothing is undecided with 10 % of noise in 24 blocks")
	}
	t.Logf("%d of %d experiments were wrong", wrongs, experiments)
}

// A budget of five blocks is too small for signed ranks. It decides where all trials of one level
// are dearer than all of the other; where two lie among each other, or where a block has more
// trials than one of each, nothing is decided.
func TestFewBlocksThatLieApart(t *testing.T) {
	for _, test := range []struct {
		name   string
		vary   []string
		factor float64
		noise  float64
		want   string
	}{
		{"seven times", []string{"n=1,2"}, 7, 0.1, Worse},
		{"a seventh", []string{"n=1,2"}, 1.0 / 7, 0.1, Better},
		{"less than the noise", []string{"n=1,2"}, 1.05, 0.1, Undecided},
		{"the same", []string{"n=1,2"}, 1, 0.1, Undecided},
		{"two factors at once", []string{"n=1,2", "m=1,2"}, 7, 0.1, Undecided},
	} {
		e := simulatedExperiment(t, test.vary...)
		e.Metrics, e.Budget, e.Trials = []Metric{Wall}, time.Hour, 5
		if len(test.vary) > 1 {
			e.Design = Factorial
		}
		lab := &simulated{noise: test.noise, calm: true, factor: func(levels map[string]string, _ string) float64 {
			if levels["n"] == "2" {
				return test.factor
			}
			return 1
		}}
		for _, effect := range simulate(t, e, lab).Effects {
			if effect.Factor == "n" && effect.Verdict != test.want {
				t.Errorf("%s: %+v, want %s", test.name, effect, test.want)
			}
		}
	}
}

// What differs is found in each design, with the right ratio, and no trial is made that is not
// needed.
func TestVerdictsOfEffects(t *testing.T) {
	slower := func(levels map[string]string, _ string) float64 {
		ratio := map[string]float64{"1": 1, "2": 1.3, "3": 0.7}[levels["n"]]
		if levels["m"] == "2" {
			ratio *= 1.001
			if levels["n"] == "2" {
				ratio *= 1.25 // only both together
			}
		}
		return ratio
	}
	for design, want := range map[Design]map[string]string{
		Blocks:    {"n=2": Worse, "n=3": Better, "m=2": Same},
		One:       {"n=2": Worse, "n=3": Better, "m=2": Same},
		Factorial: {"n=2": Worse, "n=3": Better, "m=2": Worse, "n × m=2 × 2": Worse, "n × m=3 × 2": Same},
	} {
		e := simulatedExperiment(t, "n=1,2,3", "m=1,2")
		e.Design, e.Budget = design, 300*time.Second
		result := simulate(t, e, &simulated{noise: 0.01, drift: 0.0005, factor: slower})
		for _, effect := range result.Effects {
			if verdict := want[effect.Factor+"="+effect.Level]; verdict != effect.Verdict {
				t.Errorf("%s: %+v, want %s", design, effect, verdict)
			}
		}
		if len(result.Effects) != 2*len(want) || result.Outcome != Worse {
			t.Errorf("%s: %d effects, outcome %s", design, len(result.Effects), result.Outcome)
		}
		if len(result.Trials) > 250 || result.Excluded == 0 {
			t.Errorf("%s: %d trials, %d left out", design, len(result.Trials), result.Excluded)
		}
	}
}

func TestTrendOfDoses(t *testing.T) {
	e := simulatedExperiment(t, "n=10,20,30,40")
	e.Metrics = []Metric{Wall}
	result := simulate(t, e, &simulated{noise: 0.02, factor: func(levels map[string]string, _ string) float64 {
		return map[string]float64{"10": 1, "20": 1.03, "30": 1.06, "40": 1.09}[levels["n"]]
	}})
	if len(result.Trends) != 1 || result.Trends[0].Verdict != Rises || result.Trends[0].Tau < 0.5 {
		t.Errorf("%+v", result.Trends)
	}
	if flat := simulate(t, e, &simulated{noise: 0.02}); flat.Trends[0].Verdict != Undecided {
		t.Errorf("a trend of nothing: %+v", flat.Trends)
	}
}

// An experiment that is killed and resumed asks the same looks of the trials that it has and of new
// ones.
func TestResumedEngine(t *testing.T) {
	e := simulatedExperiment(t, "n=1,2,3")
	e.Planned = []int{20}
	factor := func(levels map[string]string, _ string) float64 { return map[string]float64{"2": 1.2}[levels["n"]] + 1 }
	x, err := newEngine(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	lab := &simulated{noise: 0.02, factor: factor, fail: 14, engine: x, random: rand.New(rand.NewPCG(1, 1))}
	x.lab = lab
	if err := x.run(t.Context()); err == nil || len(lab.disk) != 13 {
		t.Fatalf("%v after %d trials", err, len(lab.disk))
	}
	again, err := newEngine(e, lab.disk)
	if err != nil {
		t.Fatal(err)
	}
	lab.fail, lab.engine, again.lab = 0, again, lab
	if err := again.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	result := again.result()
	if result.Outcome != Worse || len(result.Effects) != 4 {
		t.Errorf("%+v", result.Effects)
	}
	blocks := map[int]int{}
	for _, made := range result.Trials {
		if made.Kind == trial.KindMeasure {
			blocks[made.Block]++
		}
	}
	if blocks[3] != 1 || blocks[4] == 0 {
		t.Errorf("the block that was cut short is filled up: %v", blocks)
	}
	// Once more with nothing left to do: the same answer, no trial.
	third, err := newEngine(e, lab.disk)
	if err != nil {
		t.Fatal(err)
	}
	before := len(lab.disk)
	lab.engine, third.lab = third, lab
	if err := third.run(t.Context()); err != nil || len(lab.disk) != before {
		t.Errorf("%v, %d more trials", err, len(lab.disk)-before)
	}
}

func TestOverheadVerdicts(t *testing.T) {
	e := Experiment{Command: Command{Shell: "work"}, Design: Blocks, Budget: 200 * time.Second, Seed: 3, Smallest: 0.02,
		Metrics: []Metric{Wall, CPU}, Allowed: 0.03, Control: true, Factors: []Factor{{Name: "monitor", Kind: KindMonitor,
			Levels: []Level{{Name: "none"}, {"strace", "strace"}, {"cheap", "cheap"}}}}}
	result := simulate(t, e, &simulated{noise: 0.01, factor: func(levels map[string]string, _ string) float64 {
		return map[string]float64{"none": 1, "strace": 4, "cheap": 1.005}[levels["monitor"]]
	}})
	want := map[string]string{"strace": Over, "cheap": Within, ControlLevel: Within}
	for _, effect := range result.Effects {
		if effect.Verdict != want[effect.Level] {
			t.Errorf("%+v", effect)
		}
	}
	if result.Outcome != Over {
		t.Errorf("outcome %s", result.Outcome)
	}
}
