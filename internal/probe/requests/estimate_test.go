package requests

import (
	"math"
	"math/rand/v2"
	"testing"

	"culprit/recording"
)

// bucketOf finds the bucket of a latency.
func bucketOf(ns int64) int32 {
	low, high := int32(0), int32(recording.LatencyBuckets)
	for low+1 < high {
		middle := (low + high) / 2
		if from, _ := recording.LatencyOf(middle); from <= ns {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// sliceUp makes requests that come at random and take a time of the draw, and what is seen of them
// in slices that lie at random in periods of the same length.
func sliceUp(random *rand.Rand, draw func() float64) (truth, seen *recording.Request, slicesNs []int64,
	windowNs int64) {
	const periods, period, length = 400, 2e9, 500e6
	counts := [2]map[int32]int64{{}, {}}
	truth, seen = &recording.Request{}, &recording.Request{}
	for p := range periods {
		from := float64(p)*period + random.Float64()*(period-length)
		slicesNs = append(slicesNs, int64(length))
		for at := float64(p) * period; at < float64(p+1)*period; at += random.ExpFloat64() * 20e6 {
			latency := draw()
			bucket := bucketOf(int64(latency))
			truth.TotalNs += int64(latency)
			counts[0][bucket]++
			if at >= from && at+latency <= from+length {
				counts[1][bucket]++
				seen.TotalNs += int64(latency)
			}
		}
	}
	for i, row := range []*recording.Request{truth, seen} {
		for _, bucket := range sortedKeys(counts[i]) {
			row.Buckets, row.Counts = append(row.Buckets, bucket), append(row.Counts, counts[i][bucket])
			row.Count += counts[i][bucket]
		}
		row.ServeNs = row.TotalNs
	}
	return truth, seen, slicesNs, periods * period
}

// What slices show of requests stands for all of them: as many, with the same mean and tail, though
// a long one is cut by the end of a slice more often than a short one.
func TestSlicesStandForTheWhole(t *testing.T) {
	type draw func(random *rand.Rand) float64
	for name, take := range map[string]draw{
		"short":        func(r *rand.Rand) float64 { return 1e6 * (1 + r.ExpFloat64()) },
		"with a tail":  func(r *rand.Rand) float64 { return 10e6 * math.Exp(r.NormFloat64()) },
		"half a slice": func(r *rand.Rand) float64 { return 150e6 + 200e6*r.Float64() },
		"of two kinds": func(r *rand.Rand) float64 { return []float64{2e6, 300e6, 300e6}[r.IntN(3)] },
		"all alike":    func(*rand.Rand) float64 { return 40e6 },
		"rare long ones": func(r *rand.Rand) float64 {
			return []float64{2e6, 2e6, 2e6, 2e6, 2e6, 2e6, 250e6}[r.IntN(7)]
		},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		truth, seen, slicesNs, windowNs := sliceUp(random, func() float64 { return take(random) })
		raw := seen.Count
		estimator := newEstimator(windowNs, slicesNs)
		estimator.estimate(seen)
		if seen.Seen != raw || seen.ServeNs != seen.TotalNs {
			t.Errorf("%s: %d seen, told as %d; of %d ns %d are told apart", name, raw, seen.Seen, seen.TotalNs, seen.ServeNs)
		}
		sum := int64(0)
		for _, count := range seen.Counts {
			sum += count
		}
		if sum != seen.Count {
			t.Errorf("%s: the buckets hold %d of %d", name, sum, seen.Count)
		}
		near(t, name+": count", float64(seen.Count), float64(truth.Count), 0.05)
		near(t, name+": mean", float64(seen.TotalNs)/float64(seen.Count), float64(truth.TotalNs)/float64(truth.Count), 0.08)
		for _, q := range []float64{0.5, 0.9, 0.99} {
			near(t, name+": quantile", middleOf(at(seen, q)), middleOf(at(truth, q)), 0.15)
		}
	}
}

// Without the correction the tail would be less than it is: this is what the weights are for.
func TestPlainSharesLoseTheTail(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	truth, seen, slicesNs, windowNs := sliceUp(random, func() float64 { return []float64{2e6, 300e6}[random.IntN(2)] })
	plain := float64(windowNs) / float64(len(slicesNs)) / float64(slicesNs[0]) * float64(seen.Count)
	if plain > 0.8*float64(truth.Count) {
		t.Errorf("%.0f of %d by the share of the time alone", plain, truth.Count)
	}
}

func at(row *recording.Request, q float64) int32 {
	below := int64(0)
	for i, bucket := range row.Buckets {
		if below += row.Counts[i]; float64(below) >= q*float64(row.Count) {
			return bucket
		}
	}
	return 0
}

func near(t *testing.T, what string, got, want, part float64) {
	t.Helper()
	if math.Abs(got-want) > part*want {
		t.Errorf("%s: %.0f, the truth is %.0f", what, got, want)
	}
}

// A weight is at least 1, grows with the latency, and is bounded where too little is seen to tell.
func TestWeights(t *testing.T) {
	e := newEstimator(10e9, []int64{500e6, 500e6, 1e9})
	last := 0.0
	for _, latency := range []float64{0, 1e6, 100e6, 400e6, 600e6, 990e6, 5e9} {
		weight := e.weight(latency)
		if weight < max(1, last) || weight > mostWeight*e.plain {
			t.Errorf("a request of %.0f ns stands for %.2f, a shorter one for %.2f", latency, weight, last)
		}
		last = weight
	}
	if got := e.weight(0); got != 5 {
		t.Errorf("a fifth of the time is watched, and one stands for %.2f", got)
	}
	row := &recording.Request{}
	if e.estimate(row); row.Count != 0 || row.Seen != 0 {
		t.Errorf("none is %+v", row)
	}
}
