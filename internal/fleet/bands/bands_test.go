package bands

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// fleet draws hosts by a law; the first small part of them is of a second band that is dearer by
// the ratio.
func fleet(n int, seed uint64, law func(*rand.Rand) float64, share, ratio float64) []Host {
	random := rand.New(rand.NewPCG(seed, 77))
	hosts := make([]Host, n)
	for i := range hosts {
		y := law(random)
		if i < int(math.Round(share*float64(n))) {
			y += math.Log(ratio)
		}
		hosts[i] = Host{Name: fmt.Sprintf("h%03d", i), Value: 20 * math.Exp(y)}
	}
	return hosts
}

func normal(sd float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return sd * r.NormFloat64() }
}

// told is the share of fleets in which two bands were found.
func told(t *testing.T, fleets, n int, law func(*rand.Rand) float64, share, ratio float64) float64 {
	t.Helper()
	two := 0
	for seed := range fleets {
		answer, err := Find(fleet(n, uint64(seed), law, share, ratio), Options{Seed: uint64(seed)})
		if err != nil {
			t.Fatal(err)
		}
		if answer.Two {
			two++
		}
	}
	return float64(two) / float64(fleets)
}

// One mode of any shape is not told as two; the larger simulation is in benchmark/fleet.
func TestOneBandIsToldAsOne(t *testing.T) {
	fleets := 20
	if testing.Short() {
		fleets = 7
	}
	for name, law := range map[string]func(*rand.Rand) float64{
		"normal":      normal(0.08),
		"skewed":      func(r *rand.Rand) float64 { return 0.1 * math.Exp(0.8*r.NormFloat64()) },
		"heavy tails": func(r *rand.Rand) float64 { return 0.05 * r.NormFloat64() / math.Sqrt(0.4*r.ExpFloat64()+0.05) },
		"flat":        func(r *rand.Rand) float64 { return 0.3*r.Float64() + 0.03*r.NormFloat64() },
	} {
		if share := told(t, fleets, 40, law, 0, 1); share > 0.16 {
			t.Errorf("%s: %.2f of the fleets of one band are told as two", name, share)
		}
	}
}

func TestTwoBandsAreFound(t *testing.T) {
	fleets := 8
	if testing.Short() {
		fleets = 4
	}
	if share := told(t, fleets, 100, normal(0.05), 0.12, 1.3); share < 0.85 {
		t.Errorf("12:88 at 1.3 with 5 %%: found in %.2f", share)
	}
	answer, err := Find(fleet(100, 5, normal(0.04), 0.12, 1.3), Options{})
	if err != nil || !answer.Two {
		t.Fatalf("%+v, %v", answer, err)
	}
	if math.Abs(answer.Ratio-1.3) > 0.06 || math.Abs(answer.High.Share-0.12) > 0.02 || len(answer.Between) > 3 {
		t.Errorf("ratio %.3f, share %.3f, between %v", answer.Ratio, answer.High.Share, answer.Between)
	}
	slices.Sort(answer.High.Hosts)
	if len(answer.High.Hosts) < 11 || answer.High.Hosts[0] != "h000" || answer.High.Hosts[10] > "h011" {
		t.Errorf("the dear band is %v, h000 to h011 were planted", answer.High.Hosts)
	}
}

// Sick hosts are no band, and are named.
func TestFewHostsAreOutliers(t *testing.T) {
	answer, err := Find(fleet(100, 9, normal(0.03), 0.03, 1.5), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if answer.Two || !slices.Contains(answer.Outliers, "h001") || len(answer.Outliers) > 4 {
		t.Errorf("two %v, outliers %v (%s)", answer.Two, answer.Outliers, answer.Why)
	}
}

// Two groups of load make two bands of cost, and none when the load is known.
func TestLoadIsTakenOut(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	hosts := fleet(80, 3, normal(0.02), 0, 1)
	for i := range hosts {
		hosts[i].Load = 1000 + 20*random.NormFloat64()
		if i < 20 {
			hosts[i].Load += 800
		}
		hosts[i].Value *= math.Exp(0.0004 * hosts[i].Load)
	}
	answer, err := Find(hosts, Options{})
	if err != nil || answer.Two || answer.LoadTaken < 0.8 {
		t.Errorf("%+v, %v", answer, err)
	}
	for i := range hosts {
		hosts[i].Load = 0
	}
	if answer, err = Find(hosts, Options{}); err != nil || !answer.Two {
		t.Errorf("without the load: %+v, %v", answer, err)
	}
}

// Hosts of which the cheaper ones answer a little more have not less cost for it: two bands stay
// two.
func TestLoadThatFollows(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	hosts := fleet(40, 3, normal(0.01), 0.175, 1/1.1)
	for i := range hosts {
		hosts[i].Load = 5.7 * math.Pow(hosts[i].Value/20, -0.02) * math.Exp(0.001*random.NormFloat64())
	}
	answer, err := Find(hosts, Options{})
	if err != nil || !answer.Two || len(answer.Low.Hosts) != 7 || answer.LoadTaken != 0 {
		t.Errorf("%+v, %v", answer, err)
	}
}

func TestWhatFindRefuses(t *testing.T) {
	hosts := fleet(30, 1, normal(0.1), 0, 1)
	if _, err := Find(hosts[:19], Options{}); !errors.Is(err, ErrTooFew) {
		t.Errorf("19 hosts: %v", err)
	}
	for _, value := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		hosts[7].Value = value
		if _, err := Find(hosts, Options{}); err == nil {
			t.Errorf("the value %g was taken", value)
		}
	}
	for i := range hosts {
		hosts[i].Value = 3
	}
	if answer, err := Find(hosts, Options{}); err != nil || answer.Two {
		t.Errorf("equal hosts: %+v, %v", answer, err)
	}
}
