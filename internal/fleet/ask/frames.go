package ask

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"culprit/internal/fleet/compare"
	"culprit/internal/fleet/store"
	"culprit/internal/stat"
)

// Difference is what a function takes more in B, or in the dear band, as a part of all of A's time
// per request.
type Difference struct {
	Name   string        `json:"name"`
	Module string        `json:"module"`
	Change stat.Interval `json:"change"`
	A      float64       `json:"a"` // its part of a request in A
	P      float64       `json:"p"`
	Self   bool          `json:"self"` // in its own code; otherwise with what it calls
}

// leastFrame is the part of the largest frame from which on frames are asked for.
const leastFrame = 0.001

// frames compares what each function takes of a request between two sides of the hosts, with false
// discoveries held at 5 %.
func (a *asker) frames(hosts []host, isB func(host) bool) ([]Difference, error) {
	a.tell("reading what functions took on each host")
	table, err := a.store.Frames(a.ctx, a.request.Service, "cpu", a.request.Span, leastFrame)
	if err != nil || len(table.Rows) == 0 {
		return []Difference{}, err
	}
	work := make([]float64, len(hosts))
	input := make([]compare.Host, len(hosts))
	total, count := 0.0, 0.0
	for i, h := range hosts {
		if work[i] = h.requests; a.answer.Unit != perRequest {
			work[i] = h.seconds
		}
		input[i] = compare.Host{Name: h.name, B: isB(h)}
		if !input[i].B && work[i] > 0 {
			total += h.cores * h.seconds * 1e9 / work[i]
			count++
		}
	}
	if count == 0 || total == 0 {
		return []Difference{}, nil
	}
	total /= count
	a.tell(fmt.Sprintf("comparing %d functions", len(table.Places)))
	parts := partsOf(table, hosts, func(host int, ns int64) float64 { return float64(ns) / work[host] / total })
	var found []Difference
	var ps []float64
	for column, place := range table.Places {
		for own, values := range [2][]float64{parts.total[column], parts.self[column]} {
			if !slices.ContainsFunc(values, func(v float64) bool { return v != 0 }) {
				continue
			}
			mean := 0.0
			for i, value := range values {
				input[i].Value = value
				mean += (1 - number(input[i].B)) * value / count
			}
			effect, err := compare.Groups(input, compare.Options{Linear: true})
			if err != nil {
				continue // too few hosts of a side for any frame
			}
			found = append(found, Difference{place.Name, place.Module, effect.Change, mean, effect.P, own == 1})
			ps = append(ps, effect.P)
		}
	}
	return discoveries(found, ps, a.request.Most)
}

// parts are what each place took on each host, by place and host.
type parts struct{ total, self [][]float64 }

// partsOf makes numbers of the times of the hosts' own versions; those that are not finite are left
// out.
func partsOf(table *store.FrameTable, hosts []host, scaled func(host int, ns int64) float64) parts {
	at := make(map[string]int, len(hosts))
	for i, h := range hosts {
		at[h.name] = i
	}
	all := parts{make([][]float64, len(table.Places)), make([][]float64, len(table.Places))}
	for number := range table.Places {
		all.total[number], all.self[number] = make([]float64, len(hosts)), make([]float64, len(hosts))
	}
	add := func(to []float64, host int, ns int64) {
		if value := scaled(host, ns); ns != 0 && !math.IsInf(value, 0) {
			to[host] += value
		}
	}
	for _, row := range table.Rows {
		i, known := at[row.Host]
		if !known || !hosts[i].versions[row.Version] {
			continue
		}
		for number := range table.Places {
			add(all.total[number], i, row.TotalNs[number])
			add(all.self[number], i, row.SelfNs[number])
		}
	}
	return all
}

func discoveries(found []Difference, ps []float64, most int) ([]Difference, error) {
	sure, err := stat.BenjaminiHochberg(ps, 0.05)
	if err != nil {
		return nil, err
	}
	kept := []Difference{}
	for i, difference := range found {
		if sure[i] {
			kept = append(kept, difference)
		}
	}
	slices.SortFunc(kept, func(x, y Difference) int {
		return cmp.Or(cmp.Compare(math.Abs(y.Change.Value), math.Abs(x.Change.Value)), cmp.Compare(x.Name, y.Name),
			cmp.Compare(number(x.Self), number(y.Self)))
	})
	return kept[:min(len(kept), most)], nil
}
