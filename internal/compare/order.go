package compare

import (
	"math"
	"sort"
)

// tooSmall is the part of the metric below which an item is not tested. Leaving out what is small on both sides
// together does not favour differences (independent filtering: Bourgon, Gentleman & Huber 2010), and each test that
// is not made leaves the others more power.
const tooSmall = 0.001

// decide tests the items of one family: those that divide the metric, or those beside it.
func (r *ranker) decide(rows []rankRow) (p []float64, decided []bool) {
	least := tooSmall * (mean(r.result.A) + mean(r.result.B))
	var tested []int
	var a, b [][]float64
	for i := range rows {
		row := &rows[i]
		if !row.moved && (row.item.Signal == SignalCounted || mean(row.a)+mean(row.b) >= least) {
			tested, a, b = append(tested, i), append(a, row.a), append(b, row.b)
		}
	}
	p, decided = make([]float64, len(rows)), make([]bool, len(rows))
	for i := range p {
		p[i] = 1
	}
	values, found := pValues(a, b), decide(a, b, r.confidence)
	for at, i := range tested {
		p[i], decided[i] = values[at], found[at]
	}
	return p, decided
}

func kept(items []Ranked, rows []rankRow) []Ranked {
	list := make([]Ranked, 0, len(items))
	for i := range items {
		if !rows[i].moved {
			list = append(list, items[i])
		}
	}
	return list
}

// bySize puts the largest change first: seconds by size, counts by how many times as often.
func bySize(items []Ranked) {
	size := func(item *Ranked) float64 {
		if item.Signal == SignalCounted {
			return math.Abs(math.Log((item.B + 1) / (item.A + 1)))
		}
		return math.Abs(item.Change.Value)
	}
	sort.SliceStable(items, func(i, j int) bool {
		x, y := &items[i], &items[j]
		if x.Signal == SignalCounted && x.Decided != y.Decided {
			return x.Decided
		}
		if size(x) != size(y) {
			return size(x) > size(y)
		}
		return x.Signal+x.Name < y.Signal+y.Name
	})
}
