package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"culprit/internal/fleet/changes"
)

const (
	day     = 24
	before  = 49 // days of history
	watched = 28
)

// service is a simulated service: hours of a day and days of a week whose size varies, common noise
// with memory, dips that go away, hosts that are replaced.
type service struct {
	name          string
	hosts         int
	common, churn float64
	dips          float64
}

// table draws a service that steps at an hour; Never: it does not.
func (s service) table(random *rand.Rand, step float64, at int) *changes.Table {
	const hours = (before + watched) * day
	common := make([]float64, hours)
	slow, size := 0.0, 1.0
	for hour := range common {
		if hour%day == 0 {
			size = 1 + 0.15*random.NormFloat64()
		}
		slow = 0.9*slow + s.common*math.Sqrt(1-0.81)*random.NormFloat64()
		angle := 2 * math.Pi * float64(hour) / day
		common[hour] = size*0.03*math.Sin(angle) + 0.01*math.Sin(2*angle+1) + slow
		if hour/day%7 >= 5 {
			common[hour] -= 0.02
		}
		if hour >= at {
			common[hour] += step * math.Min(1, float64(hour-at+1)/6)
		}
	}
	for dips := poisson(random, s.dips); dips > 0; dips-- {
		from, size := before*day+random.IntN(watched*day-12), 0.03+0.03*random.Float64()
		for hour := from; hour < from+2+random.IntN(7); hour++ {
			common[hour] += size
		}
	}
	table := &changes.Table{Start: time.Date(2026, 8, 3, 0, 0, 0, 0, time.UTC)}
	for range s.hosts {
		s.addHosts(table, random, common)
	}
	return table
}

// addHosts adds one place of the fleet: a host, and after it the hosts that replace it.
func (s service) addHosts(table *changes.Table, random *rand.Rand, common []float64) {
	row, own := missing(len(common)), 0.05*random.NormFloat64()
	for hour := range common {
		if random.Float64() < s.churn/day {
			table.Values = append(table.Values, row)
			row, own = missing(len(common)), 0.05*random.NormFloat64()
		}
		row[hour] = float32(common[hour] + own + 0.02*random.NormFloat64())
	}
	table.Values = append(table.Values, row)
}

func missing(hours int) []float32 {
	row := make([]float32, hours)
	for i := range row {
		row[i] = float32(math.NaN())
	}
	return row
}

func poisson(random *rand.Rand, mean float64) int {
	count := 0
	for sum := random.ExpFloat64(); sum < mean; sum += random.ExpFloat64() {
		count++
	}
	return count
}

func measureChanges(fleets int, seed uint64) error {
	fmt.Println("months with an alarm; steps of 2 % found within 24 h, 48 h, alarms before the step, " +
		"true hour in the interval")
	for _, s := range []service{
		{"100 hosts, common noise 0.3 %, 5 % replaced a day, 2 dips a month", 100, 0.003, 0.05, 2},
		{"100 hosts, 0.3 %, no dips", 100, 0.003, 0.05, 0},
		{"100 hosts, 0.5 %", 100, 0.005, 0.05, 2},
		{"20 hosts, 0.3 %", 20, 0.003, 0.05, 2},
	} {
		var quiet, in24, in48, early, held float64
		for fleet := range fleets {
			random := rand.New(rand.NewPCG(seed, uint64(fleet)))
			answer, err := changes.Watch(s.table(random, 0, changes.Never), changes.Options{})
			if err != nil {
				return err
			}
			if len(answer.Changes) > 0 {
				quiet += 1 / float64(fleets)
			}
			at := before*day + 2*day + random.IntN(12*day)
			still := s
			still.dips = 0
			if answer, err = changes.Watch(still.table(random, 0.02, at), changes.Options{}); err != nil {
				return err
			}
			if len(answer.Changes) == 0 {
				continue
			}
			first := answer.Changes[0]
			start := time.Date(2026, 8, 3, 0, 0, 0, 0, time.UTC)
			switch late := first.Told.Sub(start).Hours() - float64(at); {
			case late < 0:
				early += 1 / float64(fleets)
			case late <= 24:
				in24 += 1 / float64(fleets)
				fallthrough
			case late <= 48:
				in48 += 1 / float64(fleets)
				truth := start.Add(time.Duration(at) * time.Hour) // the ramp takes six hours
				if !first.Low.After(truth.Add(6*time.Hour)) && !first.High.Before(truth) {
					held += 1 / float64(fleets)
				}
			}
		}
		fmt.Printf("%5.2f %5.2f %5.2f %5.2f %5.2f  %s\n", quiet, in24, in48, early, held/max(in48, 1e-9), s.name)
	}
	return nil
}

func measureRollout(fleets int, seed uint64) error {
	fmt.Println("roll-out with versions known, six hours after its start: nothing told at p <= 1e-4, 1 %, 2 %")
	for _, c := range []struct {
		name         string
		hosts, hours int
		skip         int
	}{{"100 hosts over 6 hours", 100, 6, 0},
		{"100 hosts over 6 hours, first hour after the restart not left out", 100, 6, -1},
		{"100 hosts over 24 hours", 100, 24, 0}, {"40 hosts over 6 hours", 40, 6, 0}, {"20 hosts over 6 hours", 20, 6, 0}} {
		var rates [3]float64
		for i, effect := range []float64{0, 0.01, 0.02} {
			for fleet := range fleets {
				random := rand.New(rand.NewPCG(seed, uint64(fleet)))
				table, switched := drawRollout(random, c.hosts, c.hours, effect)
				result, err := changes.CompareRollout(table, switched,
					changes.RolloutOptions{Warm: c.skip, Seed: uint64(fleet)})
				if err == nil && result.P <= 1.0001e-4 {
					rates[i] += 1 / float64(fleets)
				}
			}
		}
		fmt.Printf("%5.3f %5.2f %5.2f  %s\n", rates[0], rates[1], rates[2], c.name)
	}
	return nil
}

// drawRollout gives a day before and six hours of a roll-out; each host's first hour is 5 % dearer.
func drawRollout(random *rand.Rand, hosts, hours int, effect float64) (*changes.Table, []int) {
	table := &changes.Table{Start: time.Date(2026, 8, 3, 0, 0, 0, 0, time.UTC)}
	switched := make([]int, hosts)
	for host := range hosts {
		switched[host] = day + random.IntN(hours)
		if host == 0 {
			switched[host] = day
		}
		own, slow := 0.05*random.NormFloat64(), 0.01*random.NormFloat64()
		row := make([]float32, day+6)
		for hour := range row {
			slow = 0.9*slow + 0.01*math.Sqrt(0.19)*random.NormFloat64()
			y := 0.03*math.Sin(float64(hour)/4) + own + slow + 0.02*random.NormFloat64()
			if hour >= switched[host] {
				y += effect
			}
			if hour == switched[host] {
				y += 0.05
			}
			row[hour] = float32(y)
		}
		table.Values = append(table.Values, row)
	}
	return table, switched
}
