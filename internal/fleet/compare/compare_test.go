package compare

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// world says how a simulated fleet behaves; all are parts of one.
type world struct {
	hosts               int // of each side
	host, day, gain     float64
	effect, shift, zone float64
	zones               int
}

func (w world) draw(random *rand.Rand) []Host {
	hosts := make([]Host, 0, 2*w.hosts)
	zones := make([]float64, w.zones)
	for i := range zones {
		zones[i] = w.zone * random.NormFloat64()
	}
	for i := range 2 * w.hosts {
		b := i >= w.hosts
		own, load := w.host*random.NormFloat64(), 1000*math.Exp(0.16*random.NormFloat64())
		now := load * math.Exp(0.05*random.NormFloat64())
		cost := func(load float64) float64 {
			return own + w.gain*math.Log(load/1000) + w.day*random.NormFloat64()
		}
		host := Host{Name: fmt.Sprint(i), B: b, LoadBefore: load, Before: math.Exp(cost(load))}
		y := 0.0
		if b {
			now *= 1 + w.shift
			y = w.effect
		}
		if w.zones > 0 {
			zone := i * w.zones / (2 * w.hosts)
			y += zones[zone]
			host.Unit = fmt.Sprint("zone ", zone)
		}
		host.Load, host.Value = now, math.Exp(cost(now)+y)
		hosts = append(hosts, host)
	}
	return hosts
}

// found is the share of fleets whose difference is told at 5 %, and the mean of what was estimated.
func (w world) found(t *testing.T, fleets int) (share, mean float64) {
	t.Helper()
	for seed := range fleets {
		effect, err := Groups(w.draw(rand.New(rand.NewPCG(uint64(seed), 5))), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if effect.P < 0.05 {
			share += 1 / float64(fleets)
		}
		mean += effect.Change.Value / float64(fleets)
	}
	return share, mean
}

func TestHalfAPercentOver200Hosts(t *testing.T) {
	w := world{hosts: 100, host: 0.05, day: 0.005, gain: 0.15}
	if share, mean := w.found(t, 300); share > 0.08 || math.Abs(mean) > 0.0003 {
		t.Errorf("no effect: told in %.3f, mean %.5f", share, mean)
	}
	w.effect = 0.005
	if share, mean := w.found(t, 200); share < 0.95 || math.Abs(mean-0.005) > 0.0003 {
		t.Errorf("0.5 %%: told in %.3f, mean %.5f", share, mean)
	}
}

// Less load on one side is no effect: 95 of 100 comparisons say so that are not adjusted by it.
func TestLoadIsNoEffect(t *testing.T) {
	w := world{hosts: 100, host: 0.05, day: 0.005, gain: 0.3, shift: -0.06}
	if share, mean := w.found(t, 1000); share > 0.075 || math.Abs(mean) > 0.0003 {
		t.Errorf("told in %.3f, mean %.5f", share, mean)
	}
}

// What was rolled out by zone is one value for each zone; hosts as units would be wrong in a third
// of all cases.
func TestZonesAreTheUnit(t *testing.T) {
	w := world{hosts: 200, host: 0.01, day: 0.005, gain: 0.1, zone: 0.003, zones: 8}
	if share, _ := w.found(t, 300); share > 0.09 {
		t.Errorf("8 zones: told in %.3f", share)
	}
	effect, err := Groups(w.draw(rand.New(rand.NewPCG(1, 1))), Options{})
	if err != nil || effect.A != 4 || effect.B != 4 || !strings.Contains(effect.Units, "together") {
		t.Errorf("%+v, %v", effect, err)
	}
}

func TestFewHostsTakeFewColumns(t *testing.T) {
	w := world{hosts: 4, host: 0.05, day: 0.005, gain: 0.1}
	if share, _ := w.found(t, 400); share > 0.09 {
		t.Errorf("4 hosts a side: told in %.3f", share)
	}
	effect, err := Groups(w.draw(rand.New(rand.NewPCG(1, 1))), Options{})
	if err != nil || len(effect.Adjusted) != 0 || effect.Words() != "not adjusted" {
		t.Errorf("%+v, %v", effect, err)
	}
}

func TestPaired(t *testing.T) {
	w := world{hosts: 30, host: 0.05, day: 0.005, gain: 0.2}
	false1, true1 := 0, 0
	for seed := range 200 {
		hosts := w.draw(rand.New(rand.NewPCG(uint64(seed), 6)))
		effect, err := Paired(hosts, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if effect.P < 0.05 {
			false1++
		}
		for i := range hosts {
			hosts[i].Value *= 1.01
		}
		if effect, err = Paired(hosts, Options{}); err != nil {
			t.Fatal(err)
		}
		if effect.P < 0.05 && math.Abs(effect.Change.Value-0.01) < 0.005 {
			true1++
		}
	}
	if false1 > 18 || true1 < 190 {
		t.Errorf("of 200 told without an effect %d, with 1 %% %d", false1, true1)
	}
}

// A frame that one side does not have at all has a difference, and no ratio.
func TestLinear(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var hosts []Host
	for i := range 60 {
		host := Host{Name: fmt.Sprint(i), B: i%2 == 1}
		if host.B {
			host.Value = 0.01 + 0.002*random.NormFloat64()
		}
		hosts = append(hosts, host)
	}
	effect, err := Groups(hosts, Options{Linear: true})
	if err != nil || math.Abs(effect.Change.Value-0.01) > 0.001 || effect.P > 1e-6 {
		t.Errorf("%+v, %v", effect, err)
	}
}

func TestWhatGroupsRefuses(t *testing.T) {
	hosts := []Host{{Name: "a", Value: 1}, {Name: "b", Value: 2}, {Name: "c", Value: 3, B: true}}
	if _, err := Groups(hosts, Options{}); !errors.Is(err, ErrTooFew) {
		t.Errorf("one host of B: %v", err)
	}
	hosts = append(hosts, Host{Name: "d", Value: -1, B: true})
	if _, err := Groups(hosts, Options{}); err == nil || !strings.Contains(err.Error(), "host d") {
		t.Errorf("a value below zero: %v", err)
	}
	if _, err := Paired(hosts[:2], Options{}); err == nil {
		t.Error("hosts without a before were paired")
	}
}

func TestConfounded(t *testing.T) {
	a := []map[string]string{{"zone": "1", "version": "4", "type": "m"}, {"zone": "1", "version": "4", "type": "m"}}
	b := []map[string]string{{"zone": "2", "version": "5", "type": "m"}, {"zone": "3", "version": "5", "type": "m"}}
	found := Confounded(a, b, map[string]bool{"version": true})
	if len(found) != 1 || !strings.HasPrefix(found[0], "zone: ") {
		t.Errorf("%v", found)
	}
}
