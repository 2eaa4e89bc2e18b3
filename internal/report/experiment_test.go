package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/rivo/uniseg"

	"culprit/internal/host"
	"culprit/internal/try"
)

// sampleExperiment has one level that is worse, a control, a trial that is left out, and hostile
// names.
func sampleExperiment() *try.Result {
	r := &try.Result{Schema: try.Schema, Outcome: try.Worse, Command: "./readtime", Design: try.Blocks, Smallest: 0.02,
		Metrics:  []try.Metric{{Name: "cpu", Unit: "s"}, {Name: "latency.p99", Unit: "s"}},
		Restored: true, Seed: 7, ElapsedS: 10.8, Dir: "case", Excluded: 1, Trends: []try.Trend{{Factor: "n", Metric: "cpu",
			Tau: 0.9, P: 0.001, Verdict: try.Rises}},
		Settings: []try.Setting{{Name: "clocksource", Original: "tsc", Tried: []string{"kvm-clock"}, Now: "tsc",
			Restored: true}},
		Drift:    []try.Drift{{Name: "vm.swappiness", Before: "60", After: "10"}},
		Warnings: []string{"evil \x1b[31mwarning\n"}, Host: host.Summary{}}
	values := map[string][]float64{"tsc": {0.120, 0.121, 0.122, 0.121, 0.121}, "control": {0.121, 0.122, 0.120},
		"kvm-\x1bclock with a long name": {0.139, 0.140, 0.141}}
	for i, label := range []string{"tsc", "control", "kvm-\x1bclock with a long name"} {
		level := label
		if i == 1 {
			level = "tsc"
		}
		levels := map[string]string{"clocksource": level}
		r.Conditions = append(r.Conditions, try.Summary{Label: label, Levels: levels, Control: i == 1,
			Trials: len(values[label]), Metrics: map[string]try.Spread{"cpu": {Median: values[label][0]},
				"latency.p99": {Median: values[label][0] / 100}}})
		for j, value := range values[label] {
			r.Trials = append(r.Trials, try.Trial{Kind: "measure", Condition: i, Levels: levels, Control: i == 1, Valid: j != 4,
				Metrics: map[string]float64{"cpu": value, "latency.p99": value / 100}})
		}
		if i == 0 {
			continue
		}
		verdict, factor := try.Worse, "clocksource"
		if i == 1 {
			verdict, factor = try.Same, try.ControlLevel
		}
		for _, metric := range r.Metrics {
			r.Effects = append(r.Effects, try.Effect{Factor: factor, Level: label, Against: "tsc", Metric: metric.Name,
				Ratio: values[label][0] / 0.12, Low: 0.99, High: math.NaN(), Verdict: verdict, Control: i == 1})
		}
	}
	return r
}

func TestExperimentText(t *testing.T) {
	for _, width := range []int{0, 60, 100} {
		var out bytes.Buffer
		if err := Experiment(&out, sampleExperiment(), TextOptions{Width: width}); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		for _, want := range []string{"WORSE", "clocksource=kvm-", "A tsc", "B control", "C kvm-", "1.16×", "put back",
			"rises", "p99", "vm.swappiness is 10, was 60", "1 left out", "139 ms", "baseline"} {
			if !strings.Contains(text, want) {
				t.Errorf("width %d: no %q in\n%s", width, want, text)
			}
		}
		if strings.ContainsAny(text, "\x1b") || strings.Contains(text, "NaN") {
			t.Errorf("escape codes or NaN in %q", text)
		}
		for line := range strings.Lines(text) {
			if columns := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); columns > 100 {
				t.Errorf("width %d: line of %d columns: %q", width, columns, line)
			}
		}
	}
	var coloured bytes.Buffer
	if err := Experiment(&coloured, sampleExperiment(), TextOptions{Colour: true}); err != nil ||
		!strings.Contains(coloured.String(), "\x1b["+orange+"m") {
		t.Errorf("no colour: %v", err)
	}
}

// Trials that agree, but are too few for their test, are not said to be alike.
func TestUndecidedSentence(t *testing.T) {
	r := &try.Result{Smallest: 0.02}
	e := try.Effect{Factor: "level", Level: "1", Against: "6", Metric: "cpu", Ratio: 0.32, Low: 0.30, High: 0.35,
		Verdict: try.Undecided, More: 4}
	if got, want := effectSentence(r, e), "level=1 seems to differ from 6 on CPU time (0.32×, 0.30× to 0.35×) in too few "+
		"blocks; about 4 more blocks would decide"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	e.Low, e.High = 0.8, 1.3
	if got := effectSentence(r, e); !strings.HasPrefix(got, "level=1 cannot be told from 6") {
		t.Error(got)
	}
}

func TestStripHasAMarkForEachTrial(t *testing.T) {
	if got := strip([]float64{0, 10, 10, 4, 4, 4, 4}, 0, 10, 11); got != "·   #     :" {
		t.Errorf("%q", got)
	}
	if got := strip([]float64{5, 5}, 5, 5, 3); got != ":  " {
		t.Errorf("all alike: %q", got)
	}
	if marks := mark(0) + mark(25) + mark(26) + mark(63); marks != "AZAABL" {
		t.Errorf("%q", marks)
	}
}

// The document has every field of the contract; what is not known is null.
func TestExperimentDocument(t *testing.T) {
	var out bytes.Buffer
	if err := ExperimentJSON(&out, sampleExperiment()); err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(out.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"schema", "factors", "trials", "effects", "restored"} {
		if value, has := document[field]; !has || value == nil {
			t.Errorf("no %s", field)
		}
	}
	effect := document["effects"].([]any)[0].(map[string]any)
	for _, field := range []string{"factor", "level", "against", "metric", "ratio", "low", "high", "verdict"} {
		if _, has := effect[field]; !has {
			t.Errorf("an effect has no %s", field)
		}
	}
	if effect["high"] != nil {
		t.Errorf("an unknown end is %v", effect["high"])
	}
}

func TestOverheadText(t *testing.T) {
	r := sampleExperiment()
	r.Allowed = 0.03
	effect := try.Effect{Metric: "cpu", Ratio: 4.5, Low: 4, High: 5, Verdict: try.Over}
	o := &try.Overhead{Allowed: 0.03, Experiment: r, Monitors: []try.MonitorCost{{
		Monitor: "strace -p {pid}\x1b", Verdict: try.Over, Effects: []try.Effect{effect},
		OwnCPUS: 0.8, OwnShare: 7, SwitchNS: 11200}}}
	var out bytes.Buffer
	if err := Overhead(&out, o, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"OVER", "strace -p {pid}", "4.50× (95 % between 4.00× and 5.00×): over the 3 % allowed",
		"11.2 µs of CPU more for each context switch", "800 ms of CPU a run, 700 %"} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("escape codes from a monitor's name")
	}
}

func TestRehearsalText(t *testing.T) {
	r := &try.Rehearsal{Design: try.Blocks, BudgetS: 60, Needs: 7, FirstBlock: []string{"b", "a"},
		Conditions:  []try.RehearsedTrial{{Label: "a", Command: "run \x1b1"}, {Label: "b", Command: "run 2"}},
		Settings:    []try.RehearsedSetting{{Name: "thp", Current: "madvise", Levels: []string{"always"}, Path: "/sys/x"}},
		Comparisons: []try.RehearsedQuestion{{Factor: "n", Level: "b", Against: "a"}}}
	var out bytes.Buffer
	if err := Rehearsal(&out, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Nothing was run and nothing changed", "thp: now madvise, then always, then back",
		"run B", "order     of the first block: b, a", "b against a"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("escape codes from a command")
	}
}
