package explain

import (
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/units"
	"culprit/recording"
)

// A command that strangers keep from the CPU is about its CPU time, like one on an idle host; one
// that waits for a disk, a quota or its own threads is not. One run and several are told alike.
func TestBusyHostDoesNotChooseTheMetric(t *testing.T) {
	wall, cpu := compare.MetricWall, compare.MetricCPU
	waits := func(comm string, own bool) compare.Path {
		return compare.Path{Kind: compare.Runnable, Process: "prog", WakerComm: comm, WakerOwn: own}
	}
	for _, test := range []struct {
		name   string
		wait   compare.Path
		want   string
		sleeps bool
	}{
		{"strangers", waits("other", false), cpu, false},
		{"sleeps, and strangers", waits("other", false), wall, true},
		{"a quota", waits("", false), wall, false},
		{"own threads", waits("prog", true), wall, false},
		{"a disk", compare.Path{Kind: compare.Blocked}, wall, false},
	} {
		for _, runs := range []int{1, 3} {
			all := func(value float64) []float64 {
				values := make([]float64, runs)
				for i := range values {
					values[i] = value
				}
				return values
			}
			test.wait.A = all(2.4)
			if test.sleeps { // most of what is left without the strangers
				test.wait.A = all(1.2)
			}
			e := &Evidence{Work: units.Work{Name: units.PerRun, A: all(1)}}
			e.CPU = &compare.Result{Metric: cpu, A: all(0.6), OneSided: true}
			e.Wall = &compare.Result{Metric: wall, A: all(3), OneSided: true,
				Paths: []compare.Path{{Kind: compare.Running, A: all(0.6)}, test.wait}}
			for range runs {
				rec := &recording.Recording{}
				rec.Manifest.Target.Kind = "command"
				e.A = append(e.A, rec)
			}
			chosen, err := e.Alone(MetricAuto)
			if err != nil || chosen != test.want {
				t.Errorf("%s, %d runs: %s, %v; want %s", test.name, runs, chosen, err, test.want)
			}
			judged, err := e.Judge(Context{Metric: chosen, Costs: someCosts})
			if err != nil {
				t.Fatal(err)
			}
			told := strings.Contains(strings.Join(judged.Warnings, ";"), "it waited 2.4 s per run for a CPU")
			if told != (test.want == cpu) {
				t.Errorf("%s, %d runs: warnings %q", test.name, runs, judged.Warnings)
			}
		}
	}
}
