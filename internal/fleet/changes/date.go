package changes

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"culprit/internal/stat"
)

// How far around an alarm a change is looked for: two days before it and what has come since, at
// most a day.
const (
	lookBack  = 72
	blockSize = 6 // hours of residuals that are kept together: neighbours are alike
	redraws   = 199
)

// date finds the hour at which the level stepped, by least squares, with an interval from redrawn
// blocks of what the step leaves over.
func (w *watch) date(hour int, centre float64) Change {
	from := max(0, hour-lookBack)
	values := make([]float64, hour+1-from)
	for i := range values {
		values[i] = w.residual[from+i] - centre
		if math.IsNaN(values[i]) {
			values[i] = 0
			if i > 0 {
				values[i] = values[i-1]
			}
		}
	}
	at, before, after := step(values)
	rest := make([]float64, len(values))
	for i := range values {
		if rest[i] = values[i] - before; i >= at {
			rest[i] = values[i] - after
		}
	}
	random := rand.New(rand.NewPCG(uint64(hour), 1))
	ats, sizes := make([]int, 0, redraws), make([]float64, 0, redraws)
	drawn := make([]float64, len(values))
	for range redraws {
		for i := 0; i < len(drawn); i += blockSize {
			block := random.IntN(len(rest) - blockSize + 1)
			copy(drawn[i:], rest[block:block+blockSize])
		}
		for i := range drawn {
			if drawn[i] += before; i >= at {
				drawn[i] += after - before
			}
		}
		a, b, c := step(drawn)
		ats, sizes = append(ats, a), append(sizes, c-b)
	}
	slices.Sort(ats)
	slices.Sort(sizes)
	when := func(i int) time.Time { return w.start.Add(time.Duration(from+i) * time.Hour) }
	low, high := redraws/40, redraws-1-redraws/40
	return Change{Told: w.start.Add(time.Duration(hour+1) * time.Hour), At: when(at),
		Low: when(min(at, ats[low])), High: when(max(at, ats[high])),
		Size: stat.Interval{Value: math.Expm1(after - before), Low: math.Expm1(min(after-before, sizes[low])),
			High: math.Expm1(max(after-before, sizes[high]))}}
}

// step is where two levels fit best.
func step(values []float64) (at int, before, after float64) {
	total := 0.0
	for _, v := range values {
		total += v
	}
	n := float64(len(values))
	best, left := -1.0, 0.0
	for i := 1; i < len(values); i++ {
		left += values[i-1]
		k := float64(i)
		if i < blockSize/2 || len(values)-i < blockSize/2 {
			continue
		}
		// What the step explains of the squares.
		a, b := left/k, (total-left)/(n-k)
		if gain := k * (n - k) / n * (a - b) * (a - b); gain > best {
			best, at, before, after = gain, i, a, b
		}
	}
	return at, before, after
}
