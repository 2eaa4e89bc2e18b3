package main

import (
	"context"
	"fmt"
	"io"

	"culprit/internal/compare"
	"culprit/internal/compare/units"
	"culprit/internal/explain"
	"culprit/internal/host"
	"culprit/internal/investigate"
	"culprit/internal/report"
	"culprit/recording"
)

// explainFile judges one recording by itself, as a case without a comparison.
func explainFile(ctx context.Context, w world, o explainOptions, path string) error {
	rec, err := recording.Open(path)
	if err != nil {
		return err
	}
	return explainRecording(ctx, w, o, rec, path)
}

// explainWindows judges what an agent saw of a service.
func explainWindows(ctx context.Context, w world, o explainOptions, word string) error {
	rec, err := wholeWindows(w, o.agentDir, word)
	if err != nil {
		return err
	}
	return explainRecording(ctx, w, o, rec, word)
}

func explainRecording(ctx context.Context, w world, o explainOptions, rec *recording.Recording, path string) error {
	c, err := judgeRecording(ctx, rec, o.metric)
	if err != nil {
		return fmt.Errorf("explain %s: %w", path, err)
	}
	if err := o.tellCase(w, withoutIntervals(c), c, rec); err != nil || o.json == "-" {
		return err
	}
	return report.Requests(w.stdout, rec, textOptions(w))
}

// tellCase writes a case as text, as JSON, as a page with the requests of its recordings, or all of
// them; shown is the case as the text has it.
func (o explainOptions) tellCase(w world, shown, c *investigate.Case, recordings ...*recording.Recording) error {
	tell := report.Text
	if o.why {
		tell = report.Why
	}
	if o.html != "" {
		if err := report.HTMLWith(o.html, shown, report.RequestSide{Title: c.A.Command, Recordings: recordings}); err != nil {
			return err
		}
	}
	if o.json != "-" {
		if err := tell(w.stdout, shown, textOptions(w)); err != nil {
			return err
		}
	}
	if o.json == "" {
		return nil
	}
	return writeOut(w, o.json, func(out io.Writer) error { return report.JSON(out, c) })
}

// withoutIntervals is the same case for a reader: the intervals of one run
// span everything, and the case's warning says so.
func withoutIntervals(c *investigate.Case) *investigate.Case {
	shown := *c
	shown.Suspects = nil
	for _, suspect := range c.Suspects {
		suspect.Share.Low, suspect.Share.High = suspect.Share.Value, suspect.Share.Value
		shown.Suspects = append(shown.Suspects, suspect)
	}
	return &shown
}

func judgeRecording(ctx context.Context, rec *recording.Recording, metric string) (*investigate.Case, error) {
	evidence, err := explain.Read([]*recording.Recording{rec}, nil, units.PerAuto)
	if err != nil {
		return nil, err
	}
	var known explain.Context
	if known.Metric, err = evidence.Alone(metric); err != nil {
		return nil, err
	}
	if known.Costs, err = explain.MeasureFor(ctx, evidence.A); err != nil {
		return nil, err
	}
	judged, err := evidence.Judge(known)
	if err != nil {
		return nil, err
	}
	c := newListedCase(rec, judged)
	tellMetrics(c, evidence)
	c.Tell(judged)
	return c, nil
}

// newListedCase fills in what stands in the recording itself.
func newListedCase(rec *recording.Recording, judged *explain.Judgement) *investigate.Case {
	manifest := rec.Manifest
	return &investigate.Case{Schema: investigate.CaseSchema, Outcome: investigate.Listed,
		Metric: investigate.Metric{Name: judged.Metric, Unit: judged.Result.Unit, Better: "lower"},
		A: investigate.SideSummary{Command: manifest.Target.Words(), Trials: 1,
			Median: judged.Unit.Amount(judged.Result.A[0])},
		Host: investigate.Host{Name: manifest.Host, Kernel: manifest.Kernel,
			CPU: rec.Fact(host.FactCPUModel), Hypervisor: rec.Fact(host.FactHypervisor),
			ClockSource: rec.Fact(host.FactClockSource)},
		Recorder: investigate.RecorderCost{StartCPUS: float64(manifest.Cost.StartCPUNs) / 1e9,
			CPUS: float64(manifest.Cost.RecorderCPUNs) / 1e9, Losses: manifest.Losses},
		Unseen: []recording.BlindSpot{}, BlindSpots: []string{},
		Warnings: []string{}, ElapsedS: float64(manifest.WindowNs) / 1e9}
}

// tellMetrics fills in both metrics in one way: without what recording took of the target's time,
// which is told apart. Of what runs on, each second takes a second: that is only told where it is
// what is explained.
func tellMetrics(c *investigate.Case, evidence *explain.Evidence) {
	unit, measured := evidence.Unit(), evidence.A[0].Manifest.Metrics
	perRun := unit.Name == units.PerRun
	for _, result := range []*compare.Result{evidence.Wall, evidence.CPU} {
		if result == nil ||
			result.Metric == compare.MetricWall && !perRun && c.Metric.Name != compare.MetricWall {
			continue
		}
		metric := investigate.Metric{Name: result.Metric, Unit: result.Unit, Better: "lower"}
		c.Metrics = append(c.Metrics, investigate.MetricResult{Metric: metric, Outcome: investigate.Listed,
			MedianA: unit.Amount(result.A[0])})
		taken := unit.Amount(max(0, measured[result.Metric]-result.A[0]))
		switch {
		case result.Metric == compare.MetricCPU:
			c.Recorder.OfTargetCPUS = taken
		case perRun: // of a window that ended on its own time nothing was taken
			c.Recorder.OfTargetWallS = taken
		}
	}
}
