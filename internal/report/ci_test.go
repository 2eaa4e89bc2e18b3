package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"culprit/internal/cause"
	"culprit/internal/ci"
	"culprit/internal/investigate"
)

func checked(name string) *ci.Result {
	shows := 0.07
	return &ci.Result{Schema: ci.Schema, Outcome: investigate.Worse, FailOver: 0.05, MustShow: 0.1, A: "./old", B: name,
		Metrics: []ci.Verdict{{Metric: investigate.Metric{Name: "wall", Unit: "s", Better: "lower"},
			Outcome: investigate.Worse, MedianA: 1, MedianB: 1.3,
			Effect: cause.Effect{Ratio: 1.3, Low: 1.25, High: 1.36, Confidence: 0.95}}},
		Noise: []ci.Noise{{Metric: "wall", Spread: 0.01, Of: 12, CanShow: &shows, Enough: true}},
		Suspects: []cause.Suspect{{Cause: "lock.contended", Claim: name, Where: []string{"main;" + name},
			Remedy: name}},
		Values: map[string]ci.SideSet{"wall": {A: []float64{1, 1.01, 0.99}, B: []float64{1.3, 1.28}}}}
}

// Where slow runs decide, the summary has means, and says which runs they are the means of.
func TestCISummaryTellsOfSlowRuns(t *testing.T) {
	r := checked("./new")
	r.Metrics[0].MedianA, r.Metrics[0].MedianB = 1, 1.01
	r.Metrics[0].Kinds = &investigate.RunKinds{SlowB: 17, Pairs: 70, Usual: 1, Slow: 11, MeanA: 1.02, MeanB: 3.7,
		Decides: true}
	var out bytes.Buffer
	if err := CISummary(&out, r, CIOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1.02\u00a0s | 3.70\u00a0s", "17 of 70 runs of B take 11.0× as long",
		"means of all runs"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// Names of the data are no markup, no link and no mention, and cannot end a table or a fence.
func TestCISummaryIsHarmless(t *testing.T) {
	const hostile = "x` | <script>alert(1)</script> ![i](https://evil.example/p) @everyone #1 ```\n\u202e"
	var out bytes.Buffer
	if err := CISummary(&out, checked(hostile), CIOptions{Picture: "p.svg"}); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if !strings.Contains(text, "### culprit: worse by more than 5\u00a0%") || !strings.Contains(text, "1.30×") {
		t.Errorf("the summary says\n%s", text)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "- **B**") || strings.HasPrefix(line, "- where") {
			continue // code spans, with a longer fence
		}
		for _, bad := range []string{"<script", "](https://evil", "@everyone", "#1", "\u202e"} {
			if strings.Contains(line, bad) {
				t.Errorf("%q stands in %q", bad, line)
			}
		}
	}
	if code := mdCode("a```b", 20); code != "```` a```b ````" {
		t.Errorf("a code span is %q", code)
	}
}

// The picture is well-formed, also where little is known.
func TestCIPicture(t *testing.T) {
	unknown := checked("b")
	unknown.Metrics[0].Effect = cause.Effect{Ratio: math.NaN(), Low: math.Inf(-1), High: math.Inf(1)}
	unknown.Values = nil
	for _, r := range []*ci.Result{checked("<&>"), unknown} {
		var out bytes.Buffer
		if err := CIPicture(&out, r); err != nil {
			t.Fatal(err)
		}
		decoder := xml.NewDecoder(&out)
		for {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		out.Reset()
		if err := CIDocument(&out, r); err != nil || !json.Valid(out.Bytes()) {
			t.Errorf("the document: %v\n%s", err, out.String())
		}
	}
}
