// Package weights tells what part of a whole fleet something takes, and what it would be worth
// without it.
//
// A sample stands for the exact CPU time of its window divided by the window's samples: hosts
// sample at different rates and lose some. The interval comes from drawing the hosts anew, since
// what one host does at noon is no second host.
//
//	top := weights.Top(hosts, weights.Options{})
//	saved := weights.Worth(top[0].Cores, stat.Interval{Value: -0.2, Low: -0.25, High: -0.15}, prices)
//
// It refuses nothing: of one host there is no interval, which it says by one from nothing to all.
package weights

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"culprit/internal/stat"
)

// Host is what one host spent.
type Host struct {
	Name string
	// Cores is its CPU time by the time it was seen.
	Cores float64
	// Parts are the cores of each thing: a frame, a cause, a setting. Things may contain each
	// other.
	Parts map[string]float64
	// Stands is how many hosts of the fleet it stands for, 1 where all were seen.
	Stands float64
}

// Options say how intervals are made.
type Options struct {
	Confidence float64 // 0.95
	Redraws    int     // 499
	Most       int     // things that are told; 30
	Seed       uint64
}

// Part is one thing's part of the fleet.
type Part struct {
	Name  string        `json:"name"`
	Share stat.Interval `json:"share"` // of the fleet's CPU time
	Cores stat.Interval `json:"cores"`
	Hosts int           `json:"hosts"` // that spent anything on it
	// Most is the host that spends the largest part of its own time on it.
	Most string `json:"most"`
}

// Top has the largest parts, the largest first.
func Top(hosts []Host, options Options) []Part {
	options = options.withDefaults()
	total := 0.0
	sums := map[string]float64{}
	for _, host := range hosts {
		total += host.Cores * host.stands()
		for name, cores := range host.Parts {
			sums[name] += cores * host.stands()
		}
	}
	names := make([]string, 0, len(sums))
	for name := range sums {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	names = names[:min(len(names), options.Most)]
	parts := make([]Part, 0, len(names))
	for _, name := range names {
		part := Part{Name: name}
		largest := -1.0
		for _, host := range hosts {
			if cores := host.Parts[name]; cores > 0 {
				part.Hosts++
				if share := cores / host.Cores; share > largest {
					largest, part.Most = share, host.Name
				}
			}
		}
		part.Share.Value, part.Cores.Value = ratio(sums[name], total), sums[name]
		parts = append(parts, part)
	}
	redraw(hosts, parts, options)
	return parts
}

func (o Options) withDefaults() Options {
	if o.Confidence == 0 {
		o.Confidence = 0.95
	}
	if o.Redraws == 0 {
		o.Redraws = 499
	}
	if o.Most == 0 {
		o.Most = 30
	}
	return o
}

func (h *Host) stands() float64 {
	if h.Stands > 0 {
		return h.Stands
	}
	return 1
}

func ratio(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return part / whole
}

// redraw fills in intervals: hosts are drawn with replacement, all parts of a draw from the same
// hosts.
func redraw(hosts []Host, parts []Part, options Options) {
	n := len(hosts)
	if n < 2 {
		all := 0.0
		for _, host := range hosts {
			all += host.Cores * host.stands()
		}
		for i := range parts {
			parts[i].Share.Low, parts[i].Share.High = 0, 1
			parts[i].Cores.Low, parts[i].Cores.High = 0, max(parts[i].Cores.Value, all)
		}
		return
	}
	random := rand.New(rand.NewPCG(options.Seed, 0x746f70))
	matrix := make([][]float64, len(parts))
	for i, part := range parts {
		matrix[i] = make([]float64, n)
		for j := range hosts {
			matrix[i][j] = hosts[j].Parts[part.Name] * hosts[j].stands()
		}
	}
	shares := make([][]float64, len(parts))
	cores := make([][]float64, len(parts))
	times := make([]float64, n)
	// A sample of n draws has (n−1)/n of the variance.
	wider := math.Sqrt(float64(n) / float64(n-1))
	for range options.Redraws {
		clear(times)
		for range n {
			times[random.IntN(n)]++
		}
		total := 0.0
		for j := range hosts {
			total += times[j] * hosts[j].Cores * hosts[j].stands()
		}
		for i := range parts {
			sum := 0.0
			for j, t := range times {
				sum += t * matrix[i][j]
			}
			share := parts[i].Share.Value + wider*(ratio(sum, total)-parts[i].Share.Value)
			shares[i] = append(shares[i], share)
			cores[i] = append(cores[i], parts[i].Cores.Value+wider*(sum-parts[i].Cores.Value))
		}
	}
	for i := range parts {
		parts[i].Share.Low, parts[i].Share.High = bounds(shares[i], parts[i].Share.Value, options.Confidence)
		parts[i].Cores.Low, parts[i].Cores.High = bounds(cores[i], parts[i].Cores.Value, options.Confidence)
	}
}

func bounds(values []float64, value, confidence float64) (low, high float64) {
	slices.Sort(values)
	cut := int(float64(len(values)) * (1 - confidence) / 2)
	return max(0, min(value, values[cut])), max(value, values[len(values)-1-cut])
}

// Prices turn cores into money, in whatever unit the user has.
type Prices struct {
	PerCoreHour float64 `json:"per_core_hour"`
}

const hoursOfYear = 365.25 * 24

// Saving is what an effect would be worth.
type Saving struct {
	Cores   stat.Interval `json:"cores"`
	PerYear stat.Interval `json:"per_year"` // in the unit of the price; 0 without one
}

// Worth is what a proven effect on the time that something takes saves over the fleet: effect is
// its change as a ratio − 1, −0.2 for a fifth less. Both uncertainties are drawn together, as if
// independent.
func Worth(cores, effect stat.Interval, prices Prices, seed uint64) Saving {
	const draws = 4000
	random := rand.New(rand.NewPCG(seed, 0x776f727468))
	saved := make([]float64, draws)
	for i := range saved {
		saved[i] = -max(0, draw(cores, random)) * max(-1, draw(effect, random))
	}
	value := -cores.Value * effect.Value
	slices.Sort(saved)
	low, high := min(value, saved[draws/40]), max(value, saved[draws-1-draws/40])
	all := stat.Interval{Value: value, Low: low, High: high}
	saving := Saving{Cores: all}
	if prices.PerCoreHour > 0 {
		saving.PerYear = all.Over(1 / (prices.PerCoreHour * hoursOfYear))
	}
	return saving
}

// draw takes a value of two half normals with the interval's two widths.
func draw(i stat.Interval, random *rand.Rand) float64 {
	z := random.NormFloat64() / 1.96
	if z < 0 {
		return i.Value + z*(i.Value-i.Low)
	}
	return i.Value + z*(i.High-i.Value)
}
