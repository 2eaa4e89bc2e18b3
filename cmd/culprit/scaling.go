package main

import (
	"bytes"
	"io"
	"slices"

	"culprit/internal/report"
	"culprit/internal/trial"
	"culprit/internal/try"
	"culprit/internal/worth"
)

// showScaling shows how far more workers help, of an experiment that varied their number and
// measured what they did: what culprit worth says of it.
func showScaling(w world, out io.Writer, result *try.Result, document []byte) error {
	factor := slices.IndexFunc(result.Factors, func(f try.Factor) bool {
		return worth.CountsWorkers(f.Name) && len(f.Levels) > 1
	})
	metric := slices.IndexFunc(result.Metrics, func(m try.Metric) bool { return m.Higher })
	if metric < 0 { // the same job with each number
		metric = slices.IndexFunc(result.Metrics, func(m try.Metric) bool { return m.Name == trial.MetricWall })
	}
	if factor < 0 || metric < 0 {
		return nil
	}
	experiment, err := worth.Read(bytes.NewReader(document))
	if err != nil {
		return err
	}
	answer, err := worth.Weigh(experiment, worth.Options{Load: result.Factors[factor].Name,
		Metric: result.Metrics[metric].Name})
	if err != nil || len(answer.Scaling) == 0 { // no numbers, other factors were varied with, no throughput
		return nil
	}
	return report.Worth(out, &worth.Answer{Load: answer.Load, Change: answer.Change, Metric: answer.Metric,
		Scaling: answer.Scaling, Warnings: answer.Warnings}, textOptions(w))
}
