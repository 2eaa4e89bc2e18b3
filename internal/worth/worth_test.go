package worth

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"culprit/internal/stat"
)

type costOf func(load float64, with bool, noise *rand.Rand) float64

// sweep makes an experiment: cost is the CPU time of a run of one second at a load, without and
// with the change.
func sweep(loads []float64, blocks int, cost costOf, seed uint64) *Experiment {
	noise := rand.New(rand.NewPCG(seed, 7))
	e := &Experiment{Schema: "culprit.experiment/1", Metrics: []Metric{{Name: "cpu", Unit: "s"}}}
	text := []string{}
	for block := range blocks {
		for _, load := range loads {
			for _, with := range []bool{false, true} {
				e.Trials = append(e.Trials, Trial{Kind: "measure", Block: block, Valid: true,
					Levels:  map[string]string{"rate": fmt.Sprint(load), "cache": fmt.Sprint(with)},
					Metrics: map[string]float64{"cpu": cost(load, with, noise), "wall": 1}})
			}
		}
	}
	for _, load := range loads {
		text = append(text, fmt.Sprintf(`{"name":"%v"}`, load))
	}
	factors := fmt.Sprintf(`[{"name":"rate","levels":[%s]},{"name":"cache","levels":[{"name":"false"},{"name":"true"}]}]`,
		strings.Join(text, ","))
	if err := json.Unmarshal([]byte(factors), &e.Factors); err != nil {
		panic(err)
	}
	return e
}

// ticker costs 0.035 cores at any load and saves half a core at 100,000 requests a second: even at
// 7,000.
func ticker(load float64, with bool, noise *rand.Rand) float64 {
	cost := 0.01 + 10e-6*load
	if with {
		cost = 0.045 + 5e-6*load
	}
	return cost * math.Exp(0.01*noise.NormFloat64())
}

var rates = []float64{0, 1000, 4000, 8000, 16000}

func TestBreakEven(t *testing.T) {
	answer, err := Weigh(sweep(rates, 8, ticker, 1), Options{})
	if err != nil {
		t.Fatal(err)
	}
	even := answer.BreakEven
	if answer.Metric != cores || !even.Found || math.Abs(even.Load-7000) > 400 || even.Above != Better ||
		even.Low == nil || even.High == nil || *even.Low >= even.Load || *even.High <= even.Load {
		t.Errorf("%s: %+v", answer.Metric, even)
	}
	if answer.Levels[0].Verdict != Worse || answer.Levels[4].Verdict != Better {
		t.Errorf("%+v", answer.Levels)
	}
}

// The interval of the break-even holds the true one in at least 94 of 100 simulated sweeps.
func TestBreakEvenCoverage(t *testing.T) {
	held := 0
	const rounds = 500
	for seed := range uint64(rounds) {
		answer, err := Weigh(sweep(rates, 6, ticker, seed), Options{})
		if err != nil {
			t.Fatal(err)
		}
		even := answer.BreakEven
		if even.Found && (even.Low == nil || *even.Low <= 7000) && (even.High == nil || *even.High >= 7000) {
			held++
		}
	}
	if held < rounds*94/100 {
		t.Errorf("%d of %d intervals hold the true break-even", held, rounds)
	}
}

