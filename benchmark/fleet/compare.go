package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"culprit/internal/fleet/compare"
)

// sides says how two groups of a simulated fleet behave; all spreads are parts of one.
type sides struct {
	name                string
	hosts               int // of each side
	host, day, gain     float64
	shift, zone, heavy  float64
	zones, unitsByZones int
}

func (s sides) draw(random *rand.Rand, effect float64) []compare.Host {
	noise := func(sd float64) float64 {
		if s.heavy > 0 { // t with four degrees
			return sd * random.NormFloat64() / math.Sqrt(gamma(random, 2)/2) / math.Sqrt2
		}
		return sd * random.NormFloat64()
	}
	zones := make([]float64, max(s.zones, 1))
	for i := range zones {
		zones[i] = s.zone * random.NormFloat64()
	}
	hosts := make([]compare.Host, 2*s.hosts)
	for i := range hosts {
		b := i >= s.hosts
		own, before := noise(s.host), 1000*math.Exp(0.16*random.NormFloat64())
		now := before * math.Exp(0.05*random.NormFloat64())
		zone := i * len(zones) / len(hosts)
		y := zones[zone]
		if b {
			now *= 1 + s.shift
			y += effect
		}
		cost := func(load float64) float64 { return own + s.gain*math.Log(load/1000) + noise(s.day) }
		hosts[i] = compare.Host{Name: fmt.Sprint(i), B: b, Load: now, LoadBefore: before,
			Before: math.Exp(cost(before)), Value: math.Exp(cost(now) + y)}
		if s.unitsByZones > 0 {
			hosts[i].Unit = fmt.Sprint("zone ", zone)
		}
	}
	return hosts
}

func measureCompare(fleets int, seed uint64) error {
	fmt.Println("false %, found % at 0.5 %, mean of what is told at 0.5 %")
	fleets *= 10 // they take no time
	for _, s := range []sides{
		{name: "100 a side, own day-to-day sd 0.3 %", hosts: 100, host: 0.05, day: 0.003, gain: 0.15},
		{name: "100 a side, 0.5 %", hosts: 100, host: 0.05, day: 0.005, gain: 0.15},
		{name: "100 a side, 1 %", hosts: 100, host: 0.05, day: 0.01, gain: 0.15},
		{name: "100 a side, 1 %, hosts differ by 10 %", hosts: 100, host: 0.1, day: 0.01, gain: 0.15},
		{name: "100 a side, 0.5 %, heavy tails", hosts: 100, host: 0.05, day: 0.005, gain: 0.15, heavy: 1},
		{name: "100 a side, 0.5 %, B has 6 % less load", hosts: 100, host: 0.05, day: 0.005, gain: 0.15, shift: -0.06},
		{name: "20 a side, 0.5 %", hosts: 20, host: 0.05, day: 0.005, gain: 0.15},
		{name: "8 a side, 0.5 %", hosts: 8, host: 0.05, day: 0.005, gain: 0.15},
		{name: "8 zones with 0.3 % of their own, hosts count", hosts: 100, host: 0.05, day: 0.005, zone: 0.003, zones: 8},
		{name: "8 zones with 0.3 % of their own, zones count", hosts: 100, host: 0.05, day: 0.005, zone: 0.003, zones: 8,
			unitsByZones: 1},
	} {
		var rates [2]float64
		mean := 0.0
		for i, effect := range []float64{0, math.Log(1.005)} {
			for fleet := range fleets {
				result, err := compare.Groups(s.draw(rand.New(rand.NewPCG(seed, uint64(fleet))), effect), compare.Options{})
				if err != nil {
					return err
				}
				if result.P < 0.05 {
					rates[i] += 100 / float64(fleets)
				}
				mean += float64(i) * result.Change.Value / float64(fleets)
			}
		}
		fmt.Printf("%5.1f %5.1f %6.3f %%  %s\n", rates[0], rates[1], 100*mean, s.name)
	}
	return nil
}
