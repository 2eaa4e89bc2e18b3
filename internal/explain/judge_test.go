package explain

import (
	"testing"

	"culprit/internal/compare"
	"culprit/internal/stat"
	"culprit/recording"
)

// A wall time that nothing explains gives way to a CPU time that the same trials show to be worse,
// and to no other.
func TestUnexplainedWallTimeGivesWayToCPU(t *testing.T) {
	four := func(value float64) []float64 {
		return []float64{value, value * 1.01, value * 0.99, value}
	}
	wall, cpu := compare.MetricWall, compare.MetricCPU
	result := func(metric string, paths ...compare.Path) *compare.Result {
		return &compare.Result{Metric: metric, A: four(1), B: four(2), Paths: paths}
	}
	grown := compare.Path{Kind: compare.Running, A: four(1), B: four(2), Frames: []recording.Frame{
		{Name: "main", Kind: recording.KindNative, Module: "prog"},
		{Name: "work", Kind: recording.KindNative, Module: "prog"}}}
	for name, c := range map[string]struct {
		wall, cpu *compare.Result
		outcome   stat.Outcome // of the CPU time
		want      string
		named     bool
	}{
		"waits for a CPU anywhere": {result(wall), result(cpu, grown), stat.Worse, cpu, true},
		"CPU undecided":            {result(wall), result(cpu, grown), stat.Undecided, wall, false},
		"CPU better":               {result(wall), result(cpu, grown), stat.Better, wall, false},
		"CPU not tested":           {result(wall), result(cpu, grown), "", wall, false},
		"nothing explains either":  {result(wall), result(cpu), stat.Worse, wall, false},
		"wall explained":           {result(wall, grown), result(cpu, grown), stat.Worse, wall, true},
	} {
		change := compare.Interval{Value: 1, Low: 0.9, High: 1.1}
		context := Context{Metric: wall, Outcome: stat.Worse, Costs: someCosts,
			Measured: []Measured{{wall, stat.Worse, &change}}}
		if c.outcome != "" {
			context.Measured = append(context.Measured, Measured{cpu, c.outcome, &change})
		}
		e := &Evidence{A: make([]*recording.Recording, 4), B: make([]*recording.Recording, 4),
			Results: compare.Results{CPU: c.cpu, Wall: c.wall}}
		for i := range e.A {
			e.A[i], e.B[i] = &recording.Recording{}, &recording.Recording{}
		}
		judged, err := e.Judge(context)
		if err != nil || (len(judged.Suspects) > 0) != c.named || judged.Metric != c.want ||
			judged.Result.Metric != c.want || (len(judged.Warnings) > 0) != (c.want == cpu) {
			t.Errorf("%s: told of %+v, %v, want %s", name, judged, err, c.want)
		}
	}
}

// someCosts stand for those of the host that recorded.
var someCosts = map[string]compare.Interval{"syscall.bare": {Value: 100, Low: 90, High: 110}}
