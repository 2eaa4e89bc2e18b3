package investigate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"culprit/internal/cause"
	"culprit/internal/knob"
	"culprit/internal/record"
	"culprit/internal/trial"
)

// TestMain lets the test binary be the recorder and the guardian, as culprit itself is.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == record.Verb {
		if err := record.Serve(context.Background(), os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == knob.GuardianVerb {
		if err := knob.RunGuardian(os.Args[2:]); err != nil {
			os.Exit(2)
		}
		os.Exit(0)
	}
	if len(os.Args) == 2 && os.Args[1] == threadsVerb {
		tellCPUs()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// plain are options that decide quickly.
func plain(t *testing.T, a, b string) Options {
	t.Helper()
	return Options{A: a, B: b, Budget: 15 * time.Second, Metric: MetricChoice{Auto: true}, Smallest: 0.02,
		Case: filepath.Join(t.TempDir(), "case"), Seed: 7, Prove: ProveNone, Program: "test"}
}

func TestSlowerSleepIsWorseByWallTime(t *testing.T) {
	o := plain(t, "sleep 0.05", "sleep 0.15")
	c, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if c.Outcome != Worse || c.Metric.Name != trial.MetricWall {
		t.Fatalf("outcome %s by %s, want worse by wall", c.Outcome, c.Metric.Name)
	}
	if c.Effect.Low < 1.3 || c.Effect.High > 3.5 || c.Effect.Low >= c.Effect.High {
		t.Errorf("effect %+v, want about 2.9 with an interval", c.Effect)
	}
	written := []string{"trials.jsonl"}
	if record.Permitted() == nil {
		written = append(written, "recordings/A-1.culprit", "recordings/B-1.culprit")
	}
	for _, name := range written {
		if _, err := os.Stat(filepath.Join(o.Case, name)); err != nil {
			t.Errorf("case directory: %v", err)
		}
	}
	if _, err := os.Stat(o.partial()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the partial directory is still there: %v", err)
	}
	if (c.RecordingCost == nil) != (record.Permitted() != nil) {
		t.Errorf("recording cost %+v", c.RecordingCost)
	}
	if c.Trials[0].Kind != trial.KindWarmup {
		t.Errorf("first run is a %s, want the warm-up", c.Trials[0].Kind)
	}
}

func TestPrintedMetricWhereHigherIsBetter(t *testing.T) {
	o := plain(t, "echo rate=200", "echo rate=150")
	var err error
	if o.Metric, err = ParseMetric(`rate=rate=(\d+),higher`); err != nil {
		t.Fatal(err)
	}
	c, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if c.Outcome != Worse || c.Effect.Ratio < 0.74 || c.Effect.Ratio > 0.76 {
		t.Errorf("outcome %s, effect %+v; want worse, 0.75", c.Outcome, c.Effect)
	}
}

// A directory that somebody makes while an investigation runs costs nobody the results.
func TestFinishedCaseIsKeptWhereItsNameIsTaken(t *testing.T) {
	o := plain(t, "true", "true")
	o.Write = func(dir string, c *Case) error {
		if err := os.MkdirAll(o.Case, 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "case.json"), []byte(c.Dir), 0o644)
	}
	inv := &investigation{options: o, plan: trial.Plan{Seed: o.Seed, Sides: o.sides()}}
	if err := inv.open(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(inv.write(), inv.close()); err != nil {
		t.Fatal(err)
	}
	err := inv.publish()
	want := "case directory " + o.Case + " exists by now; the finished case is kept: culprit report " + o.partial() +
		" --text prints it"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
	text, err := os.ReadFile(filepath.Join(o.partial(), "case.json"))
	if err != nil || string(text) != o.partial() {
		t.Errorf("case.json names %q, %v", text, err)
	}
	if entries, err := os.ReadDir(o.Case); err != nil || len(entries) != 0 {
		t.Errorf("the other's directory was written into: %v, %v", entries, err)
	}
}

func TestBadInputIsOneClearLine(t *testing.T) {
	exists := t.TempDir()
	cases := []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"failing", func(o *Options) { o.B = "echo broken >&2; exit 3" }, "broken"},
		{"unknown", func(o *Options) { o.A = "/no/such/program" }, "not found"},
		{"too short", func(o *Options) { o.A, o.Budget = "sleep 0.3", 500*time.Millisecond }, "too short for two pairs"},
		{"timeout", func(o *Options) { o.B, o.Timeout = "sleep 20", 200*time.Millisecond }, "200ms"},
		{"exists", func(o *Options) { o.Case = exists }, "exists"},
		{"no folder", func(o *Options) { o.Case = "/no/such/folder/case" }, "/no/such/folder"},
		{"smallest", func(o *Options) { o.Smallest = 0 }, "smallest"},
		{"budget", func(o *Options) { o.Budget = -1 }, "budget"},
		{"prove", func(o *Options) { o.Prove = "yes" }, "prove"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			o := plain(t, "true", "true")
			test.change(&o)
			_, err := Run(context.Background(), o)
			if err == nil {
				t.Fatal("no error")
			}
			if text := err.Error(); !strings.Contains(text, test.want) || strings.Contains(text, "\n") {
				t.Errorf("error %q, want one line with %q", text, test.want)
			}
			if _, err := os.Stat(o.partial()); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("something half-written is left: %v", err)
			}
		})
	}
}

