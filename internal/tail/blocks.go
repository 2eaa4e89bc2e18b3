package tail

import (
	"math/rand/v2"
	"slices"

	"culprit/internal/cause"
	"culprit/internal/compare"
)

// Requests of one stall are not independent of each other: what is drawn again is slices of time.
const (
	blocksMost  = 30
	blockLeast  = 1e9 // ns
	drawsCount  = 1000
	drawsSeed   = 1
	sureQuarter = 0.025 // of the draws are left out at each end
)

// blocks are the extra times by slice of the recording.
type blocks struct {
	lengthNs int64
	total    []float64
	byCause  map[cause.ID][]float64
}

func newBlocks(windowNs int64) *blocks {
	count := int64(min(blocksMost, max(1, windowNs/blockLeast)))
	return &blocks{lengthNs: max(1, windowNs/count), total: make([]float64, count), byCause: map[cause.ID][]float64{}}
}

// add books one slow request on the slice that it began in.
func (b *blocks) add(a *asked, g *group) {
	at := min(max(0, a.row.TimeNs/b.lengthNs), int64(len(b.total)-1))
	b.total[at] += g.extra(a)
	for bucket, spent := range a.spent {
		b.of(bucket.cause)[at] += spent
	}
	for bucket, usual := range g.spent {
		b.of(bucket.cause)[at] -= usual
	}
}

func (b *blocks) of(id cause.ID) []float64 {
	if b.byCause[id] == nil {
		b.byCause[id] = make([]float64, len(b.total))
	}
	return b.byCause[id]
}

// share is a cause's part of the extra time, with the interval that slices of time drawn again allow. Where all of it
// lies in one slice there is no spread to draw from: the interval then begins at nothing known but what was seen.
func (b *blocks) share(id cause.ID) compare.Interval {
	sum := func(values []float64) (all float64) {
		for _, value := range values {
			all += value
		}
		return all
	}
	total, own := sum(b.total), b.of(id)
	if total <= 0 {
		return interval(0, 0, 0)
	}
	value := sum(own) / total
	var filled []int
	for i := range b.total {
		if b.total[i] > 0 {
			filled = append(filled, i)
		}
	}
	if len(filled) < 2 {
		return interval(value, value/2, min(1, value*1.5))
	}
	random := rand.New(rand.NewPCG(drawsSeed, drawsSeed))
	draws := make([]float64, 0, drawsCount)
	for range drawsCount {
		drawn, all := 0.0, 0.0
		for range filled {
			i := filled[random.IntN(len(filled))]
			drawn, all = drawn+own[i], all+b.total[i]
		}
		draws = append(draws, drawn/all)
	}
	slices.Sort(draws)
	at := func(q float64) float64 { return draws[int(q*float64(len(draws)-1))] }
	return interval(value, min(value, at(sureQuarter)), max(value, at(1-sureQuarter)))
}
