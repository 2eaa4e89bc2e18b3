package investigate

import (
	"testing"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/trial"
	"culprit/recording"
)

// A wall time that nothing explains gives way to a CPU time that the same trials show to be worse, and to no other.
func TestUnexplainedWallTimeGivesWayToCPU(t *testing.T) {
	four := func(value float64) []float64 { return []float64{value, value * 1.01, value * 0.99, value} }
	result := func(metric string, paths ...compare.Path) *compare.Result {
		return &compare.Result{Metric: metric, A: four(1), B: four(2), Paths: paths}
	}
	grown := compare.Path{Kind: compare.Running, A: four(1), B: four(2), Frames: []recording.Frame{
		{Name: "main", Kind: recording.KindNative, Module: "prog"},
		{Name: "work", Kind: recording.KindNative, Module: "prog"}}}
	for name, c := range map[string]struct {
		wall, cpu *compare.Result
		outcome   Outcome // of the CPU time
		want      string
		named     bool
	}{
		"waits for a CPU anywhere": {result("wall"), result("cpu", grown), Worse, trial.MetricCPU, true},
		"CPU undecided":            {result("wall"), result("cpu", grown), Undecided, trial.MetricWall, false},
		"CPU better":               {result("wall"), result("cpu", grown), Better, trial.MetricWall, false},
		"nothing explains either":  {result("wall"), result("cpu"), Worse, trial.MetricWall, false},
		"wall explained":           {result("wall", grown), result("cpu", grown), Worse, trial.MetricWall, true},
	} {
		inv := &investigation{c: &Case{B: &SideSummary{}}}
		for metric, outcome := range map[string]Outcome{trial.MetricWall: Worse, trial.MetricCPU: c.outcome} {
			one := MetricResult{Metric: Metric{Name: metric}, Outcome: outcome, MedianA: 1, MedianB: 2,
				Effect: cause.Effect{Ratio: 2, Low: 1.9, High: 2.1}}
			if metric == trial.MetricWall {
				inv.c.Metrics = append([]MetricResult{one}, inv.c.Metrics...)
			} else {
				inv.c.Metrics = append(inv.c.Metrics, one)
			}
		}
		inv.lead(0)
		in := &cause.Input{Result: c.wall, Wall: c.wall, CPU: c.cpu}
		suspects := inv.suspectsOf(in)
		if (len(suspects) > 0) != c.named || inv.c.Metric.Name != c.want || in.Result.Metric != c.want ||
			inv.c.Metrics[0].Metric.Name != c.want || (len(inv.c.Warnings) > 0) != (c.want == trial.MetricCPU) {
			t.Errorf("%s: told of %s with %+v (warnings %q), want %s", name, inv.c.Metric.Name, suspects, inv.c.Warnings,
				c.want)
		}
	}
}