func TestInterruptLeavesNothing(t *testing.T) {
	o := plain(t, "sleep 0.2", "sleep 0.2")
	ctx, cancel := context.WithTimeout(context.Background(), 700*time.Millisecond)
	defer cancel()
	if _, err := Run(ctx, o); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Fatalf("error %v, want interrupted", err)
	}
	entries, err := os.ReadDir(filepath.Dir(o.Case))
	if err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}

func TestMetricToExplainIsTheLargerChangeInSeconds(t *testing.T) {
	wall := MetricResult{Metric: Metric{Name: "wall"}, Outcome: Worse, MedianA: 0.5, MedianB: 0.8}
	cpu := MetricResult{Metric: Metric{Name: "cpu"}, Outcome: Worse, MedianA: 0.002, MedianB: 0.004}
	inv := &investigation{c: &Case{Metrics: []MetricResult{cpu, wall}}}
	inv.choose()
	if inv.c.Metric.Name != "wall" {
		t.Errorf("a doubled CPU time of 2 ms hid 300 ms of waiting")
	}
	cpu.MedianA, cpu.MedianB = 0.5, 0.79
	inv.c.Metrics = []MetricResult{wall, cpu}
	inv.choose()
	if inv.c.Metric.Name != "cpu" {
		t.Errorf("the same change in both: want cpu, the closer explanation, got %s", inv.c.Metric.Name)
	}
	wall.Outcome, cpu.Outcome = Same, Undecided
	inv.c.Metrics = []MetricResult{wall, cpu}
	inv.choose()
	if inv.c.Outcome != Undecided {
		t.Errorf("one metric undecided: outcome %s", inv.c.Outcome)
	}
}

// TestPairsThatWouldDecide: one metric that differs needs few more, to call both the same would
// take many.
func TestPairsThatWouldDecide(t *testing.T) {
	for _, test := range []struct {
		cpu, wall float64 // ratios
		want      int
	}{{4.5, 1.01, 2}, {4.5, 2, 2}, {1.001, 1.01, 58}, {0.3, 1.01, 2}} {
		inv := &investigation{options: Options{Smallest: 0.02}, c: &Case{Metrics: []MetricResult{
			{Metric: Metric{Name: "cpu"}, Outcome: Undecided, Effect: cause.Effect{Ratio: test.cpu}, need: 2},
			{Metric: Metric{Name: "wall"}, Outcome: Undecided, Effect: cause.Effect{Ratio: test.wall}, need: 58}}}}
		if inv.choose(); inv.c.NeedTrials != test.want {
			t.Errorf("ratios %g and %g: %d more pairs, want %d", test.cpu, test.wall, inv.c.NeedTrials, test.want)
		}
	}
}

