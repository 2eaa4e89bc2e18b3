package units

import (
	"math"
	"testing"

	"culprit/recording"
)

// slicedService is a recording of a minute in slices of a second: so many requests in each, after a
// time of microseconds by the slice.
func slicedService(count int64, latencyUs func(second int) int64) *recording.Recording {
	rec := &recording.Recording{Manifest: recording.Manifest{WindowNs: 60e9,
		Metrics: map[string]float64{recording.MetricCPU: 12}}}
	for second := range 60 {
		row := served(count, latencyUs(second)*1000).Requests[0]
		row.TimeNs, row.LengthNs = int64(second)*1e9, 1e9
		rec.Requests = append(rec.Requests, row)
		rec.Samples = append(rec.Samples, recording.Sample{Signal: recording.SignalCPU, TimeNs: row.TimeNs, Target: true,
			ValueNs: 2e8}, recording.Sample{Signal: recording.SignalCPU, TimeNs: row.TimeNs, ValueNs: 7e8})
	}
	return rec
}

// A recording is taken apart into parts that follow each other, each with its own value.
func TestBlocks(t *testing.T) {
	rec := slicedService(1000, func(second int) int64 { return 2000 + 1000*int64(second/30) })
	for metric, want := range map[string][2]float64{Latency: {2e-3, 3e-3}, "p99": {2e-3, 3e-3},
		Throughput: {1000, 1000}, recording.MetricCPU: {2e-4, 2e-4}} {
		blocks, disturbed := Blocks(rec, metric)
		if len(blocks) != blocksMost || disturbed != 0 {
			t.Fatalf("%s: %d blocks, %d left out", metric, len(blocks), disturbed)
		}
		for i, value := range []float64{blocks[0].Value, blocks[blocksMost-1].Value} {
			if math.Abs(value-want[i]) > 0.02*want[i] {
				t.Errorf("%s: %g, want %g", metric, value, want[i])
			}
		}
		if blocks[0].AtS != 2.5 || blocks[blocksMost-1].AtS != 57.5 {
			t.Errorf("%s: %+v", metric, blocks)
		}
	}
}

// Parts have as many requests as their percentile takes; where there are too few there is none.
// What is soon after a restart is left out.
func TestBlocksThatTell(t *testing.T) {
	steady := func(int) int64 { return 2000 }
	few := slicedService(100, steady) // 6000 in all: 500 a part for p99, 5000 for p99.9
	if blocks, _ := Blocks(few, "p99"); len(blocks) != blocksMost {
		t.Errorf("p99: %d parts", len(blocks))
	}
	if blocks, _ := Blocks(few, "p99.9"); blocks != nil {
		t.Errorf("p99.9 of 6000 requests: %d parts", len(blocks))
	}
	if blocks, _ := Blocks(&recording.Recording{}, Latency); blocks != nil {
		t.Errorf("of nothing: %v", blocks)
	}
	few.Manifest.Restarts = []recording.Restart{{TimeNs: 21e9, Pid: 1, NewPid: 2}}
	blocks, disturbed := Blocks(few, "p50")
	if disturbed != 3 || len(blocks) != blocksMost-3 {
		t.Errorf("%d parts, %d left out", len(blocks), disturbed)
	}
	for _, block := range blocks {
		if block.AtS > 20 && block.AtS < 31 {
			t.Errorf("a disturbed part: %+v", block)
		}
	}
	hostile := slicedService(1000, steady)
	for i := range hostile.Requests {
		hostile.Requests[i].TimeNs = math.MinInt64
	}
	if blocks, _ := Blocks(hostile, "p99"); blocks != nil {
		t.Errorf("before the beginning: %v", blocks)
	}
}
