package units

import (
	"math"
	"testing"

	"culprit/recording"
)

// served is a recording of a service that answered so many requests, each after a time, within two
// seconds.
func served(count, latencyNs int64) *recording.Recording {
	rec := &recording.Recording{Manifest: recording.Manifest{WindowNs: 2e9, Target: recording.Target{Kind: "pid"}}}
	bucket := int32(0)
	for low, high := recording.LatencyOf(bucket); latencyNs < low || latencyNs >= high; bucket++ {
		low, high = recording.LatencyOf(bucket + 1)
	}
	rec.Requests = []recording.Request{
		{Side: recording.SideServer, Count: count, TotalNs: count * latencyNs, Buckets: []int32{bucket},
			Counts: []int64{count}},
		{Side: recording.SideClient, Count: 1000 * count, TotalNs: 1, Buckets: []int32{1},
			Counts: []int64{1000 * count}},
	}
	return rec
}

func TestRequestsOfATable(t *testing.T) {
	rec := served(500, 3e6)
	rec.Requests[0].UnsentNs = 500 * 40e6
	for metric, want := range map[string]float64{Latency: 3e-3, Delivery: 43e-3, Throughput: 250, "p50": 3e-3,
		"p99.9": 3e-3} {
		got, told := OfRequests(rec, metric)
		if !told || math.Abs(got-want) > 0.02*want {
			t.Errorf("%s: %g, %v; want %g", metric, got, told, want)
		}
	}
	for _, metric := range []string{"p0", "p100", "px", "p", "max"} {
		if value, told := OfRequests(rec, metric); told {
			t.Errorf("%s: %g", metric, value)
		}
	}
	if _, told := OfRequests(&recording.Recording{}, Latency); told {
		t.Error("a latency of no request")
	}
}

// Requests that were counted are the unit by themselves, of what runs on; who made the recording is
// believed before its table.
func TestRequestsAreTheUnit(t *testing.T) {
	a, b := served(500, 3e6), served(200, 3e6)
	work, err := Choose(PerAuto, []*recording.Recording{a}, []*recording.Recording{b})
	if err != nil || work.Name != PerRequest || work.A[0] != 500 || work.B[0] != 200 {
		t.Errorf("%+v, %v", work, err)
	}
	b.Manifest.Metrics = map[string]float64{recording.MetricRequests: 210}
	choose := func(per string) (Work, error) {
		return Choose(per, []*recording.Recording{a}, []*recording.Recording{b})
	}
	if work, err = choose(PerRequest); err != nil || work.B[0] != 210 {
		t.Errorf("%+v, %v", work, err)
	}
	b.Requests, b.Manifest.Metrics = nil, nil
	if work, err = choose(PerAuto); err != nil || work.Name != PerSecond {
		t.Errorf("%+v, %v", work, err)
	}
	if _, err = choose(PerRequest); err == nil {
		t.Error("a side without a request is divided by them")
	}
	for _, rec := range []*recording.Recording{a, b} {
		rec.Requests, rec.Manifest.Metrics = nil, map[string]float64{recording.MetricUsualSeconds: 1.5}
	}
	if work, err = choose(PerAuto); err != nil || work.A[0] != 1.5 {
		t.Errorf("%+v, %v", work, err)
	}
}
