package units

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"culprit/recording"
)

// The metrics of requests that a recording tells, beside percentiles such as "p99".
const (
	Latency    = "latency"    // mean seconds, until a call has given the kernel the last byte
	Delivery   = "delivery"   // mean seconds, until the kernel has sent it
	Throughput = "throughput" // requests per second
)

// IsOfRequests tells the metrics of requests: their mean latency, with or without their delivery, a
// percentile such as "p99", their rate.
func IsOfRequests(metric string) bool {
	return metric == Latency || metric == Delivery || metric == Throughput || Percent(metric) > 0
}

// Percent reads "p99.9"; 0 where it is no percentile.
func Percent(metric string) float64 {
	text, is := strings.CutPrefix(metric, "p")
	percent, err := strconv.ParseFloat(text, 64)
	if !is || err != nil || !(percent > 0 && percent < 100) {
		return 0
	}
	return percent
}

// Served is how many requests the target answered: as who made the recording counted them, else as
// its table of requests has them.
func Served(rec *recording.Recording) float64 {
	if counted := rec.Manifest.Metrics[recording.MetricRequests]; counted > 0 {
		return counted
	}
	sum := int64(0)
	eachServed(rec, func(row *recording.Request) { sum += row.Count })
	return float64(sum)
}

func eachServed(rec *recording.Recording, take func(row *recording.Request)) {
	for i := range rec.Requests {
		row := &rec.Requests[i]
		if row.Side == recording.SideServer && recording.Plausible(row.Count, row.TotalNs) {
			take(row)
		}
	}
}

// OfRequests is a metric of the requests that a recording holds; false where it does not tell.
func OfRequests(rec *recording.Recording, metric string) (value float64, told bool) {
	count, total, unsent := int64(0), int64(0), int64(0)
	eachServed(rec, func(row *recording.Request) {
		count += row.Count
		total += row.TotalNs
		unsent += max(0, row.UnsentNs)
	})
	switch {
	case count <= 0:
		return 0, false
	case metric == Latency:
		value = float64(total) / float64(count) / 1e9
	case metric == Delivery:
		value = float64(total+unsent) / float64(count) / 1e9
	case metric == Throughput:
		value = float64(count) / max(windowSeconds(rec), 1e-9)
	default:
		value = percentile(rec, metric)
	}
	return value, value > 0
}

// percentile is the latency that such a part of the requests did not exceed, 0 where it is not
// told.
func percentile(rec *recording.Recording, metric string) float64 {
	percent := Percent(metric)
	if percent == 0 {
		return 0
	}
	counts, all := map[int32]int64{}, int64(0)
	eachServed(rec, func(row *recording.Request) {
		for i, bucket := range row.Buckets {
			if i < len(row.Counts) && recording.Plausible(row.Counts[i]) {
				counts[bucket] += row.Counts[i]
				all += row.Counts[i]
			}
		}
	})
	below := int64(0)
	for _, bucket := range slices.Sorted(maps.Keys(counts)) {
		if below += counts[bucket]; float64(below) >= percent/100*float64(all) {
			low, high := recording.LatencyOf(bucket)
			return float64(low+high) / 2 / 1e9
		}
	}
	return 0
}
