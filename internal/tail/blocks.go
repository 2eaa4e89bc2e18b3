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

// blocks are the extra times by slice of the recordings.
type blocks struct {
	spans         map[*reader]span
	weight, total []float64
	byCause       map[cause.ID][]float64
	// than are those of the requests that these are set against, drawn again as well; nil where
	// these are so many that what they spend counts as known.
	than *blocks
}

// span is where the slices of one recording are.
type span struct {
	first, count int
	lengthNs     int64
}

func newBlocks(readers ...*reader) *blocks {
	b := &blocks{spans: map[*reader]span{}, byCause: map[cause.ID][]float64{}}
	for _, r := range readers {
		window := r.rec.Manifest.WindowNs
		count := min(blocksMost, max(1, window/blockLeast))
		b.spans[r] = span{first: len(b.total), count: int(count), lengthNs: max(1, window/count)}
		b.weight = append(b.weight, make([]float64, count)...)
		b.total = append(b.total, make([]float64, count)...)
	}
	return b
}

// add books one slow request on the slice that it began in.
func (b *blocks) add(a *asked, g *group) {
	span := b.spans[a.reader]
	at := span.first + min(max(0, int(a.row.TimeNs/span.lengthNs)), span.count-1)
	b.weight[at] += a.weight
	b.total[at] += a.weight * g.extra(a)
	for bucket, spent := range a.spent {
		b.of(bucket.cause)[at] += a.weight * spent
	}
	for bucket, usual := range g.spent {
		b.of(bucket.cause)[at] -= a.weight * usual
	}
}

// filled are the slices that hold a request.
func (b *blocks) filled() (filled []int) {
	for i, weight := range b.weight {
		if weight > 0 {
			filled = append(filled, i)
		}
	}
	return filled
}

// mean is what a request of such slices has more of a cause, and in all.
func (b *blocks) mean(own []float64, of []int) (mean, all float64) {
	weight := 0.0
	for _, i := range of {
		mean, all, weight = mean+own[i], all+b.total[i], weight+b.weight[i]
	}
	if weight == 0 {
		return 0, 0
	}
	return mean / weight, all / weight
}

// part is a cause's part of the extra time in such slices of both sides; 0 where there is none, and
// all of it where other causes have less than before.
func (b *blocks) part(id cause.ID, of, than []int) float64 {
	own, all := b.mean(b.of(id), of)
	if b.than != nil {
		usual, usualAll := b.than.mean(b.than.of(id), than)
		own, all = own-usual, all-usualAll
	}
	if all <= 0 {
		return 0
	}
	return min(1, own/all)
}

func (b *blocks) of(id cause.ID) []float64 {
	if b.byCause[id] == nil {
		b.byCause[id] = make([]float64, len(b.total))
	}
	return b.byCause[id]
}

// share is a cause's part of the extra time, with the interval that slices of time drawn again
// allow. Where all of it lies in one slice there is no spread to draw from: the interval then
// begins at nothing known but what was seen.
func (b *blocks) share(id cause.ID) compare.Interval {
	filled, than := b.filled(), []int(nil)
	enough := len(filled) >= 2
	if b.than != nil {
		than = b.than.filled()
		enough = enough && len(than) >= 2
	}
	value := b.part(id, filled, than)
	if !enough {
		return interval(value, value/2, min(1, value*1.5))
	}
	random := rand.New(rand.NewPCG(drawsSeed, drawsSeed))
	draws := make([]float64, 0, drawsCount)
	for range drawsCount {
		draws = append(draws, b.part(id, drawn(random, filled), drawn(random, than)))
	}
	slices.Sort(draws)
	at := func(q float64) float64 { return draws[int(q*float64(len(draws)-1))] }
	return interval(value, min(value, at(sureQuarter)), max(value, at(1-sureQuarter)))
}

// drawn takes as many slices as there are, each by chance.
func drawn(random *rand.Rand, from []int) []int {
	taken := make([]int, len(from))
	for i := range taken {
		taken[i] = from[random.IntN(len(from))]
	}
	return taken
}
