package tail

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"culprit/recording"
)

// Kind is all requests of one kind of a service over a whole recording.
type Kind struct {
	Side     string `json:"side"`
	Service  string `json:"service"`
	Protocol string `json:"protocol,omitempty"`
	Kind     string `json:"kind"`
	Pid      int32  `json:"pid"`
	Comm     string `json:"comm"`
	Count    int64  `json:"count"`
	Errors   int64  `json:"errors"`
	// Throughput is requests per second.
	Throughput float64 `json:"throughput"`
	Latency    Latency `json:"latency"`
	// Unsent is how many seconds an answer lies in the socket after the last call, in the mean: no
	// part of the latency.
	Unsent   float64 `json:"unsent,omitempty"`
	BytesIn  int64   `json:"bytes_in"`
	BytesOut int64   `json:"bytes_out"`
	// Shares of the sum of all latencies, by class; what is left of 1 is running.
	Shares Shares `json:"shares"`

	sum     recording.Request
	buckets map[int32]int64
}

// Latency is in seconds.
type Latency struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99.9"`
	Max  float64 `json:"max"`
}

// Shares of the time of requests. Of a client only Wait is known: until the first byte of the
// answer.
type Shares struct {
	Wait       float64 `json:"wait"`
	Upload     float64 `json:"upload"`
	Handover   float64 `json:"handover"`
	Queued     float64 `json:"queued"`
	Lock       float64 `json:"lock"`
	Sleep      float64 `json:"sleep"`
	Disk       float64 `json:"disk"`
	Fault      float64 `json:"fault"`
	Downstream float64 `json:"downstream"`
	Net        float64 `json:"net"`
	Other      float64 `json:"other"`
	Unknown    float64 `json:"unknown"` // answered by a thread of which is not known when it took the request up
	CPU        float64 `json:"cpu"`
}

// Summarize adds up the requests of a recording, by service and kind, those first that took most
// time together.
func Summarize(rec *recording.Recording) []Kind {
	type key struct{ side, service, protocol, kind string }
	at := map[key]*Kind{}
	var kinds []*Kind
	for i := range rec.Requests {
		row := &rec.Requests[i]
		k := key{row.Side, row.Service, row.Protocol, row.Kind}
		if at[k] == nil {
			at[k] = &Kind{Side: row.Side, Service: row.Service, Protocol: row.Protocol, Kind: row.Kind, Pid: row.Pid,
				Comm: row.Comm, buckets: map[int32]int64{}}
			kinds = append(kinds, at[k])
		}
		at[k].add(row)
	}
	seconds := time.Duration(rec.Manifest.WindowNs).Seconds()
	slices.SortStableFunc(kinds, func(a, b *Kind) int {
		return cmp.Or(cmp.Compare(b.Side, a.Side), cmp.Compare(b.sum.TotalNs, a.sum.TotalNs)) // server before client
	})
	all := make([]Kind, 0, len(kinds))
	for _, kind := range kinds {
		kind.finish(seconds)
		all = append(all, *kind)
	}
	return all
}

func (k *Kind) add(row *recording.Request) {
	k.Count += row.Count
	k.Errors += row.Errors
	k.BytesIn += row.BytesIn
	k.BytesOut += row.BytesOut
	for i, bucket := range row.Buckets {
		k.buckets[bucket] += row.Counts[i]
	}
	s := &k.sum
	for _, add := range [][2]*int64{{&s.TotalNs, &row.TotalNs}, {&s.WaitNs, &row.WaitNs}, {&s.UploadNs, &row.UploadNs},
		{&s.ServeNs, &row.ServeNs}, {&s.AnswerNs, &row.AnswerNs}, {&s.UnsentNs, &row.UnsentNs},
		{&s.UnfollowedNs, &row.UnfollowedNs}, {&s.HandoverNs, &row.HandoverNs}, {&s.QueuedNs, &row.QueuedNs},
		{&s.LockNs, &row.LockNs}, {&s.SleepNs, &row.SleepNs}, {&s.DiskNs, &row.DiskNs}, {&s.FaultNs, &row.FaultNs},
		{&s.DownstreamNs, &row.DownstreamNs}, {&s.NetNs, &row.NetNs}, {&s.OtherNs, &row.OtherNs}} {
		*add[0] += *add[1]
	}
}

// order has the buckets from the quickest on.
func (k *Kind) order() []int32 { return slices.Sorted(maps.Keys(k.buckets)) }

// Counts are the latencies of all requests: so many in each bucket, see recording.LatencyOf, the
// quickest first.
func (k *Kind) Counts() (buckets []int32, counts []int64) { return InOrder(k.buckets) }

// InOrder puts counts by bucket into two lists, the quickest first.
func InOrder(counts map[int32]int64) (buckets []int32, inOrder []int64) {
	buckets = slices.Sorted(maps.Keys(counts))
	for _, bucket := range buckets {
		inOrder = append(inOrder, counts[bucket])
	}
	return buckets, inOrder
}

// quantile is in seconds.
func (k *Kind) quantile(q float64) float64 { return quantile(k.order(), k.buckets, k.Count, q) }

// above counts the requests that took so many seconds and more.
func (k *Kind) above(seconds float64) (count int64) {
	for bucket, n := range k.buckets {
		if low, high := recording.LatencyOf(bucket); float64(low+high)/2/1e9 >= seconds {
			count += n
		}
	}
	return count
}

func (k *Kind) finish(seconds float64) {
	if seconds > 0 {
		k.Throughput = float64(k.Count) / seconds
	}
	order := k.order()
	for _, q := range []struct {
		of float64
		to *float64
	}{{.5, &k.Latency.P50}, {.95, &k.Latency.P95}, {.99, &k.Latency.P99}, {.999, &k.Latency.P999}, {1, &k.Latency.Max}} {
		*q.to = quantile(order, k.buckets, k.Count, q.of)
	}
	total := float64(k.sum.TotalNs)
	if k.Count == 0 || total <= 0 {
		return
	}
	k.Unsent = float64(k.sum.UnsentNs) / float64(k.Count) / 1e9
	k.Latency.Mean = total / float64(k.Count) / 1e9
	s := &k.sum
	share := func(ns int64) float64 { return float64(ns) / total }
	k.Shares = Shares{Wait: share(s.WaitNs), Upload: share(s.UploadNs), Handover: share(s.HandoverNs),
		Queued: share(s.QueuedNs), Lock: share(s.LockNs), Sleep: share(s.SleepNs), Disk: share(s.DiskNs),
		Fault: share(s.FaultNs), Downstream: share(s.DownstreamNs), Net: share(s.NetNs), Other: share(s.OtherNs),
		Unknown: share(s.UnfollowedNs)}
	k.Shares.CPU = max(0, 1-k.Shares.Wait-k.Shares.Upload-k.Shares.Unknown-share(s.WaitedNs()))
}

// quantile is the middle of the bucket that holds it, in seconds.
func quantile(order []int32, buckets map[int32]int64, count int64, q float64) float64 {
	rank, seen := int64(q*float64(count-1))+1, int64(0)
	for _, bucket := range order {
		if seen += buckets[bucket]; seen >= rank {
			low, high := recording.LatencyOf(bucket)
			return float64(low+high) / 2 / 1e9
		}
	}
	return 0
}
