package requests

import (
	"math"

	"culprit/recording"
)

// estimator turns what was counted in slices of a window into estimates of the whole of it.
//
// A request counts that began and ended within one slice. Of those that take a time L, and begin at
// any moment, a slice of length S has the part that begins in its first S - L: a request of that
// latency therefore stands for the window divided by the sum of S - L over all slices. Weighted so,
// long requests are not fewer than they are, as they would be by the share of the time alone. Of
// those that take longer than every slice nothing is known.
type estimator struct {
	windowNs float64
	slicesNs []float64
	plain    float64 // the window by what was watched of it
	weights  map[int32]float64
}

// mostWeight is by how much a long request may at most count more than a short one: of those that
// take nearly as long as a slice too few are seen for more.
const mostWeight = 10

func newEstimator(windowNs int64, slicesNs []int64) *estimator {
	e := &estimator{windowNs: float64(windowNs), weights: map[int32]float64{}}
	watched := 0.0
	for _, ns := range slicesNs {
		e.slicesNs = append(e.slicesNs, float64(ns))
		watched += float64(ns)
	}
	if watched > 0 {
		e.plain = max(1, e.windowNs/watched)
	}
	return e
}

// weight is how many requests of the window one stands for that took so long.
func (e *estimator) weight(latencyNs float64) float64 {
	begins := 0.0
	for _, ns := range e.slicesNs {
		begins += max(0, ns-latencyNs)
	}
	if begins <= 0 {
		return mostWeight * e.plain
	}
	return min(max(1, e.windowNs/begins), mostWeight*e.plain)
}

func (e *estimator) weightOf(bucket int32) float64 {
	weight, known := e.weights[bucket]
	if !known {
		weight = e.weight(middleOf(bucket))
		e.weights[bucket] = weight
	}
	return weight
}

func middleOf(bucket int32) float64 {
	low, high := recording.LatencyOf(bucket)
	return float64(low+high) / 2
}

// estimate makes a row of the requests that were seen in a slice one of the time around it.
func (e *estimator) estimate(row *recording.Request) {
	var seen, stand, seenNs, standNs float64
	told := int64(0)
	for i, bucket := range row.Buckets {
		count, weight, latency := float64(row.Counts[i]), e.weightOf(bucket), middleOf(bucket)
		seen, stand = seen+count, stand+count*weight
		seenNs, standNs = seenNs+count*latency, standNs+count*weight*latency
		// What is rounded off in one bucket goes to the next: the sum is right.
		row.Counts[i] = int64(math.Round(stand)) - told
		told += row.Counts[i]
	}
	if seen == 0 || seenNs == 0 {
		return
	}
	row.Seen, row.Count = row.Count, told
	for _, count := range []*int64{&row.Errors, &row.BytesIn, &row.BytesOut, &row.Handed, &row.Interleaved,
		&row.Unfollowed} {
		*count = scaled(*count, stand/seen)
	}
	total := int64(0)
	for _, ns := range []*int64{&row.WaitNs, &row.UploadNs, &row.ServeNs, &row.AnswerNs} {
		*ns = scaled(*ns, standNs/seenNs)
		total += *ns
	}
	if row.Side == recording.SideClient { // of which the wait is a part
		total = scaled(row.TotalNs, standNs/seenNs)
	}
	row.TotalNs = total
	spent := &row.Spent
	for _, ns := range []*int64{&row.UnsentNs, &row.UnfollowedNs, &spent.HandoverNs, &spent.QueuedNs, &spent.LockNs,
		&spent.SleepNs, &spent.DiskNs, &spent.FaultNs, &spent.DownstreamNs, &spent.NetNs, &spent.OtherNs} {
		*ns = scaled(*ns, standNs/seenNs)
	}
}

func scaled(amount int64, by float64) int64 { return int64(math.Round(float64(amount) * by)) }
