package bands

import (
	"math"
	"slices"

	"culprit/internal/fleet/regress"
)

// sureMember is the posterior probability from which on a host is told as of a band.
const sureMember = 0.9

// describe fills in who is in which band of the mixture; order are the hosts by value.
func (a *Answer) describe(m mixture, hosts []Host, order []int, sorted []float64) {
	a.Low = Band{Value: math.Exp(m.low), Share: m.weight, Hosts: []string{}}
	a.High = Band{Value: math.Exp(m.high), Share: 1 - m.weight, Hosts: []string{}}
	a.Ratio, a.Spread, a.Separation = math.Exp(m.high-m.low), m.sd, m.separation()
	for i, x := range sorted {
		name := hosts[order[i]].Name
		switch p := m.membership(x); {
		case p > sureMember:
			a.Low.Hosts = append(a.Low.Hosts, name)
		case p < 1-sureMember:
			a.High.Hosts = append(a.High.Hosts, name)
		default:
			a.Between = append(a.Between, name)
		}
	}
	slices.Reverse(a.High.Hosts)
	a.Findable = math.Exp(findableSeparation(len(sorted)) * m.sd)
}

// findable are the separations, in spreads, of a band of 12 % that is found in 95 of 100 fleets of
// so many hosts: by simulation, benchmark/fleet.
var findable = []struct {
	hosts      int
	separation float64
}{{20, 9}, {40, 6.5}, {100, 5}, {200, 4}, {1000, 3.2}}

// findableSeparation goes straight between the simulated numbers of hosts, by their logarithm.
func findableSeparation(hosts int) float64 {
	for i := 1; i < len(findable); i++ {
		if left, right := findable[i-1], findable[i]; hosts <= right.hosts {
			part := math.Log(float64(hosts)/float64(left.hosts)) / math.Log(float64(right.hosts)/float64(left.hosts))
			return left.separation + part*(right.separation-left.separation)
		}
	}
	return findable[len(findable)-1].separation
}

// withoutLoad returns the logarithms without what a straight line and a square of the load explain
// of them, and the part of their variance that was. Where a load is missing nothing is taken out,
// and neither where loads are more alike than what they would explain: a request costs at most in
// inverse proportion to their number, where all of it is the same whatever comes. More is the other
// way about: a host that is cheaper answers a little more.
func withoutLoad(hosts []Host) (logs []float64, taken float64) {
	logs = make([]float64, len(hosts))
	loads := make([]float64, len(hosts))
	for i, host := range hosts {
		logs[i], loads[i] = math.Log(host.Value), host.Load
		if !(host.Load > 0) || math.IsInf(host.Load, 0) {
			loads = nil
			break
		}
	}
	if loads == nil {
		for i, host := range hosts {
			logs[i] = math.Log(host.Value)
		}
		return logs, 0
	}
	_, before := meanVariance(logs)
	fitted, err := regress.Smooth(loads, logs)
	if err != nil || before == 0 {
		return logs, 0
	}
	mean, _ := meanVariance(logs)
	if _, explained := meanVariance(fitted); explained > relativeVariance(loads) {
		return logs, 0
	}
	for i := range logs {
		logs[i] += mean - fitted[i]
	}
	_, after := meanVariance(logs)
	return logs, max(0, 1-after/before)
}

// relativeVariance is that of the logarithms.
func relativeVariance(values []float64) float64 {
	logs := make([]float64, len(values))
	for i, value := range values {
		logs[i] = math.Log(value)
	}
	_, variance := meanVariance(logs)
	return variance
}
