package main

import "culprit/internal/try"

// metricsInto resolves what decides.
func (f tryFlags) metricsInto(e *try.Experiment) error {
	if f.latency != "" {
		var err error
		if e.Latency, err = try.ParseLatency(f.latency); err != nil {
			return err
		}
	}
	if len(f.metrics) > 0 {
		e.Metrics = nil
	}
	for _, text := range f.metrics {
		metric, err := try.ParseMetric(text)
		if err != nil {
			return err
		}
		e.Metrics = append(e.Metrics, metric)
	}
	return nil
}
