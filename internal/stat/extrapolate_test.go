package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// rotated simulates a counter that has one of so many turns of 4 ms, over a load that is told by
// its rate at each millisecond, in windows of 100 ms.
func rotated(rate func(ms int) float64, lasts, turns, first int) (windows []Observed, truth float64) {
	for begin := 0; begin < lasts; begin += 100 {
		var w Observed
		for ms := begin; ms < min(begin+100, lasts); ms++ {
			value := rate(ms)
			truth += value
			w.Enabled++
			if (ms/4+first)%turns == 0 {
				w.Running++
				w.Value += value
			}
		}
		windows = append(windows, w)
	}
	return windows, truth
}

// The true count lies within the stated interval in 94 % of runs or more, of steady, noisy and
// phased loads.
func TestExtrapolateCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	loads := map[string]func() func(int) float64{
		"noisy": func() func(int) float64 {
			return func(int) float64 { return 1000 * math.Exp(random.NormFloat64()) }
		},
		"phases of random length": func() func(int) float64 {
			left, level := 0, 0.0
			return func(int) float64 {
				if left--; left <= 0 {
					left, level = 1+int(random.ExpFloat64()*50), 1000*random.Float64()
				}
				return level * (1 + random.NormFloat64()/20)
			}
		},
		"busy and idle": func() func(int) float64 {
			left, on := 0, false
			return func(int) float64 {
				if left--; left <= 0 {
					left, on = 1+int(random.ExpFloat64()*30), !on
				}
				if on {
					return 1000
				}
				return 10
			}
		},
		"trend": func() func(int) float64 {
			return func(ms int) float64 { return 100 + float64(ms) + 50*random.Float64() }
		},
	}
	for name, load := range loads {
		t.Run(name, func(t *testing.T) {
			const runs = 1000
			for _, turns := range []int{2, 3, 5} {
				inside := 0
				for run := range runs {
					windows, truth := rotated(load(), 2000, turns, run%turns)
					interval, err := Extrapolate(windows, 0, 0.95)
					if err != nil {
						t.Fatal(err)
					}
					if interval.Contains(truth) {
						inside++
					}
				}
				share := float64(inside) / runs
				if share < 0.94 {
					t.Errorf("1 of %d turns: the truth is inside in %.3f of the runs", turns, share)
				}
			}
		})
	}
}

