package explain

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"culprit/internal/compare/units"
	"culprit/internal/stat"
	"culprit/recording"
)

// inSlices is a minute of a service with a row for each second, whose latency is scattered a little
// around a time of seconds.
func inSlices(seed uint64, latency float64, count int64) *recording.Recording {
	random := rand.New(rand.NewPCG(seed, 1))
	rec := &recording.Recording{Manifest: recording.Manifest{WindowNs: 60e9, Target: recording.Target{Kind: "pid"}}}
	rec.Manifest.Metrics = map[string]float64{recording.MetricCPU: 3}
	for second := range int64(60) {
		ns := int64(latency * 1e9 * (1 + 0.05*random.NormFloat64()))
		rec.Requests = append(rec.Requests, recording.Request{TimeNs: second * 1e9, LengthNs: 1e9, Side: recording.SideServer,
			Count: count, TotalNs: count * ns, Buckets: []int32{bucketOf(ns)}, Counts: []int64{count}})
	}
	return rec
}

func evidenceOf(t *testing.T, a, b []*recording.Recording) *Evidence {
	t.Helper()
	e, err := Read(a, b, units.PerRequest)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// With one recording a side the spread between its parts tells; of a throughput less is worse.
func TestVerdictByPartsOfOneRecording(t *testing.T) {
	one := func(rec *recording.Recording) []*recording.Recording { return []*recording.Recording{rec} }
	for _, c := range []struct {
		metric  string
		a, b    *recording.Recording
		outcome stat.Outcome
	}{
		{"p99", inSlices(1, 2e-3, 100), inSlices(2, 3e-3, 100), stat.Worse},
		{"p50", inSlices(1, 3e-3, 100), inSlices(2, 2e-3, 100), stat.Better},
		{"mean", inSlices(1, 2e-3, 100), inSlices(2, 2e-3, 100), stat.Same},
		{"throughput", inSlices(1, 2e-3, 200), inSlices(2, 2e-3, 100), stat.Worse},
		{"p99.9", inSlices(1, 2e-3, 100), inSlices(2, 3e-3, 100), stat.Undecided}, // too few requests
	} {
		known, v, err := evidenceOf(t, one(c.a), one(c.b)).TestRequests(c.metric, 0.1)
		if err != nil || v.Outcome != c.outcome {
			t.Errorf("%s: %+v, %v; want %s", c.metric, v, err, c.outcome)
			continue
		}
		decided := c.outcome != stat.Undecided
		if decided != (v.PartsA > 0) || decided == math.IsNaN(v.Effect.Low) || len(v.Warnings) == 0 {
			t.Errorf("%s: %+v", c.metric, v)
		}
		// Nothing was recorded of threads: seconds that did not change with it explain nothing. CPU
		// time of one request did.
		if known.Judged() && c.metric != "throughput" {
			t.Errorf("%s: %+v is judged", c.metric, known)
		}
	}
}

// Several recordings a side are compared as wholes; one that holds no request is named.
func TestVerdictByRecordings(t *testing.T) {
	var a, b []*recording.Recording
	for seed := range uint64(4) {
		a = append(a, inSlices(seed, 2e-3, 100))
		b = append(b, inSlices(seed+10, 4e-3, 100))
	}
	_, v, err := evidenceOf(t, a, b).TestRequests("p99", 0.02)
	if err != nil || v.Outcome != stat.Worse || v.PartsA != 0 || math.Abs(v.Effect.Ratio-2) > 0.1 {
		t.Errorf("%+v, %v", v, err)
	}
	e := evidenceOf(t, a, b)
	e.B[1] = &recording.Recording{}
	if _, _, err := e.TestRequests("p99", 0.02); err == nil || !strings.Contains(err.Error(), "2 of B has no requests") {
		t.Errorf("%v", err)
	}
}

// A restart is no spread of the service: the parts around it are left out, and that is said.
func TestVerdictWithoutRestarts(t *testing.T) {
	a, b := inSlices(1, 2e-3, 100), inSlices(2, 2e-3, 100)
	for i := range b.Requests[20:28] {
		row := &b.Requests[20+i]
		row.TotalNs, row.Buckets = 100*row.TotalNs, []int32{bucketOf(200e6)}
	}
	b.Manifest.Restarts = []recording.Restart{{TimeNs: 20e9, Pid: 1, NewPid: 2}}
	_, v, err := evidenceOf(t, []*recording.Recording{a}, []*recording.Recording{b}).TestRequests("p99", 0.1)
	if err != nil || v.Outcome != stat.Same || v.Disturbed == 0 || !strings.Contains(v.Warnings[0], "disturbed") {
		t.Errorf("%+v, %v", v, err)
	}
}
