package weights

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"culprit/internal/stat"
)

func draws(n int, seed uint64) (hosts []Host) {
	random := rand.New(rand.NewPCG(seed, 8))
	for i := range n {
		cores := 2 * math.Exp(0.3*random.NormFloat64())
		share := 0.1 * math.Exp(0.4*random.NormFloat64())
		hosts = append(hosts, Host{Name: fmt.Sprint("h", i), Cores: cores,
			Parts: map[string]float64{"malloc": cores * share, "main": cores, "rare": cores * 1e-4}})
	}
	return hosts
}

func TestTopOrderAndCoverage(t *testing.T) {
	truth := 0.1 * math.Exp(0.08)
	held := 0
	const rounds = 200
	for seed := range rounds {
		parts := Top(draws(40, uint64(seed)), Options{Redraws: 199, Seed: uint64(seed)})
		if len(parts) != 3 || parts[0].Name != "main" || parts[1].Name != "malloc" || parts[1].Hosts != 40 {
			t.Fatalf("%+v", parts)
		}
		if parts[0].Share.Value != 1 || parts[0].Share.Low != 1 {
			t.Fatalf("what takes all has the share %+v", parts[0].Share)
		}
		if parts[1].Share.Contains(truth) {
			held++
		}
	}
	if held < rounds*88/100 {
		t.Errorf("the 95 %% interval held the share in %d of %d", held, rounds)
	}
}

func TestOneHostHasNoInterval(t *testing.T) {
	parts := Top(draws(1, 1), Options{})
	if parts[0].Share.Low != 0 || parts[0].Share.High != 1 || parts[0].Cores.High != parts[0].Cores.Value ||
		parts[1].Cores.High < 5*parts[1].Cores.Value {
		t.Errorf("%+v", parts[0])
	}
	if len(Top(nil, Options{})) != 0 {
		t.Error("no hosts have parts")
	}
}

// A host that stands for ten counts ten times.
func TestStands(t *testing.T) {
	hosts := []Host{{Name: "a", Cores: 1, Stands: 10, Parts: map[string]float64{"x": 1}}, {Name: "b", Cores: 1}}
	if parts := Top(hosts, Options{}); math.Abs(parts[0].Share.Value-10./11) > 1e-12 || parts[0].Cores.Value != 10 {
		t.Errorf("%+v", parts[0])
	}
}

func TestWorth(t *testing.T) {
	s := Worth(stat.Interval{Value: 100, Low: 90, High: 110}, stat.Interval{Value: -0.2, Low: -0.24, High: -0.16},
		Prices{PerCoreHour: 0.04}, 1)
	if math.Abs(s.Cores.Value-20) > 1e-9 || s.Cores.Low < 14.5 || s.Cores.Low > 16.5 || s.Cores.High > 25.5 {
		t.Errorf("%+v", s.Cores)
	}
	if math.Abs(s.PerYear.Value-20*0.04*hoursOfYear) > 1e-6 {
		t.Errorf("%+v", s.PerYear)
	}
	s = Worth(stat.Interval{Value: 5, Low: 4, High: 6}, stat.Interval{Value: 0.1, Low: 0.05, High: 0.15}, Prices{}, 1)
	if s.Cores.Value >= 0 || s.PerYear != (stat.Interval{}) {
		t.Errorf("what makes it dearer saves %+v", s)
	}
}