// A steady load that begins with a phase as short as a turn, which most counters miss: the truth is
// inside all the same, for an odd turn is allowed for, and the interval is wider by no more than
// that.
func TestExtrapolateAllowsForOneOddTurn(t *testing.T) {
	const runs, lasts, turn = 24, 300, 4
	for start := range turn + 1 {
		load := func(ms int) float64 {
			if ms < start {
				return 0
			}
			return 1000
		}
		inside, narrow := 0, 0
		for run := range runs {
			windows, truth := rotated(load, lasts, 3, run)
			interval, err := Extrapolate(windows, turn, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			if interval.Contains(truth) {
				inside++
			}
			if interval.High-interval.Low < 2.1*turn*1000 {
				narrow++
			}
		}
		if inside < runs*94/100 || narrow < runs/2 {
			t.Errorf("%d ms of nothing first: the truth is inside in %d of %d runs, %d intervals are narrow", start, inside,
				runs, narrow)
		}
	}
}

// A steady load needs no wide interval, and one that was seen whole none at all.
func TestExtrapolateIsNarrowWhereItCanBe(t *testing.T) {
	steady := func(int) float64 { return 1000 }
	windows, truth := rotated(steady, 2000, 4, 0)
	interval, err := Extrapolate(windows, 0, 0.95)
	if err != nil || math.Abs(interval.Value/truth-1) > 1e-9 || interval.High-interval.Low > 1e-6*truth {
		t.Errorf("steady: %+v of %v, %v", interval, truth, err)
	}
	windows, truth = rotated(steady, 2000, 1, 0)
	if interval, err = Extrapolate(windows, 0, 0.95); err != nil || interval != (Interval{truth, truth, truth}) {
		t.Errorf("seen whole: %+v of %v, %v", interval, truth, err)
	}
}

func TestExtrapolateOfLittle(t *testing.T) {
	for name, each := range map[string]struct {
		windows []Observed
		want    Interval
		fails   bool
	}{
		"nothing":             {nil, Interval{}, false},
		"never counted":       {[]Observed{{0, 10, 0}}, Interval{}, true},
		"one window":          {[]Observed{{100, 10, 5}}, Interval{200, 100, 400}, false},
		"one of two counted":  {[]Observed{{100, 10, 10}, {0, 10, 0}}, Interval{200, 100, 400}, false},
		"more than was asked": {[]Observed{{1, 1, 2}}, Interval{}, true},
		"not a number":        {[]Observed{{math.NaN(), 1, 1}}, Interval{}, true},
	} {
		got, err := Extrapolate(each.windows, 0, 0.95)
		if (err != nil) != each.fails || got != each.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := Extrapolate(nil, 0, 1); err == nil {
		t.Error("certainty is no confidence")
	}
}

// The ratio of two counters of one group holds the true one in 94 % of runs, also where both swing
// widely.
func TestExtrapolateRatioCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const runs = 1000
	for _, turns := range []int{2, 4} {
		inside := 0
		for run := range runs {
			var x, y []Observed
			var trueX, trueY float64
			cycles, ipc, left := 0.0, 0.0, 0
			for begin := 0; begin < 2000; begin += 100 {
				var wx, wy Observed
				for ms := begin; ms < begin+100; ms++ {
					if left--; left <= 0 {
						left, cycles, ipc = 1+int(random.ExpFloat64()*20), 1000*random.Float64(), 0.5+2*random.Float64()
					}
					trueX, trueY = trueX+cycles*ipc, trueY+cycles
					wx.Enabled, wy.Enabled = wx.Enabled+1, wy.Enabled+1
					if (ms/4+run)%turns == 0 {
						wx.Value, wy.Value = wx.Value+cycles*ipc, wy.Value+cycles
						wx.Running, wy.Running = wx.Running+1, wy.Running+1
					}
				}
				x, y = append(x, wx), append(y, wy)
			}
			interval, err := ExtrapolateRatio(x, y, 0, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			if interval.Contains(trueX / trueY) {
				inside++
			}
		}
		if share := float64(inside) / runs; share < 0.94 {
			t.Errorf("1 of %d turns: the true ratio is inside in %.3f of the runs", turns, share)
		}
	}
}

func TestExtrapolateRatioRefusesDifferentTimes(t *testing.T) {
	at := []Observed{{10, 10, 5}, {10, 10, 5}, {10, 10, 5}}
	other := []Observed{{10, 10, 4}, {10, 10, 6}, {10, 10, 5}}
	if got, err := ExtrapolateRatio(at, other, 0, 0.95); err == nil {
		t.Errorf("counters of different times give %+v", got)
	}
	if got, err := ExtrapolateRatio(at, at, 0, 0.95); err != nil || got.Value != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := ExtrapolateRatio(at, []Observed{{0, 10, 5}, {0, 10, 5}, {0, 10, 5}}, 0, 0.95); err == nil {
		t.Error("a ratio to nothing")
	}
	whole := []Observed{{30, 10, 10}}
	if got, err := ExtrapolateRatio(whole, []Observed{{10, 10, 10}}, 0, 0.95); err != nil || got != (Interval{3, 3, 3}) {
		t.Errorf("seen whole: %+v, %v", got, err)
	}
}

// What is made up of several ratios of one group holds the true one in 94 % of runs as well.
func TestExtrapolateFunctionCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	share := func(n []float64) float64 { return (1-n[1]/(8*n[0]))*(n[2]/n[3]) - 4*n[4]/n[0] }
	const runs, inPhase = 1000, 5
	inside := 0
	for run := range runs {
		counters, truth := make([][]Observed, inPhase), make([]float64, inPhase)
		rates, left := make([]float64, inPhase), 0
		for range 20 {
			window := make([]Observed, inPhase)
			for ms := range 100 {
				if left--; left <= 0 {
					left = 1 + int(random.ExpFloat64()*20)
					cycles, spec := 1000*random.Float64(), 1+3*random.Float64()
					rates = []float64{cycles, cycles * 4 * random.Float64(), cycles * spec * (0.6 + 0.4*random.Float64()),
						cycles * spec, cycles * 0.01 * random.Float64()}
				}
				for i, rate := range rates {
					truth[i] += rate
					window[i].Enabled++
					if (ms/4+run)%2 == 0 {
						window[i].Value, window[i].Running = window[i].Value+rate, window[i].Running+1
					}
				}
			}
			for i := range window {
				counters[i] = append(counters[i], window[i])
			}
		}
		interval, err := ExtrapolateFunction(share, counters, 0, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if interval.Contains(share(truth)) {
			inside++
		}
	}
	if covered := float64(inside) / runs; covered < 0.94 {
		t.Errorf("the true value is inside in %.3f of the runs", covered)
	}
}
