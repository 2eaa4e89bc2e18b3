package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// Every benchmark measures something plausible, or says why this host cannot.
func TestSuite(t *testing.T) {
	settings := Settings{Time: 60 * time.Millisecond, Dir: t.TempDir()}
	told := 0
	findings, err := Run(context.Background(), settings, func(Finding) { told++ })
	if err != nil {
		t.Fatal(err)
	}
	if told != visits*len(findings) || len(findings) != len(suite()) {
		t.Errorf("%d findings, %d told, %d benchmarks", len(findings), told, len(suite()))
	}
	for _, f := range findings {
		t.Logf("%-18s %10.1f ns (%.1f to %.1f, %d rounds) CPU %.0f %v %s", f.Name, f.Ns, f.Low, f.High, f.Rounds, f.CPUNs,
			f.Path, f.Why)
		if f.Why != "" {
			// A machine with something else to do cannot show what two of its CPUs do to each
			// other.
			lonely := strings.Contains(f.Why, errOneCPU.Error()) || strings.Contains(f.Why, errNoPartner.Error())
			if f.Name != "counter.read" && !lonely {
				t.Errorf("%s: %s", f.Name, f.Why)
			}
			continue
		}
		// A sleep's overshoot may be nothing; no basic operation takes a second.
		if f.Low > f.Ns || f.Ns > f.High || f.Ns <= 0 && f.Name != "timer.sleep" || f.Ns > 1e9 || f.Rounds < fewestRounds {
			t.Errorf("%+v is no cost", f)
		}
		for _, path := range f.Path {
			if strings.Contains(path, "not proven") || strings.HasPrefix(path, "MACHINE") {
				t.Errorf("%s: %s", f.Name, path)
			}
		}
	}
}

func TestSuiteByGroup(t *testing.T) {
	findings, err := Run(context.Background(), Settings{Time: 20 * time.Millisecond}, nil, "syscall", "fault")
	if err != nil || len(findings) != 2 || findings[0].Group != "syscall" || findings[1].Group != "fault" {
		t.Errorf("%+v, %v", findings, err)
	}
	if _, err := Run(context.Background(), Settings{}, nil, "sundial"); err == nil ||
		!strings.Contains(err.Error(), `"sundial"`) || !strings.Contains(err.Error(), "sharing") {
		t.Errorf("unknown group: %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if findings, err := Run(ended, Settings{}, nil); !errors.Is(err, context.Canceled) || findings != nil {
		t.Errorf("ended: %v, %v", findings, err)
	}
	findings, err = Run(context.Background(), Settings{Time: 20 * time.Millisecond, Dir: "/none"}, nil, "write")
	if err != nil || !strings.Contains(findings[0].Why, "/none") {
		t.Errorf("missing folder: %+v, %v", findings, err)
	}
}

// What shifts a whole visit widens the interval to both, and what fails once is measured by the
// other.
func TestVisits(t *testing.T) {
	visit := 0
	v := &visited{benchmark: benchmark{name: "x", run: func(context.Context, Settings) (*measurement, error) {
		visit++
		cost := float64(10 * visit)
		return &measurement{rounds: []float64{cost, cost, cost, cost, cost + 1, cost + 1}, cpu: []float64{1}}, nil
	}}}
	v.visit(context.Background(), Settings{})
	v.visit(context.Background(), Settings{})
	f := v.find()
	if f.Low != 10 || f.High != 21 || f.Ns < f.Low || f.Ns > f.High || f.Rounds != 12 || f.Why != "" {
		t.Errorf("%+v", f)
	}
	v.run = func(context.Context, Settings) (*measurement, error) { return nil, errors.New("taken") }
	v.measured = v.measured[:1]
	v.visit(context.Background(), Settings{})
	f = v.find()
	if f.Low != 10 || f.High != 11 || f.Why != "" || len(f.Path) != 1 || !strings.Contains(f.Path[0], "taken") {
		t.Errorf("%+v", f)
	}
	v.measured = nil
	if f := v.find(); f.Why != "taken" {
		t.Errorf("%+v", f)
	}
}

// The interval must hold the true median as often as it says, whatever the distribution.
func TestMedianIntervalCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(41, 1))
	for _, n := range []int{6, 9, 15, 51} {
		const trials = 2000
		held := 0
		for range trials {
			values := make([]float64, n)
			for i := range values {
				values[i] = random.ExpFloat64() // its median is ln 2
			}
			_, low, high, err := medianInterval(values)
			if err != nil {
				t.Fatal(err)
			}
			if low <= 0.6931 && 0.6931 <= high {
				held++
			}
		}
		if part := float64(held) / trials; part < 0.94 {
			t.Errorf("%d rounds: the interval holds the median in %.3f of the cases", n, part)
		}
	}
	if _, _, _, err := medianInterval([]float64{1, 2, 3}); err == nil {
		t.Error("three rounds: no error")
	}
}

// What the proof counts must be what the code does.
func TestCodeProofSeesTheCalls(t *testing.T) {
	if text := codeProof(); !strings.Contains(text, "checked") {
		t.Error(text)
	}
}
