// Package bands tells whether the hosts of a service form one band or two in a metric.
//
// Two Gaussians of one spread are fitted to the logarithms, and have to beat the best of three
// flexible densities with a single mode: one with any skew and tails, one that is flat or sloping,
// one with an edge and a long tail. By how much they would beat it by chance is told by fleets that
// are drawn from a single mode (parametric bootstrap): from each that may well be the hosts' own. A
// mixture against one Gaussian alone calls most skewed fleets two bands, and Hartigan's dip cannot
// see a band of an eighth of the hosts at all.
//
//	answer, err := bands.Find(hosts, bands.Options{})
//	if answer.Two { … answer.Low.Hosts, answer.High.Hosts, answer.Ratio … }
//
// It refuses fewer than 20 hosts, and values that are not above zero. A band of fewer than 5 hosts
// (3 where there are 20) or of 5 % of them is none: its hosts are told as far from the others.
package bands

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

// LeastHosts is how many hosts the test needs.
const LeastHosts = 20

// ErrTooFew is returned for fewer hosts.
var ErrTooFew = errors.New("too few hosts")

// Host is one host with its mean of the metric.
type Host struct {
	Name  string  `json:"host"`
	Value float64 `json:"value"` // above 0
	// Load are the requests a second that it was offered; never its use of the CPU, which contains
	// what is looked for. 0 or NaN: not known.
	Load float64 `json:"load,omitempty"`
}

// Options say how sure an answer is to be.
type Options struct {
	Level      float64 // share of fleets with one band that may be told as two; 0.05
	Replicates int     // fleets drawn from one band; 99
	Seed       uint64
}

// Band is one of two.
type Band struct {
	Value float64  `json:"value"` // its middle
	Share float64  `json:"share"`
	Hosts []string `json:"hosts"` // surely of it, from the surest on
}

// Answer says what was found.
type Answer struct {
	Two   bool    `json:"two"`
	P     float64 `json:"p"`   // of as good a fit of two bands by chance
	Why   string  `json:"why"` // one band: what spoke against two
	Hosts int     `json:"hosts"`
	// Low and High are the two bands that fit best, told also where one band fits as well.
	Low  Band `json:"low"`
	High Band `json:"high"`
	// Ratio is that of the bands' middles, Spread the relative spread of hosts in a band,
	// Separation the bands' distance in spreads.
	Ratio      float64 `json:"ratio"`
	Spread     float64 `json:"spread"`
	Separation float64 `json:"separation"`
	// Between are hosts that are of neither band with 90 %; Outliers stand apart and are too few to
	// be a band.
	Between  []string `json:"between"`
	Outliers []string `json:"outliers"`
	// Findable is the least ratio of a band of 12 % that is found in 95 of 100 such fleets.
	Findable float64 `json:"findable"`
	// LoadTaken is the part of the hosts' variance that their load explained and that was taken
	// out.
	LoadTaken  float64 `json:"load_taken"`
	Replicates int     `json:"replicates"`
}

// Find looks for two bands.
func Find(hosts []Host, options Options) (*Answer, error) {
	if options.Level == 0 {
		options.Level = 0.05
	}
	if options.Replicates == 0 {
		options.Replicates = 99
	}
	if len(hosts) < LeastHosts {
		return nil, fmt.Errorf("look for bands: %w: %d hosts, at least %d", ErrTooFew, len(hosts), LeastHosts)
	}
	for _, host := range hosts {
		if !(host.Value > 0) || math.IsInf(host.Value, 0) {
			return nil, fmt.Errorf("look for bands: host %s has the value %g: above 0 is needed", host.Name, host.Value)
		}
	}
	logs, taken := withoutLoad(hosts)
	order := make([]int, len(hosts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(logs[i], logs[j]), cmp.Compare(hosts[i].Name, hosts[j].Name))
	})
	sorted := make([]float64, len(hosts))
	for i, host := range order {
		sorted[i] = logs[host]
	}
	answer := &Answer{Hosts: len(hosts), LoadTaken: taken, P: 1, Between: []string{}, Outliers: []string{}}
	if _, variance := meanVariance(sorted); variance < 1e-18 {
		answer.Why = "all hosts have the same value"
		answer.Low, answer.High, answer.Findable = Band{Hosts: []string{}}, Band{Hosts: []string{}}, 1
		return answer, nil
	}
	m := fitMixture(sorted, leastWeight(len(hosts)))
	answer.describe(m, hosts, order, sorted)
	answer.decide(m, sorted, options)
	return answer, nil
}

