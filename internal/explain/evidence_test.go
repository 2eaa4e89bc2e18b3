package explain

import (
	"slices"
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/internal/stat"
	"culprit/recording"
)

// Tracers are those that the recordings saw; one that comes with a side is told as a setting.
func TestTracersOfTheRecordings(t *testing.T) {
	seen := func(perf, bpf string) *recording.Recording {
		return &recording.Recording{Facts: []recording.Fact{{Name: "tracers.perf", Value: perf},
			{Name: "tracers.bpf", Value: bpf}}}
	}
	e := &Evidence{A: []*recording.Recording{seen("agent ×2", "none")},
		B: []*recording.Recording{seen("agent ×3", "bpftrace ×1")},
		Results: compare.Results{CPU: &compare.Result{
			Facts: []compare.FactChange{{Name: "tracers.bpf", A: "none", B: "bpftrace ×1"}}}}}
	if got, want := e.tracers(), []string{"agent: 3 perf events"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Who counts the one target of a judgement is told once; who counts whole CPUs, or nobody, is not.
func TestWatchersOfOneSide(t *testing.T) {
	counted := func(value string) *recording.Recording {
		return &recording.Recording{Facts: []recording.Fact{{Name: "target.counted", Value: value},
			{Name: "tracers.perf.counting", Value: "agent counts 2 events on whole CPUs: cs, cpu-clock"}}}
	}
	perf := "perf counts 5 events of 1 process: context-switches"
	side := []*recording.Recording{counted("none"), counted(perf), counted(perf), counted("")}
	if got := watchersOf(side); !slices.Equal(got, []string{perf}) {
		t.Errorf("%q, want %q", got, perf)
	}
	j := &Judgement{}
	j.alone(&Evidence{A: side})
	if len(j.Warnings) != 1 || !strings.Contains(j.Warnings[0], perf) || !strings.Contains(j.Warnings[0], "overhead -p") {
		t.Errorf("warnings are %q", j.Warnings)
	}
}

// Of two metrics the one that surely differs is explained, and the one that changed more.
func TestLead(t *testing.T) {
	wall, cpu := compare.MetricWall, compare.MetricCPU
	for _, c := range []struct {
		name    string
		tested  []Tested
		stretch float64
		want    string
	}{
		{"wall changed more", []Tested{{wall, stat.Worse, 1}, {cpu, stat.Worse, 0.5}}, 1, wall},
		{"alike", []Tested{{wall, stat.Worse, 1}, {cpu, stat.Worse, 0.85}}, 1, cpu},
		{"alike on a busy host", []Tested{{wall, stat.Worse, 1}, {cpu, stat.Worse, 0.5}}, 2, cpu},
		{"undecided", []Tested{{wall, stat.Undecided, 1}, {cpu, stat.Worse, 0.5}}, 1, cpu},
		{"better", []Tested{{wall, stat.Better, -1}, {cpu, stat.Undecided, 2}}, 1, wall},
		{"slower, and cheaper by more", []Tested{{wall, stat.Worse, 1}, {cpu, stat.Better, -2}}, 1, wall},
		{"dearer, and quicker by more", []Tested{{wall, stat.Better, -2}, {cpu, stat.Worse, 1}}, 1, wall},
		{"the same", []Tested{{wall, stat.Same, 0.1}, {cpu, stat.Undecided, 0.01}}, 1, cpu},
		{"not tested", []Tested{{wall, "", -1}, {cpu, "", 0.5}}, 1, wall},
	} {
		if got := c.tested[Lead(c.tested, c.stretch)].Metric; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Threads that wait for each other have more runnable seconds than the clock has: their wall time
// is not stretched; that of a program whose CPU others use as well is.
func TestStretch(t *testing.T) {
	for want, run := range map[float64]Spent{1: {Wall: 1, CPU: 2, Runqueue: 2},
		3: {Wall: 0.6, CPU: 0.2, Runqueue: 0.4}} {
		if got := Stretch([]Spent{run}, []Spent{run, run}); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%+v: stretch %v, want %v", run, got, want)
		}
	}
	if got := Stretch(nil, []Spent{{}}); got != 1 {
		t.Errorf("nothing is known: stretch %v, want 1", got)
	}
}
