package record

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// memoryLimit keeps the recorder small beside what it records: the garbage
	// collector works harder before the process grows beyond it.
	memoryLimit = 80 << 20
	// A limit near what is alive would have the collector run all the time, up
	// to half of a CPU (golang.org/doc/gc-guide, "Memory limit"): it is raised to
	// this many times as much, and to leave room for what is no heap, which counts as well.
	roomPerLive = 1.5
	besideHeap  = 16 << 20
)

// boundMemory keeps the limit of memory, raised while more is alive than fits
// under it, until stop is closed.
func boundMemory(stop <-chan struct{}) {
	debug.SetMemoryLimit(memoryLimit)
	for set := int64(memoryLimit); pause(stop, time.Second); {
		if limit := limitFor(liveHeap()); limit != set { // setting it stops the whole process for a moment
			debug.SetMemoryLimit(limit)
			set = limit
		}
	}
}

// limitFor is the limit that leaves the collector room where so many bytes are alive.
func limitFor(live int64) int64 { return max(memoryLimit, int64(float64(live)*roomPerLive)+besideHeap) }

// liveHeap is what the last collection found alive, in bytes.
func liveHeap() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(sample[0].Value.Uint64())
}
