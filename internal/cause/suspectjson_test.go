package cause

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"culprit/internal/compare"
)

// What a suspect says is the same after it was written and read.
func TestSuspectIsReadAsWritten(t *testing.T) {
	whole := Suspect{Cause: DiskThrottled, Level: Explains, Gain: true, Claim: "a claim",
		Share:   compare.Interval{Value: 0.9, Low: 0.8, High: 1},
		Seconds: compare.Interval{Value: -2, Low: -3, High: -1}, Remedy: "a remedy",
		Knob: "cgroup.io", Places: []Place{{Kind: InCode, Name: "main;write"},
			{Kind: InCode, Role: HeldIn, Name: "main;hold"},
			{Kind: InSetting, Name: "target.cgroup.io.write_bps", Value: "8:16 1048576"},
			{Kind: InProcess, Name: "sh", Starts: "basename"},
			{Kind: InProcess, Role: Competitor, Name: "hog"}},
		Doubts:   []Doubt{{DoubtRuns, "too few runs"}, {DoubtUnseen, "what decides is not seen"}},
		Evidence: []Evidence{{Signal: "facts", Text: "a limit", Setting: "target.cgroup.io.write_bps"}},
		Proof:    &Proof{Knob: "cgroup.io", Verdict: "proven", Trials: 10}}
	bare := Suspect{Cause: CodeGrew, Places: []Place{}}
	for name, suspect := range map[string]Suspect{"whole": whole, "bare": bare} {
		var read Suspect
		written, err := json.Marshal(suspect)
		if err == nil {
			err = json.Unmarshal(written, &read)
		}
		if err != nil || !reflect.DeepEqual(read, suspect) {
			t.Errorf("%s: %v\nread  %+v\nwrote %+v\nas %s", name, err, read, suspect, written)
		}
	}
	written, _ := json.Marshal(whole)
	var words struct{ Where, Against []string }
	if err := json.Unmarshal(written, &words); err != nil {
		t.Fatal(err)
	}
	if want := []string{"main;write", "held in main;hold", "target.cgroup.io.write_bps=8:16 1048576",
		"process sh starts basename", "CPU used by hog"}; !slices.Equal(words.Where, want) {
		t.Errorf("where is %q, want %q", words.Where, want)
	}
	against := []string{"too few runs", "what decides is not seen"}
	if !slices.Equal(words.Against, against) {
		t.Errorf("against is %q, want %q", words.Against, against)
	}
	written, _ = json.Marshal([]Suspect{{Cause: CodeGrew}})
	if !strings.Contains(string(written), `"where":[]`) {
		t.Errorf("no place is written as %s", written)
	}
}

// A case of the first schema has places and doubts as text alone; written again, the text is the
// same.
func TestSuspectOfTheFirstSchema(t *testing.T) {
	const old = `{"cause":"cpu.confined","level":"explains","share":{"value":0.9,"low":0.8,"high":1},
		"seconds":{"value":1,"low":0.9,"high":1.1},"evidence":[],
		"where":["target.affinity 0 (1 of 2 CPUs)","main;serve"],
		"against":["too few recordings"],"remedy":"widen it","claim":"fewer CPUs"}`
	var read Suspect
	if err := json.Unmarshal([]byte(old), &read); err != nil {
		t.Fatal(err)
	}
	where := []string{"target.affinity 0 (1 of 2 CPUs)", "main;serve"}
	against := []string{"too few recordings"}
	if read.Cause != CPUConfined || read.Share.Low != 0.8 || !slices.Equal(read.Where(), where) ||
		!slices.Equal(read.Against(), against) {
		t.Errorf("read as %+v", read)
	}
	written, err := json.Marshal(read)
	var again Suspect
	if err == nil {
		err = json.Unmarshal(written, &again)
	}
	if err != nil || !slices.Equal(again.Where(), where) ||
		!slices.Equal(again.Against(), against) {
		t.Errorf("%v: written as %s", err, written)
	}
	for _, text := range []string{`{"where":"main"}`, `{"places":["main"]}`, `{"against":[1]}`} {
		if err := json.Unmarshal([]byte(text), &read); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
