package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"culprit/internal/cause"
	"culprit/internal/investigate"
)

func TestEveryCauseIsExplained(t *testing.T) {
	list := here(t, "explain")
	for _, entry := range cause.Catalogue() {
		id := string(entry.ID)
		if !strings.Contains(list.stdout, id+" ") {
			t.Errorf("%s is not in the list", entry.ID)
		}
		got := here(t, "explain", id)
		words := strings.Join(strings.Fields(got.stdout), " ")
		for _, part := range []string{id, entry.Told(), entry.Evidence, entry.Proof, entry.Remedy, entry.MistakenAs} {
			if part == "" || !strings.Contains(words, strings.Join(strings.Fields(part), " ")) {
				t.Errorf("the text of %s lacks %q", entry.ID, part)
			}
		}
		var document causeDocument
		if err := json.Unmarshal([]byte(here(t, "explain", "--json", "-", id).stdout), &document); err != nil ||
			document.Schema != causeSchema || len(document.Causes) != 1 ||
			!reflect.DeepEqual(document.Causes[0], textOf(entry)) {
			t.Errorf("JSON of %s: %v, %+v", entry.ID, err, document)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, each := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"lock.contnded", "lock.contended", 1}, {"kitten", "sitting", 3}} {
		if got := editDistance(each.a, each.b); got != each.want || editDistance(each.b, each.a) != got {
			t.Errorf("%q to %q is %d, want %d", each.a, each.b, got, each.want)
		}
	}
}

// One recording of a program that sleeps most of its time: its wall time is explained, by its
// sleep.
func TestExplainARecording(t *testing.T) {
	needsRoot(t)
	folder := t.TempDir()
	// A program that starts with next to nothing: beside a slow start (python3 may be a script) the
	// CPU is explained.
	if got := apart(t, folder, "record", "-o", "x.culprit", "--", "sleep", "0.4"); got.status != exitDone {
		t.Fatal(got)
	}
	got := apart(t, folder, "explain", "--json", "-", "x.culprit")
	var c investigate.Case
	if err := json.Unmarshal([]byte(got.stdout), &c); err != nil || got.status != exitDone {
		t.Fatalf("%v, %+v", err, got)
	}
	if c.Schema != investigate.CaseSchema || c.Outcome != investigate.Listed || c.Metric.Name != "wall" {
		t.Errorf("schema %s, outcome %s, metric %+v", c.Schema, c.Outcome, c.Metric)
	}
	slept := false
	for _, suspect := range c.Suspects {
		if suspect.Cause == "sleep.deliberate" {
			slept = suspect.Seconds.Value > 0.35 && suspect.Seconds.Value < 0.6
			break
		}
		if suspect.Cause != "cpu.starved" { // on a busy machine waiting for a CPU can take longer than the sleep
			t.Errorf("%s comes before the sleep", suspect.Cause)
		}
	}
	if !slept {
		t.Errorf("suspects are %+v", c.Suspects)
	}
	for _, suspect := range c.Suspects {
		if suspect.Level != cause.Observed && suspect.Level != cause.Predicted {
			t.Errorf("%s is %s after one run", suspect.Cause, suspect.Level)
		}
	}
	if cpu := apart(t, folder, "explain", "--metric", "cpu", "x.culprit"); !strings.Contains(cpu.stdout, "of CPU time") {
		t.Errorf("%+v", cpu)
	}
	oneLine(t, apart(t, folder, "explain", "--metric", "luck", "x.culprit"), `"luck"`)
}
