package explain

import (
	"math"
	"testing"

	"culprit/internal/compare/units"
	"culprit/internal/stat"
	"culprit/recording"
)

// onHost is a recording of a service on a host of two CPUs: how many requests it answered in ten
// seconds, the usual latency and that of one in fifty, the CPU time of its only thread, and what
// both CPUs were busy, in seconds.
func onHost(count, usualNs, slowNs int64, cpu, busy float64) *recording.Recording {
	rec := &recording.Recording{Manifest: recording.Manifest{WindowNs: 10e9, Target: recording.Target{Kind: "pid"}}}
	rec.Manifest.Metrics = map[string]float64{recording.MetricCPU: cpu}
	rec.Threads = []recording.Thread{{Pid: 7, Tid: 7, CPUNs: int64(cpu * 1e9)}}
	slow := count / 50
	rec.Requests = []recording.Request{{Side: recording.SideServer, Count: count,
		TotalNs: (count-slow)*usualNs + slow*slowNs, Buckets: []int32{bucketOf(usualNs), bucketOf(slowNs)},
		Counts: []int64{count - slow, slow}}}
	for i, scope := range []string{"cpu0", "cpu1"} {
		rec.Metrics = append(rec.Metrics, recording.Metric{Name: "cpu.busy_s", Scope: scope, Value: 100 + float64(i)},
			recording.Metric{Name: "cpu.busy_s", Scope: scope, TimeNs: 10e9, Value: 100 + float64(i) + busy/2})
	}
	return rec
}

func bucketOf(ns int64) int32 {
	for bucket := int32(0); ; bucket++ {
		if low, high := recording.LatencyOf(bucket); ns >= low && ns < high {
			return bucket
		}
	}
}

// What requests took on two sides, and at which load, is told of each recording, with a verdict
// where it is known.
func TestRequestsOfTwoSides(t *testing.T) {
	a := []*recording.Recording{onHost(1000, 2e6, 20e6, 3, 8), onHost(1010, 2e6, 20e6, 3.1, 8.2),
		onHost(990, 2e6, 20e6, 2.9, 7.9)}
	b := []*recording.Recording{onHost(500, 4e6, 20e6, 3, 16), onHost(510, 4e6, 20e6, 3.1, 16),
		onHost(490, 4e6, 20e6, 2.9, 16)}
	work, err := units.Choose(units.PerRequest, a, b)
	if err != nil {
		t.Fatal(err)
	}
	e := &Evidence{A: a, B: b, Work: work}
	all := map[string]RequestMetric{}
	for _, m := range e.Requests(0.02) {
		all[m.Name] = m
	}
	for name, want := range map[string]struct {
		a, b    float64
		outcome stat.Outcome
	}{"latency": {2.36e-3, 4.32e-3, stat.Worse}, "p50": {2e-3, 4e-3, stat.Worse}, "p95": {2e-3, 4e-3, stat.Worse},
		"p99": {20e-3, 20e-3, stat.Same}, "p99.9": {20e-3, 20e-3, stat.Same}, "throughput": {100, 50, stat.Worse},
		"in_progress": {0.236, 0.216, ""},
		"cpus":        {0.3, 0.3, ""}, "busiest_thread": {0.3, 0.3, ""}, "host": {0.4, 0.8, ""}} {
		m, told := all[name]
		if !told || len(m.A) != len(a) || len(m.B) != len(b) || m.Outcome != want.outcome ||
			math.Abs(stat.Middle(m.A)-want.a) > 0.02*want.a || math.Abs(stat.Middle(m.B)-want.b) > 0.02*want.b {
			t.Errorf("%s: %+v, want %+v", name, m, want)
		}
	}
	if one := (&Evidence{A: a[:1], B: b[:1], Work: work}).Requests(0.02); len(one) == 0 || one[0].Outcome != "" ||
		!(one[0].Effect.Ratio > 1.8) {
		t.Errorf("of one recording a side: %+v", one)
	}
	b[1].Requests = nil
	if none := e.Requests(0.02); none != nil {
		t.Errorf("one recording has no requests: %+v", none)
	}
	work.Name = units.PerSecond
	if none := (&Evidence{A: a, B: a, Work: work}).Requests(0.02); none != nil {
		t.Errorf("per second: %+v", none)
	}
}

// What answers lie in sockets for is tested where it is what changed: an old habit of both sides,
// or what windows of both have, hides nothing of the latency.
func TestWhatIsKeptBack(t *testing.T) {
	for _, test := range []struct {
		name           string
		a, b           [3]float64 // ms in the socket for a request
		latencyA, latB int64
		want           bool
	}{
		{"by one side alone", [3]float64{0, 0, 0}, [3]float64{42, 43, 44}, 3e6, 3e6, true},
		{"by both", [3]float64{42, 44, 43}, [3]float64{43, 42, 44}, 3e6, 3e6, false},
		{"by both, and one takes longer", [3]float64{42, 44, 43}, [3]float64{43, 42, 44}, 3e6, 6e6, false},
		{"now and then", [3]float64{0, 0, 3}, [3]float64{0, 4, 2}, 3e6, 3e6, false},
		{"a little, and latency more", [3]float64{0, 0, 0}, [3]float64{1, 1, 1}, 3e6, 6e6, false},
	} {
		side := func(unsent [3]float64, ns int64) (group []*recording.Recording) {
			for _, ms := range unsent {
				rec := onHost(1000, ns, ns, 3, 8)
				rec.Requests[0].UnsentNs = int64(1000 * ms * 1e6)
				group = append(group, rec)
			}
			return group
		}
		e := &Evidence{A: side(test.a, test.latencyA), B: side(test.b, test.latB)}
		if got := e.KeptBack(); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
