package compare

import "culprit/recording"

// Measured returns the recording with the metrics that its maker could not know beforehand: the length of the
// window as wall time; as CPU time the scheduler's account of the target's threads, or where there is none (another
// tool's file) the sum of the samples. What stands in the manifest stays. The tables are shared with the original.
func Measured(rec *recording.Recording) *recording.Recording {
	full := *rec
	full.Manifest.Metrics = map[string]float64{}
	for name, value := range rec.Manifest.Metrics {
		full.Manifest.Metrics[name] = value
	}
	if _, known := full.Manifest.Metrics[MetricWall]; !known && plausible(rec.Manifest.WindowNs) {
		full.Manifest.Metrics[MetricWall] = float64(rec.Manifest.WindowNs) / 1e9
	}
	if _, known := full.Manifest.Metrics[MetricCPU]; !known {
		full.Manifest.Metrics[MetricCPU] = cpuSeconds(rec)
	}
	return &full
}

func cpuSeconds(rec *recording.Recording) float64 {
	used := 0.0
	for i := range rec.Threads {
		if plausible(rec.Threads[i].CPUNs) {
			used += float64(rec.Threads[i].CPUNs) / 1e9
		}
	}
	if used > 0 {
		return used
	}
	for i := range rec.Samples {
		sample := &rec.Samples[i]
		if sample.Signal == recording.SignalCPU && sample.Target && plausible(sample.ValueNs) {
			used += float64(sample.ValueNs) / 1e9
		}
	}
	return used
}
