package ci

import (
	"fmt"
	"math"
	"time"

	"culprit/internal/cause"
	"culprit/internal/investigate"
	"culprit/internal/stat"
	"culprit/internal/trial"
)

// LeastBatches have a spread that says something: with three the interval is more than four
// deviations wide.
const LeastBatches = 3

// Batch is one stored measurement: a one-sided investigation.
type Batch struct {
	Name  string
	Taken time.Time
	Case  *investigate.Case
}

// OfKind keeps the batches that were taken of the same command on hosts of the same kind, and says
// why others are not.
func OfKind(batches []Batch, now *investigate.Case) (kept []Batch, leftOut []string) {
	for _, batch := range batches {
		host := batch.Case.Host
		switch {
		case host.CPU != now.Host.CPU || host.CPUs != now.Host.CPUs || host.Hypervisor != now.Host.Hypervisor:
			leftOut = append(leftOut, fmt.Sprintf("%s: another kind of host (%s, %d CPUs)", batch.Name, host.CPU, host.CPUs))
		case batch.Case.A.Command != now.A.Command:
			leftOut = append(leftOut, fmt.Sprintf("%s: another command (%s)", batch.Name, batch.Case.A.Command))
		default:
			kept = append(kept, batch)
		}
	}
	return kept, leftOut
}

// Against holds one more batch against the stored ones: is it beyond what they differ by among
// themselves?
func Against(batches []Batch, now *investigate.Case, metrics []investigate.Metric, failOver float64) (*Result, error) {
	if len(batches) < LeastBatches {
		return nil, fmt.Errorf("%d batches of this command on this kind of host are stored and %d are needed; "+
			"add them with --save", len(batches), LeastBatches)
	}
	r := newResult(failOver)
	r.A, r.B, r.Host, r.Batches = fmt.Sprintf("%d stored batches", len(batches)), now.A.Command, now.Host, len(batches)
	r.Warnings = append(r.Warnings, now.Warnings...)
	level := 1 - (1-confidence)/float64(len(metrics)) // Bonferroni
	for _, metric := range metrics {
		values := SideSet{B: trial.Values(measured(now), metric.Name, "A")}
		for _, batch := range batches {
			if of := trial.Values(measured(batch.Case), metric.Name, "A"); len(of) > 0 {
				values.A = append(values.A, stat.Middle(of))
			}
		}
		if len(values.A) < LeastBatches || len(values.B) == 0 {
			return nil, fmt.Errorf("metric %s: only %d stored batches have it; add some with --save", metric.Name,
				len(values.A))
		}
		noise, verdict, err := against(metric, values, failOver, level)
		if err != nil {
			return nil, err
		}
		r.Noise, r.Metrics = append(r.Noise, noise), append(r.Metrics, verdict)
		r.Values[metric.Name] = values
	}
	if why := tooNoisy(r.Noise, failOver); why != "" {
		r.Outcome, r.Why = Refused, why
		return r, nil
	}
	r.conclude()
	return r, nil
}

func against(metric investigate.Metric, values SideSet, failOver, level float64) (Noise, Verdict, error) {
	noise, verdict := Noise{Metric: metric.Name, Of: len(values.A)}, Verdict{Metric: metric,
		MedianA: stat.Middle(values.A), MedianB: stat.Middle(values.B)}
	logs := stat.Logarithms(values.A)
	expected, err := stat.Prediction(logs, level)
	if err != nil {
		return noise, verdict, fmt.Errorf("compare %s with the baseline: %w", metric.Name, err)
	}
	if noise.Spread, err = stat.Deviation(logs); err != nil {
		return noise, verdict, fmt.Errorf("compare %s with the baseline: %w", metric.Name, err)
	}
	half := expected.High - expected.Value
	count := float64(noise.Of)
	// Half is quantile × deviation × √(1+1/count); the power of 4 in 5 comes on top of it.
	least := math.Expm1(math.Log1p(failOver) + half + power*noise.Spread*math.Sqrt(1+1/count))
	noise.settle(least, failOver)
	log := math.Log(verdict.MedianB)
	verdict.Effect = cause.Effect{Ratio: math.Exp(log - expected.Value), Low: math.Exp(log - expected.High),
		High: math.Exp(log - expected.Low), Confidence: level}
	verdict.Outcome = outcomeOf(metric, verdict.Effect, failOver)
	return noise, verdict, nil
}
