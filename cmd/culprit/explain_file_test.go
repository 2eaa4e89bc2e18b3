package main

import (
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/internal/investigate"
	"culprit/recording"
)

// A command that strangers keep from the CPU is about its CPU time, like one on an idle host; one that waits for a
// disk, a quota or its own threads is not.
func TestBusyHostDoesNotChooseTheMetric(t *testing.T) {
	rec := &recording.Recording{Manifest: recording.Manifest{Target: recording.Target{Kind: "command"},
		Metrics: map[string]float64{compare.MetricWall: 3, compare.MetricCPU: 0.6}}}
	cpu := &compare.Result{Metric: compare.MetricCPU, A: []float64{0.6}}
	for _, test := range []struct {
		name   string
		wait   compare.Path
		want   string
		sleeps bool
	}{
		{"strangers", compare.Path{Kind: compare.Runnable, WakerComm: "other"}, compare.MetricCPU, false},
		{"sleeps, and strangers", compare.Path{Kind: compare.Runnable, WakerComm: "other"}, compare.MetricWall, true},
		{"a quota", compare.Path{Kind: compare.Runnable}, compare.MetricWall, false},
		{"own threads", compare.Path{Kind: compare.Runnable, Process: "prog", WakerComm: "prog", WakerOwn: true},
			compare.MetricWall, false},
		{"a disk", compare.Path{Kind: compare.Blocked}, compare.MetricWall, false},
	} {
		test.wait.A = []float64{2.4}
		if test.sleeps { // most of what is left without the strangers
			test.wait.A[0] = 1.2
		}
		wall := &compare.Result{Metric: compare.MetricWall, A: []float64{3},
			Paths: []compare.Path{{Kind: compare.Running, A: []float64{0.6}}, test.wait}}
		chosen, err := chooseMetric(rec, cpu, wall, "auto")
		if err != nil || chosen.Metric != test.want {
			t.Errorf("%s: %s, %v; want %s", test.name, chosen.Metric, err, test.want)
		}
		c := &investigate.Case{Metric: investigate.Metric{Name: chosen.Metric}}
		warnOfHost(c, rec, wall, (*compare.Work)(nil).Unit())
		told := len(c.Warnings) == 1 && strings.Contains(c.Warnings[0], "2.4 s per run")
		if told != (test.want == compare.MetricCPU) {
			t.Errorf("%s: warnings %q", test.name, c.Warnings)
		}
	}
}