func TestNoBreakEven(t *testing.T) {
	answer, err := Weigh(sweep([]float64{0, 500, 1000}, 6, ticker, 3), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if answer.BreakEven.Found || !strings.Contains(answer.BreakEven.Text, "costs at 3 of 3 loads") {
		t.Errorf("%+v", answer.BreakEven)
	}
}

// A disturbed trial takes its own pair out, not its block.
func TestDisturbedTrial(t *testing.T) {
	e := sweep(rates, 8, ticker, 1)
	e.Trials[3].Valid = false // of 1000, with the change
	answer, err := Weigh(e, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, level := range answer.Levels {
		want := 8
		if i == 1 {
			want = 7
		}
		if level.Pairs != want {
			t.Errorf("%d pairs at %g, want %d", level.Pairs, level.Load, want)
		}
	}
}

// A load with too few trials is left out, and said.
func TestLoadWithoutTrials(t *testing.T) {
	e := sweep(rates, 3, ticker, 1)
	for i, trial := range e.Trials {
		if trial.Levels["rate"] == "4000" && trial.Block > 0 {
			e.Trials[i].Valid = false
		}
	}
	answer, err := Weigh(e, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Levels) != 4 || len(answer.Warnings) != 1 || !strings.Contains(answer.Warnings[0], "rate=4000") {
		t.Errorf("%d levels, %v", len(answer.Levels), answer.Warnings)
	}
}

func TestSavingOfAFleet(t *testing.T) {
	answer, err := Weigh(sweep(rates, 8, ticker, 1), Options{Loads: []Load{{0, 3}, {1000, 1}}, Hosts: 1000,
		PerCoreHour: 0.04, WattsPerCore: 5, PerKilowattHour: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	// 0.035 cores at idle for 3 parts, 0.030 at 1000 for one.
	truth := -(0.75*0.035 + 0.25*0.030)
	s := answer.Saving
	if math.Abs(s.PerHost.Value-truth) > 0.002 || s.Verdict != Worse || s.Loads[0].Share != 0.75 {
		t.Errorf("%+v, the truth is %g", s, truth)
	}
	wantMoney := truth * 1000 * hoursPerYear * (0.04 + 0.005*0.2)
	if math.Abs(s.Fleet.MoneyPerYear.Value/wantMoney-1) > 0.05 || s.Fleet.Cores.High >= 0 {
		t.Errorf("%+v, the truth is %g a year", s.Fleet, wantMoney)
	}
}

func TestScaling(t *testing.T) {
	truth := stat.ScalingLaw{One: 1000, Contention: 0.08, Coherence: 0.004}
	noise := rand.New(rand.NewPCG(5, 5))
	e := sweep([]float64{1, 2, 4, 8, 16}, 6, ticker, 1)
	e.Factors = e.Factors[:1]
	e.Metrics = []Metric{{Name: "ops", Higher: true}}
	for i, trial := range e.Trials {
		n := 0.0
		fmt.Sscan(trial.Levels["rate"], &n)
		e.Trials[i].Metrics["ops"] = truth.At(n) * math.Exp(0.02*noise.NormFloat64())
	}
	answer, err := Weigh(e, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := answer.Scaling[0]
	holds := func(i Interval, truth float64) bool { return i.Low <= truth && i.High >= truth }
	if got.Law == nil || !holds(*got.Contention, truth.Contention) || !holds(*got.Coherence, truth.Coherence) ||
		math.Abs(got.Peak/truth.Peak()-1) > 0.15 || len(got.Levels) != 5 || got.Levels[4].Perfect < got.Levels[4].Measured {
		t.Errorf("%+v", got)
	}
}

// More workers than busy CPUs do not look like contention; why the rest loses is told by what a
// unit of work takes.
func TestScalingBeyondTheCPUs(t *testing.T) {
	for _, one := range []struct {
		name   string
		cpus   int
		dearer float64 // CPU time of a unit of work beside others
		busy   float64 // part of the CPUs that workers keep busy
		levels int     // that are fitted
		loss   Loss
	}{
		{"many CPUs", 16, 1, 1, 5, ""},
		{"two CPUs, all busy", 2, 1, 1, 2, ""},
		{"two CPUs, all busy, dearer work", 2, 2, 1, 2, LossDearer},
		{"one CPU, busy", 1, 1, 1, 0, ""},
		{"four CPUs, all busy", 4, 1, 1, 3, ""},
		{"two CPUs, workers that wait for something else", 2, 1, 0.05, 5, ""},
		{"sixteen CPUs, workers that wait for each other", 16, 1, -1, 5, LossWaits},
	} {
		e := sweep([]float64{1, 2, 4, 8, 16}, 4, ticker, 1)
		e.Factors, e.Host.CPUs = e.Factors[:1], one.cpus
		e.Metrics = []Metric{{Name: "ops", Higher: true}}
		for i, trial := range e.Trials {
			n := 0.0
			fmt.Sscan(trial.Levels["rate"], &n)
			cores, cost := min(n, float64(one.cpus)), 1.0
			switch {
			case one.busy < 0:
				cores = 1 // whatever their number
			case one.busy < 1:
				cores = n * one.busy
			}
			if n > 1 {
				cost = one.dearer
			}
			e.Trials[i].Metrics = map[string]float64{"wall": 2, "cpu": 2 * cores, "ops": 100 * cores / cost}
		}
		answer, err := Weigh(e, Options{})
		if err != nil {
			t.Fatal(one.name, err)
		}
		got := answer.Scaling[0]
		fitted := 0
		for _, level := range got.Levels {
			if level.Law > 0 {
				fitted++
			}
		}
		if fitted != one.levels || (got.Law == nil) != (one.levels == 0) || (got.Unfitted == "") != (one.levels > 0) ||
			(got.Coherence == nil) != (one.levels < levelsOfLaw) || got.Loss != one.loss {
			t.Errorf("%s: %d levels fitted, loss %q, %+v", one.name, fitted, got.Loss, got)
		}
	}
}

// job is an experiment of a command whose wall time is seconds(n) with n threads, and its CPU time
// busy(n).
func job(numbers []float64, seconds, busy func(n float64) float64) *Experiment {
	e := sweep(numbers, 4, ticker, 1)
	e.Factors, e.Metrics, e.Host.CPUs = e.Factors[:1], []Metric{{Name: wall, Unit: "s"}}, 8
	e.Factors[0].Name = "threads"
	for i, trial := range e.Trials {
		n := 0.0
		fmt.Sscan(trial.Levels["rate"], &n)
		e.Trials[i].Levels = map[string]string{"threads": trial.Levels["rate"]}
		e.Trials[i].Metrics = map[string]float64{wall: seconds(n), cpu: busy(n)}
	}
	return e
}

// A job that is the same with each number of threads has a throughput: runs a second. One that
// lasts as long as it is told to has none, whatever it does meanwhile, and neither has a load that
// is no number of workers.
func TestScalingOfJobs(t *testing.T) {
	amdahl := func(n float64) float64 { return 0.4 + 1.6/n }
	steady := func(float64) float64 { return 2 }
	answer, err := Weigh(job([]float64{1, 2, 4}, amdahl, steady), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := answer.Scaling[0]
	if got.Metric != RunsPerSecond || got.Law == nil || math.Abs(got.Contention.Value-0.2) > 1e-6 ||
		got.Coherence.Value > 1e-6 || got.Loss != LossWaits || math.Abs(got.Levels[2].Perfect-2) > 1e-6 {
		t.Errorf("a job of which a fifth is done by one thread: %+v", got)
	}
	two, err := Weigh(job([]float64{1, 4}, amdahl, steady), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := two.Scaling[0]; got.Law == nil || math.Abs(got.Contention.Value-0.2) > 1e-6 || got.Coherence != nil {
		t.Errorf("two numbers of threads: %+v", got)
	}
	asTold := job([]float64{1, 2, 4}, func(n float64) float64 { return 3 + 0.01*n },
		func(n float64) float64 { return 3 * n })
	if answer, err := Weigh(asTold, Options{}); err == nil {
		t.Errorf("runs that last as long as they are told to: %+v", answer.Scaling)
	}
	size := job([]float64{1, 2, 4}, amdahl, steady)
	size.Factors[0].Name = "size"
	for i := range size.Trials {
		size.Trials[i].Levels = map[string]string{"size": size.Trials[i].Levels["threads"]}
	}
	if answer, err := Weigh(size, Options{}); err == nil {
		t.Errorf("a size, which works not: %+v", answer.Scaling)
	}
}

// With two numbers of workers no break-even is told: a crossing needs loads on both sides.
func TestTwoWorkersWeighNoChange(t *testing.T) {
	e := sweep([]float64{1, 4}, 4, ticker, 1)
	e.Factors[0].Name, e.Metrics = "threads", []Metric{{Name: "ops", Higher: true}}
	for i, trial := range e.Trials {
		n := 0.0
		fmt.Sscan(trial.Levels["rate"], &n)
		e.Trials[i].Levels["threads"], e.Trials[i].Metrics = trial.Levels["rate"], map[string]float64{"ops": 100 * n}
	}
	answer, err := Weigh(e, Options{Load: "threads"})
	if err != nil {
		t.Fatal(err)
	}
	if answer.BreakEven != nil || len(answer.Levels) > 0 || len(answer.Scaling) != 2 {
		t.Errorf("%+v", answer)
	}
	if _, err := Weigh(e, Options{Load: "threads", Hosts: 10}); err == nil ||
		!strings.Contains(err.Error(), "3 levels of threads") {
		t.Errorf("a saving by two numbers of workers: %v", err)
	}
}

func TestRefuses(t *testing.T) {
	e := sweep(rates, 4, ticker, 1)
	for _, bad := range []struct {
		change  func(*Experiment, *Options)
		message string
	}{
		{func(_ *Experiment, o *Options) { o.Load = "size" }, `no factor "size"`},
		{func(_ *Experiment, o *Options) { o.Load = "cache" }, "has 0 numeric levels; 3 are needed"},
		{func(_ *Experiment, o *Options) { o.Metric = "latency" }, `no metric "latency"`},
		{func(_ *Experiment, o *Options) { o.Loads = []Load{{20000, 1}} }, "load 20000 was not tried"},
		{func(_ *Experiment, o *Options) { o.Loads = []Load{{100, -1}} }, "share -1"},
		{func(e *Experiment, _ *Options) { e.Factors = e.Factors[1:] }, "no factor fits as the load"},
		{func(e *Experiment, _ *Options) { e.Trials = e.Trials[:8] }, "no level of rate has two blocks"},
		{func(_ *Experiment, o *Options) { o.Hosts, o.Metric = 10, "cpu" }, "counted in cores"},
	} {
		copied, options := *e, Options{}
		bad.change(&copied, &options)
		if _, err := Weigh(&copied, options); err == nil || !strings.Contains(err.Error(), bad.message) {
			t.Errorf("%q is missing in: %v", bad.message, err)
		}
	}
	for _, text := range []string{"", "[]", `{"schema":"culprit.case/1"}`} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// Means that cross between loads at which nothing is sure are no break-even.
func TestBreakEvenOfNoise(t *testing.T) {
	noisy := func(_ float64, _ bool, noise *rand.Rand) float64 { return 0.1 * math.Exp(0.5*noise.NormFloat64()) }
	crossed := 0
	for seed := range uint64(40) {
		answer, err := Weigh(sweep(rates, 5, noisy, seed), Options{})
		if err != nil {
			t.Fatal(err)
		}
		even := answer.BreakEven
		if even.Found && even.Low == nil && even.High == nil {
			t.Errorf("seed %d: %+v", seed, even)
		}
		if strings.HasPrefix(even.Text, "none is sure: the means cross") {
			crossed++
		}
	}
	if crossed == 0 {
		t.Error("in no sweep did the means cross: nothing was tested")
	}
}
