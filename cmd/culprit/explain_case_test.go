package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/explain"
	"culprit/internal/investigate"
	"culprit/internal/report"
	"culprit/internal/stat"
)

// madeCase is the directory of a case of madeGroups, of its CPU time, as investigate leaves it.
func madeCase(t *testing.T) (folder string, a, b []string) {
	t.Helper()
	a, b = madeGroups(t)
	folder = t.TempDir()
	recordings := filepath.Join(folder, explain.Recordings)
	if err := os.Mkdir(recordings, 0o755); err != nil {
		t.Fatal(err)
	}
	known := explain.Context{Metric: compare.MetricCPU, Outcome: stat.Worse,
		Measured: []explain.Measured{{Metric: compare.MetricCPU, Outcome: stat.Worse}},
		Warnings: []string{"the host was busy"}}
	for _, side := range []struct {
		files []string
		names *[]string
	}{{a, &known.A}, {b, &known.B}} {
		for _, file := range side.files {
			*side.names = append(*side.names, filepath.Base(file))
			if err := os.Rename(file, filepath.Join(recordings, filepath.Base(file))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range a {
		a[i] = filepath.Join(recordings, filepath.Base(a[i]))
		b[i] = filepath.Join(recordings, filepath.Base(b[i]))
	}
	if err := known.Save(folder); err != nil {
		t.Fatal(err)
	}
	metric := investigate.Metric{Name: compare.MetricCPU, Unit: "s", Better: "lower"}
	effect := cause.Effect{Ratio: 1.34, Low: 1.3, High: 1.38, Confidence: 0.95}
	proven := cause.Suspect{Cause: "syscall.chatty", Level: cause.Proven,
		Proof: &cause.Proof{Knob: "made up", Verdict: "proven"}}
	c := &investigate.Case{Schema: investigate.CaseSchema, Outcome: investigate.Worse,
		Metric: metric, A: investigate.SideSummary{Command: "old", Median: 0.3, Trials: 8},
		B: &investigate.SideSummary{Command: "new", Median: 0.4, Trials: 8}, Effect: &effect,
		Metrics: []investigate.MetricResult{{Metric: metric, Outcome: investigate.Worse,
			Effect: effect, MedianA: 0.3, MedianB: 0.4}},
		Suspects: []cause.Suspect{proven}, Warnings: []string{"said of the first judgement"}}
	var document bytes.Buffer
	if err := report.JSON(&document, c); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "case.json"), document.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder, a, b
}

// firstOf is what a document of a case or a comparison suspects first, and where.
func firstOf(t *testing.T, document string) string {
	t.Helper()
	var c struct {
		Suspects []struct {
			Cause string
			Where []string
		}
	}
	if err := json.Unmarshal([]byte(document), &c); err != nil || len(c.Suspects) == 0 {
		t.Fatalf("no suspects, %v\n%s", err, document)
	}
	return c.Suspects[0].Cause + " at " + strings.Join(c.Suspects[0].Where, ", ")
}

// A case is judged again out of its directory, with what compare says of the same recordings.
func TestExplainACaseAgain(t *testing.T) {
	folder, a, b := madeCase(t)
	text := here(t, "explain", folder)
	if text.status != exitDone || !strings.HasPrefix(text.stdout, "WORSE") ||
		!strings.Contains(text.stdout, "suspect 1") ||
		!strings.Contains(text.stdout, "the host was busy") ||
		strings.Contains(text.stdout, "said of the first judgement") {
		t.Errorf("%+v", text)
	}
	again := here(t, "explain", folder, "--json", "-")
	groups := slices.Concat([]string{"compare", "--a"}, a, []string{"--b"}, b,
		[]string{"--metric", "cpu", "--json", "-"})
	if said, want := firstOf(t, again.stdout), firstOf(t, here(t, groups...).stdout); said != want {
		t.Errorf("explain CASE: %s; compare: %s", said, want)
	}
	var c investigate.Case
	if err := json.Unmarshal([]byte(again.stdout), &c); err != nil || c.Suspects[0].Proof == nil ||
		c.Suspects[0].Level != cause.Proven || c.A.Command != "old" {
		t.Errorf("%v, %+v", err, c.Suspects)
	}
}

func TestCasesThatCannotBeJudgedAgain(t *testing.T) {
	folder, _, _ := madeCase(t)
	oneLine(t, here(t, "explain", folder, "--metric", "luck"), `"luck"`)
	oneLine(t, here(t, "explain", folder, "--metric", "wall"), "not tested in this case")
	file := filepath.Join(folder, explain.ContextFile)
	for content, want := range map[string]string{
		"{": "damaged", `{"schema":"culprit.judgement/9"}`: "culprit.judgement/9",
		`{"schema":"culprit.judgement/1","metric":"cpu","a":["../x"]}`:      `"../x"`,
		`{"schema":"culprit.judgement/1","metric":"cpu","a":["x.culprit"]}`: "x.culprit",
		`{"schema":"culprit.judgement/1","metric":"cpu"}`:                   "no recording of A",
	} {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		oneLine(t, here(t, "explain", folder), want)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	oneLine(t, here(t, "explain", folder), "too old to be judged again")
	if text := here(t, "report", folder, "--text"); text.status != exitDone ||
		!strings.Contains(text.stdout, "said of the first judgement") {
		t.Errorf("a report of an old case: %+v", text)
	}
	if err := os.RemoveAll(filepath.Join(folder, explain.Recordings)); err != nil {
		t.Fatal(err)
	}
	oneLine(t, here(t, "explain", folder), "holds no recordings")
	oneLine(t, here(t, "explain", t.TempDir()), "there is no case")
}