// leastWeight keeps EM from a band of one host.
func leastWeight(hosts int) float64 { return max(3/float64(hosts), 0.04) }

// leastBand is the number of hosts that make a band.
func leastBand(hosts int) int {
	n := float64(hosts)
	return int(math.Ceil(max(3, min(5, 0.12*n), 0.05*n) - 1e-9))
}

// gate is what two Gaussians gain on one in 95 of 100 fleets of one Gaussian, by simulation; below
// it there is no need to draw fleets.
func gate(hosts int) float64 {
	if hosts <= 40 {
		return 6.6
	}
	return 6.2
}

func (a *Answer) decide(m mixture, sorted []float64, options Options) {
	members := 0
	for _, x := range sorted {
		if m.membership(x) > 0.5 {
			members++
		}
	}
	smaller := min(members, len(sorted)-members)
	switch {
	case m.gain < gate(len(sorted)):
		a.Why = "one Gaussian fits as well"
	case smaller < leastBand(len(sorted)):
		a.Why = fmt.Sprintf("%d hosts stand apart, at least %d make a band", smaller, leastBand(len(sorted)))
		a.Outliers = a.Low.Hosts
		if members > len(sorted)-members {
			a.Outliers = a.High.Hosts
		}
	default:
		a.against(fitSingles(sorted), m.logLikelihood, len(sorted), options)
	}
}

// plausible is how much less likely than the best family one may make the hosts, in the logarithm:
// 20 times, as far as a likelihood ratio is called strong (Royall, 1997, calls 8 fairly strong and
// 32 strong).
const plausible = 3.0

// against holds two bands against each family that the hosts may well be of; which it is cannot be
// known, so the p-value is the largest.
func (a *Answer) against(families []single, two float64, hosts int, options Options) {
	a.P = 0
	for _, null := range families {
		if families[0].logLikelihood-null.logLikelihood > plausible {
			break
		}
		p, drawn := bootstrap(two-families[0].logLikelihood, null, hosts, options)
		if p > a.P || a.Replicates == 0 {
			a.P, a.Replicates = p, drawn
		}
		if p > options.Level {
			a.Why = null.name + " fits as well"
			return
		}
	}
	a.Two = true
}

// The bootstrap looks after so many fleets whether the rest can still change the answer.
const drawnAtOnce = 19

// beyondChance in spreads of what chance gives, no fleet need be drawn any more: of no distribution
// lies more than 1/(1+6²) so far above its mean (Cantelli's inequality), and 19 draws know its
// spread well enough.
const beyondChance = 6

// bootstrap draws fleets from one band and counts those that two bands fit as well as the observed.
// The p-value is that of the count, or Cantelli's bound where no draw comes near.
func bootstrap(observed float64, null single, hosts int, options Options) (p float64, drawn int) {
	as := 0
	var sum, squares float64
	for drawn < options.Replicates {
		count := min(drawnAtOnce, options.Replicates-drawn)
		for _, value := range drawGains(null, hosts, options.Seed, drawn, count) {
			if value >= observed {
				as++
			}
			sum += value
			squares += value * value
		}
		drawn += count
		n := float64(drawn)
		if float64(as+1) > options.Level*float64(options.Replicates+1) {
			break // more than the level allows already
		}
		mean := sum / n
		sd := math.Sqrt(max(squares/n-mean*mean, 0))
		if beyond := (observed - mean) / sd; as == 0 && 1/(n+1) <= options.Level && beyond > beyondChance {
			return min(1/(n+1), 1/(1+beyond*beyond)), drawn
		}
	}
	return float64(as+1) / float64(drawn+1), drawn
}

// drawGains fits both to fleets of one band; each has its own random numbers, so the answer does
// not depend on how many CPUs draw.
func drawGains(null single, hosts int, seed uint64, first, count int) []float64 {
	gains := make([]float64, count)
	next := make(chan int, count)
	for i := range count {
		next <- i
	}
	close(next)
	var wait sync.WaitGroup
	for range min(count, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			values := make([]float64, hosts)
			for i := range next {
				random := rand.New(rand.NewPCG(seed, uint64(first+i)))
				for j := range values {
					values[j] = null.draw(null.parameters, random)
				}
				slices.Sort(values)
				gains[i] = fitMixture(values, leastWeight(hosts)).logLikelihood - fitSingle(values).logLikelihood
			}
		})
	}
	wait.Wait()
	return gains
}