// On a host that others keep busy wall time grows by more than CPU time, because each second of it
// takes longer.
func TestBusyHostDoesNotHideTheCPUTime(t *testing.T) {
	runs := func(runqueueA, runqueueB float64) []trial.Run {
		side := func(label string, cpu, runqueue, waited float64) trial.Run {
			return trial.Run{Side: label, Kind: trial.KindMeasure, Valid: true,
				Disturb: trial.Disturbance{RunqueueS: runqueue},
				Metrics: map[string]float64{trial.MetricCPU: cpu, trial.MetricWall: cpu + runqueue + waited}}
		}
		return []trial.Run{side(sideA, 0.2, runqueueA, 0), side(sideB, 0.4, runqueueB, 0)}
	}
	for _, c := range []struct {
		what, want           string
		runqueueA, runqueueB float64
	}{
		{"both sides got a third of a CPU", trial.MetricCPU, 0.4, 0.8},
		{"B alone had a competitor", trial.MetricWall, 0, 0.8},
		{"idle host", trial.MetricCPU, 0, 0},
	} {
		inv := &investigation{c: &Case{}, runs: runs(c.runqueueA, c.runqueueB)}
		for _, name := range []string{trial.MetricWall, trial.MetricCPU} {
			inv.c.Metrics = append(inv.c.Metrics, MetricResult{Metric: Metric{Name: name}, Outcome: Worse,
				MedianA: inv.runs[0].Metrics[name], MedianB: inv.runs[1].Metrics[name]})
		}
		inv.choose()
		if inv.c.Metric.Name != c.want {
			t.Errorf("%s: explained %s, want %s", c.what, inv.c.Metric.Name, c.want)
		}
	}
}

// Threads that wait for each other have more runnable seconds than the clock has: their wall time
// is not stretched.
func TestOwnThreadsDoNotStretch(t *testing.T) {
	inv := &investigation{}
	for _, side := range []string{sideA, sideB} {
		inv.runs = append(inv.runs, trial.Run{Side: side, Kind: trial.KindMeasure, Valid: true,
			Disturb: trial.Disturbance{RunqueueS: 2},
			Metrics: map[string]float64{trial.MetricCPU: 2, trial.MetricWall: 1}})
	}
	if got := inv.stretch(); got != 1 {
		t.Errorf("four threads on two CPUs: stretch %v, want 1", got)
	}
}

// A warm-up that takes far longer than the runs after it, with cold caches or on a host that is
// busy just then, is no reason to stop at fewer pairs than can decide with most of the budget left.
func TestSlowWarmUpDoesNotEndThePlan(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs commands for eight seconds: -short leaves it out")
	}
	marks := t.TempDir()
	command := func(side, seconds string) string {
		mark := filepath.Join(marks, side)
		return fmt.Sprintf("test -e %[1]s || { touch %[1]s; sleep 1.5; }; sleep %[2]s", mark, seconds)
	}
	o := plain(t, command("a", "0.02"), command("b", "0.2"))
	o.Budget = 10 * time.Second
	c, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if c.Outcome != Worse || c.B.Trials < 7 {
		t.Errorf("outcome %s after %d pairs, want worse after 7 or more", c.Outcome, c.B.Trials)
	}
}

func TestParseMetric(t *testing.T) {
	for _, bad := range []string{"", "time", "x=(", "x=abc", "wall=(.)", "=(.)"} {
		if _, err := ParseMetric(bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("metric %q: error %v", bad, err)
		}
	}
	choice, err := ParseMetric(`p99=p99: ([0-9.]+) ms,lower`)
	if err != nil || choice.Higher || choice.Printed == nil {
		t.Errorf("got %+v, %v", choice, err)
	}
}
