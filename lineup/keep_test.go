package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"culprit/internal/compare"
	"culprit/internal/corpus"
	"culprit/internal/explain"
	"culprit/recording"
)

// caseOf makes the case directory of a pair out of its recordings.
func caseOf(t *testing.T, folder, pair string) {
	t.Helper()
	archive := filepath.Join("../internal/compare/testdata/pairs", pair+corpus.RecordingsExtension)
	recorded, err := corpus.OpenRecordings(archive)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(folder, explain.Recordings), 0o755); err != nil {
		t.Fatal(err)
	}
	change := compare.Interval{Value: 0.25, Low: 0.2, High: 0.3}
	known := explain.Context{Metric: "cpu", Outcome: "worse",
		Measured: []explain.Measured{{Metric: "cpu", Outcome: "worse", Change: &change}}}
	save := func(names *[]string, side string, group []*recording.Recording) {
		for i, rec := range group {
			name := fmt.Sprintf("%s-%d.culprit", side, i+1)
			*names = append(*names, name)
			if err := recording.Write(filepath.Join(folder, explain.Recordings, name), rec); err != nil {
				t.Fatal(err)
			}
		}
	}
	save(&known.A, "A", recorded.A)
	save(&known.B, "B", recorded.B)
	if err := known.Save(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "case.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// What was judged right goes into the corpus with its truth; what was not, or judged nothing, does
// not.
func TestKeepAll(t *testing.T) {
	from, folder := t.TempDir(), t.TempDir()
	caseOf(t, filepath.Join(from, "right", "case"), "clock-often-c")
	caseOf(t, filepath.Join(from, "wrong", "case"), "clock-often-c")
	truth := Truth{Outcome: "worse", Causes: []string{"clock.read-often"}, Place: "deadline_passed"}
	lock := Truth{Outcome: "worse", Causes: []string{"lock.contended"}, Place: "main"}
	scenarios := []Scenario{{Name: "right", Truth: truth}, {Name: "wrong", Truth: lock},
		{Name: "never run"}}
	status, err := keepAll(io.Discard, Options{root: "blind/", from: from, corpus: folder}, scenarios)
	if err != nil || status != exitMissed {
		t.Errorf("status %d, %v", status, err)
	}
	files, err := corpus.List(folder)
	if err != nil || len(files) != 1 {
		t.Fatalf("files %q, %v", files, err)
	}
	pair, err := corpus.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if pair.Name != "right" || pair.Source != "blind" || pair.Truth.Place != truth.Place ||
		pair.Outcome != "worse" {
		t.Errorf("kept %s of %s: %+v, %s", pair.Name, pair.Source, pair.Truth, pair.Outcome)
	}
	answer, err := pair.Answer()
	if missed := pair.Judge(answer).Missed; err != nil || missed != "" {
		t.Errorf("judged again: %s, %v", missed, err)
	}
}
