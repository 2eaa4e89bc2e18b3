package units

import (
	"cmp"
	"slices"

	"culprit/recording"
)

// Where a side has one recording, the spread of a metric of requests is that between parts of it.
const (
	// blocksMost and blocksLeast are how many parts a recording is taken apart into. Chosen:
	// neighbours depend on each other, and longer parts do so less; fewer than five say little
	// about a spread.
	blocksMost  = 12
	blocksLeast = 5
	// aboveLeast is how many requests of a part lie above its percentile at least: one more or less
	// is then no jump. Chosen.
	aboveLeast = 5
	// blockRequests is how many a part has at least for a mean.
	blockRequests = 20
	// coldNs is how long after a restart a part is left out: caches fill, code is compiled. Chosen.
	coldNs = 10e9
)

// Block is a metric of the requests of one part of a recording.
type Block struct {
	AtS   float64 // of its middle, since the recording began
	Value float64
}

// Blocks are the values of a metric of requests in parts of a recording that follow each other,
// without those that hold a restart of the service or come soon after it; nil where there are too
// few requests, or too little time, for as many parts as tell of a spread. disturbed is how many
// were left out.
func Blocks(rec *recording.Recording, metric string) (blocks []Block, disturbed int) {
	list := slicesOf(rec)
	least, all := leastRequests(metric), int64(0)
	for _, s := range list {
		all += s.count
	}
	for count := min(blocksMost, len(list)); count >= blocksLeast; count-- {
		if all/int64(count) >= least {
			return blocksOf(rec, list, metric, count)
		}
	}
	return nil, 0
}

// leastRequests is how many requests a part must have.
func leastRequests(metric string) int64 {
	return max(blockRequests, int64(aboveLeast/(1-Percent(metric)/100)+0.5))
}

// timeSlice is what the table of requests has of one slice of time, whatever their kind.
type timeSlice struct {
	fromNs, count int64
	rows          []recording.Request
}

func slicesOf(rec *recording.Recording) (list []timeSlice) {
	at := map[int64]int{}
	eachServed(rec, func(row *recording.Request) {
		if row.TimeNs < 0 || row.TimeNs > rec.Manifest.WindowNs {
			return
		}
		i, known := at[row.TimeNs]
		if !known {
			i = len(list)
			at[row.TimeNs] = i
			list = append(list, timeSlice{fromNs: row.TimeNs})
		}
		list[i].count += row.Count
		list[i].rows = append(list[i].rows, *row)
	})
	slices.SortFunc(list, func(a, b timeSlice) int { return cmp.Compare(a.fromNs, b.fromNs) })
	return list
}

// blocksOf cuts the window into so many parts of the same length; a slice is in the part that it
// begins in.
func blocksOf(rec *recording.Recording, list []timeSlice, metric string, count int) (blocks []Block, disturbed int) {
	window := rec.Manifest.WindowNs
	edges := edgesOf(list, window, count)
	for i := range edges[1:] {
		fromNs, toNs := edges[i], edges[i+1]
		if toNs <= fromNs {
			continue
		}
		if isCold(rec, fromNs, toNs) {
			disturbed++
			continue
		}
		part := &recording.Recording{Manifest: recording.Manifest{WindowNs: toNs - fromNs}}
		for _, s := range list {
			if s.fromNs >= fromNs && s.fromNs < toNs {
				part.Requests = append(part.Requests, s.rows...)
			}
		}
		value, told := OfRequests(part, metric)
		if metric == recording.MetricCPU {
			value, told = cpuOfRequest(rec, part, fromNs, toNs)
		}
		if told {
			blocks = append(blocks, Block{AtS: float64(fromNs+toNs) / 2e9, Value: value})
		}
	}
	if len(blocks) < blocksLeast {
		return nil, disturbed
	}
	return blocks, disturbed
}

// edgesOf are the moments between parts: where slices begin, so that each lies in one part.
func edgesOf(list []timeSlice, window int64, count int) []int64 {
	edges := []int64{0}
	for i := 1; i < count; i++ {
		wanted := window / int64(count) * int64(i)
		at, _ := slices.BinarySearchFunc(list, wanted, func(s timeSlice, ns int64) int { return cmp.Compare(s.fromNs, ns) })
		if at < len(list) && list[at].fromNs > edges[len(edges)-1] {
			edges = append(edges, list[at].fromNs)
		}
	}
	return append(edges, window)
}

// isCold tells a part in which the service was restarted, or was so not long before.
func isCold(rec *recording.Recording, fromNs, toNs int64) bool {
	return slices.ContainsFunc(rec.Manifest.Restarts, func(restart recording.Restart) bool {
		return restart.TimeNs < toNs && restart.TimeNs+coldNs > fromNs
	})
}

// cpuOfRequest is the CPU time that the target's samples of a part speak for, by its requests, in
// seconds.
func cpuOfRequest(rec, part *recording.Recording, fromNs, toNs int64) (seconds float64, told bool) {
	all, within := int64(0), int64(0)
	for i := range rec.Samples {
		sample := &rec.Samples[i]
		if sample.Signal != recording.SignalCPU || !sample.Target || !recording.Plausible(sample.ValueNs) {
			continue
		}
		all += sample.ValueNs
		if sample.TimeNs >= fromNs && sample.TimeNs < toNs {
			within += sample.ValueNs
		}
	}
	count := Served(part)
	if all <= 0 || within <= 0 || count <= 0 {
		return 0, false
	}
	return cpuSeconds(rec) * float64(within) / float64(all) / count, true
}
