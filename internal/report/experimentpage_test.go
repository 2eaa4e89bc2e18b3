package report

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"culprit/internal/try"
)

// The page says what the terminal says, a reason for each trial that is left out, and what limits
// the answer.
func TestExperimentWords(t *testing.T) {
	r := sampleExperiment()
	r.Trials[4].Why, r.Trials[4].Order = "stolen CPU time", 5
	r.BlindSpots = []string{"nobody looked"}
	r.Effects[2].Verdict, r.Effects[2].More, r.Effects[2].Interaction = try.Undecided, 3, true
	words := wordsOf(r)
	text := fmt.Sprint(words)
	for _, want := range append(headlines(r), "✗ worse", "trial 5 of A tsc: stolen CPU time", "tau 0.90",
		"clocksource was tsc, tried kvm-clock: put back", "vm.swappiness is 10, was 60", `evil \x1b[31mwarning\n`,
		"nobody looked", "= same", "about 3 more blocks would decide", "together more than apart?", "B control") {
		if !strings.Contains(strings.ReplaceAll(text, space, " "), strings.ReplaceAll(want, space, " ")) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if len(words.Effects) != len(r.Effects) || len(words.Conditions) != len(r.Conditions) || words.Seed != "7" {
		t.Errorf("%d effects, %d conditions, seed %s", len(words.Effects), len(words.Conditions), words.Seed)
	}
}

// hostileExperiment has hostile text in every place that a program or a file can fill.
func hostileExperiment() *try.Result {
	r := sampleExperiment()
	for i, name := range hostileNames() {
		metric := try.Metric{Name: name, Unit: name}
		r.Metrics = append(r.Metrics, metric)
		r.Conditions[i%3].Label, r.Trials[i%len(r.Trials)].Why = name, name
		r.Trials[i%len(r.Trials)].Valid = false
		r.Trials[0].Metrics[name] = math.Inf(1)
		r.Trials[1].Metrics[name] = -math.MaxFloat64
		r.Trials[2].Metrics[name] = math.MaxFloat64
		r.Effects = append(r.Effects, try.Effect{Factor: name, Level: name, Against: name, Metric: name, Verdict: name,
			Ratio: math.MaxFloat64, Low: -1, High: math.SmallestNonzeroFloat64, Why: name, Interaction: true})
		r.Trends = append(r.Trends, try.Trend{Factor: name, Metric: name, Verdict: name, Tau: math.NaN()})
		r.Settings = append(r.Settings, try.Setting{Name: name, Original: name, Tried: []string{name}, Now: name})
		r.Drift = append(r.Drift, try.Drift{Name: name, Before: name, After: name})
		r.Warnings, r.BlindSpots = append(r.Warnings, name), append(r.BlindSpots, name)
		r.Host.Name, r.Host.Kernel, r.Host.CPU, r.Command = name, name, name, name
	}
	r.Effects[2].Level, r.Effects[2].Against = hostileNames()[1], hostileNames()[2]
	r.Outcome = hostileNames()[0]
	return r
}

// What is more than can be read is counted instead.
func TestExperimentPageLimits(t *testing.T) {
	r := sampleExperiment()
	r.Warnings = nil
	for i := range 3 * linesMax {
		r.Warnings = append(r.Warnings, fmt.Sprint("warning ", i))
	}
	for _, list := range wordsOf(r).Lists {
		if last := list.Lines[len(list.Lines)-1]; list.Name == "Warnings" && last != "400 more in result.json" {
			t.Errorf("%d warnings, the last is %q", len(list.Lines), last)
		}
	}
}

func TestOverheadPage(t *testing.T) {
	r := sampleExperiment()
	r.Allowed, r.Outcome = 0.03, try.Over
	for i, monitor := range []string{try.NoMonitor, try.NoMonitor, "strace -p {pid}"} {
		r.Conditions[i].Levels = map[string]string{"monitor": monitor}
	}
	r.Effects = []try.Effect{{Factor: "monitor", Level: "strace -p {pid}", Against: try.NoMonitor, Metric: "cpu",
		Ratio: 4.5, Low: 4, High: 5, Verdict: try.Over}}
	words := wordsOf(r)
	text := strings.ReplaceAll(fmt.Sprint(words), space, " ")
	for _, want := range []string{"✗ over", "strace -p {pid}",
		"4.50× (95 % between 4.00× and 5.00×): over the 3 % allowed", "against the 3 % allowed",
		"the monitor itself used"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if words.Class != try.Worse {
		t.Error("the verdict has no colour")
	}
}

// A document that was read back is the same document: what was not known is not known then either.
func TestExperimentIsReadBack(t *testing.T) {
	again := func(r *try.Result) (*try.Result, string) {
		var document bytes.Buffer
		if err := ExperimentJSON(&document, r); err != nil {
			t.Fatal(err)
		}
		text := document.String()
		read, err := try.ReadResult(&document)
		if err != nil {
			t.Fatal(err)
		}
		return read, text
	}
	hostile, _ := again(hostileExperiment()) // names that are no UTF-8 are now
	for _, r := range []*try.Result{sampleExperiment(), hostile, sweptExperiment(6)} {
		read, before := again(r)
		if _, after := again(read); before != after {
			t.Errorf("read back it is\n%.3000s\nwas\n%.3000s", after, before)
		}
	}
	r := sampleExperiment()
	r.Trials[1].Metrics["cpu"] = math.NaN()
	if read, _ := again(r); len(read.Trials[1].Metrics) != 1 {
		t.Errorf("a metric that is not known is %v", read.Trials[1].Metrics)
	}
	for text, want := range map[string]string{
		`{"schema":"culprit.experiment/2"}`: "newer", `{"schema":"culprit.case/2"}`: "schema", `{`: "JSON",
		`{"schema":"culprit.experiment/1","trials":[{"condition":3}]}`:                                      "condition 3",
		`{"schema":"culprit.experiment/1","conditions":[` + strings.Repeat("{},", 200) + `{}]}`:             "201 conditions",
		`{"schema":"culprit.experiment/1","conditions":[{}],"trials":[{"condition":-1,"metrics":{"x":1}}]}`: "condition -1",
	} {
		if _, err := try.ReadResult(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
	}
}

// sweptExperiment is a factorial: a throughput by the number of threads without and with a lock,
// and CPU time that the lock costs with few threads and saves with many.
func sweptExperiment(blocks int) *try.Result {
	r := &try.Result{Schema: try.Schema, Outcome: try.Undecided, Command: "./serve {threads} {lock}",
		Design: try.Factorial, Smallest: 0.02, Restored: true, Seed: 3, ElapsedS: 60, Dir: "swept",
		Metrics: []try.Metric{{Name: "tput", Higher: true}, {Name: "cpu", Unit: "s"}},
		Factors: []try.Factor{{Name: "threads"}, {Name: "lock", Levels: []try.Level{{Name: "old"}, {Name: "new"}}}},
		Trends:  []try.Trend{{Factor: "threads", Metric: "tput", Tau: 0.95, P: 1e-4, Verdict: try.Rises}}}
	r.Host.CPUs = 16
	for _, threads := range []float64{1, 2, 4, 8} {
		level := fmt.Sprint(threads)
		r.Factors[0].Levels = append(r.Factors[0].Levels, try.Level{Name: level, Value: level})
		for side, lock := range []string{"old", "new"} {
			contention := []float64{0.2, 0.05}[side]
			tput := 1000 * threads / (1 + contention*(threads-1))
			cores := []float64{0.2 + 0.1*threads, 0.45 + 0.05*threads}[side]
			levels := map[string]string{"threads": level, "lock": lock}
			number := len(r.Conditions)
			condition := try.Summary{Label: level + " × " + lock, Levels: levels, Trials: blocks,
				Metrics: map[string]try.Spread{"tput": {Median: tput, Low: 0.97 * tput, High: 1.03 * tput},
					"cpu": {Median: cores, Low: 0.97 * cores, High: 1.03 * cores}}}
			for block := range blocks {
				noise := 1 + 0.004*float64((block*7+number*3)%11-5)
				r.Trials = append(r.Trials, try.Trial{Order: len(r.Trials) + 1, Kind: kindMeasure, Block: block,
					Condition: number, Levels: levels, Valid: true, TookS: 1,
					Metrics: map[string]float64{"tput": tput * noise, "cpu": cores * noise, "wall": 1}})
			}
			r.Conditions = append(r.Conditions, condition)
		}
	}
	for _, metric := range []string{"tput", "cpu"} {
		for _, e := range []try.Effect{{Factor: "threads", Level: "8", Against: "1", Ratio: 4.2, Low: 4.0, High: 4.4,
			Verdict: try.Better}, {Factor: "lock", Level: "new", Against: "old", Ratio: 1.3, Low: 1.24, High: 1.38,
			Verdict: try.Better}, {Factor: "threads × lock", Level: "8 × new", Against: "1 × old", Ratio: 1.77, Low: 1.7,
			High: 1.84, Verdict: try.Better, Interaction: true}} {
			e.Metric, e.Blocks, e.Confidence = metric, blocks, 0.95
			r.Effects = append(r.Effects, e)
		}
	}
	return r
}

// Of a swept experiment the page has the break-even and the scaling law.
func TestExperimentIsWeighed(t *testing.T) {
	var document bytes.Buffer
	if err := ExperimentJSON(&document, sweptExperiment(6)); err != nil {
		t.Fatal(err)
	}
	views := weighedViews(weighed(document.Bytes()))
	evens, laws := 0, 0
	for _, view := range views {
		if view.Answer.BreakEven != nil && view.Answer.BreakEven.Found {
			evens++
		}
		laws += len(view.Scaling)
	}
	if evens == 0 || laws != 2 {
		t.Errorf("%d break-evens, %d scaling laws of %d answers", evens, laws, len(views))
	}
	document.Reset()
	r := sweptExperiment(6)
	r.Factors = append(r.Factors, try.Factor{Name: "third", Levels: []try.Level{{Name: "a"}, {Name: "b"}}})
	if err := ExperimentJSON(&document, r); err != nil {
		t.Fatal(err)
	}
	if found := weighed(document.Bytes()); len(found) > 0 {
		t.Errorf("with a third factor, which would be mixed in, %d answers", len(found))
	}
}

func TestExperimentPageIsWrittenWhole(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "report.html")
	for range 2 { // the second time over the first
		if err := ExperimentHTML(path, sampleExperiment()); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 1 {
		t.Errorf("%v left, %v", files, err)
	}
	if text, err := os.ReadFile(path); err != nil ||
		!bytes.Contains(text, []byte("</html>")) {
		t.Errorf("the page is cut short: %v", err)
	}
	if err := ExperimentHTML(path, nil); err == nil {
		t.Error("no experiment makes a page")
	}
	if err := ExperimentHTML(filepath.Join(folder, "none", "report.html"), sampleExperiment()); err == nil {
		t.Error("a folder that is not there takes a page")
	}
}
