// Package prepare makes recordings fit to be compared: the part between two moments, the metrics
// that their maker could not know, and both sides without what one saw for a part of the time.
//
// It refuses a part that lies outside of the recording. What it is given stays as it is.
//
//	part, err := prepare.Cut(rec, 1e9, 3e9) // seconds 1 to 3
//	part = prepare.Measured(part)           // Metrics["wall"] is 2
package prepare

import (
	"maps"

	"culprit/recording"
)

// Measured returns the recording with the metrics that its maker could not know: the length of the
// window as wall time; as CPU time the scheduler's account of the threads, or where there is none
// (another tool's file) the sum of the samples. What stands in the manifest stays.
func Measured(rec *recording.Recording) *recording.Recording {
	full := *rec
	full.Manifest.Metrics = map[string]float64{recording.MetricCPU: cpuSeconds(rec)}
	if recording.Plausible(rec.Manifest.WindowNs) {
		full.Manifest.Metrics[recording.MetricWall] = float64(rec.Manifest.WindowNs) / 1e9
	}
	maps.Copy(full.Manifest.Metrics, rec.Manifest.Metrics)
	return &full
}

func cpuSeconds(rec *recording.Recording) (used float64) {
	for i := range rec.Threads {
		if recording.Plausible(rec.Threads[i].CPUNs) {
			used += float64(rec.Threads[i].CPUNs) / 1e9
		}
	}
	if used > 0 {
		return used
	}
	for i := range rec.Samples {
		sample := &rec.Samples[i]
		if sample.Signal == recording.SignalCPU && sample.Target && recording.Plausible(sample.ValueNs) {
			used += float64(sample.ValueNs) / 1e9
		}
	}
	return used
}
