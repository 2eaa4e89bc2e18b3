package report

import (
	"bytes"
	"strings"
	"testing"

	"culprit/internal/bisect"
	"culprit/internal/cause"
	"culprit/internal/investigate"
	"culprit/internal/stat"
)

// foundCommit is a search that found a commit, with one that did not build and a part that is still
// open.
func foundCommit() *bisect.Result {
	good := bisect.Candidate{Name: "1111111111111111111111111111111111111111", Title: "first"}
	parent := bisect.Candidate{Position: 36, Name: "2222222222222222222222222222222222222222", Title: "tidy up"}
	slow := bisect.Candidate{Position: 37, Name: "3333333333333333333333333333333333333333", Title: "check cells",
		Author: "A. Person", Date: "2026-05-04"}
	bad := bisect.Candidate{Position: 200, Name: "4444444444444444444444444444444444444444", Title: "last"}
	return &bisect.Result{Schema: bisect.Schema, Outcome: bisect.Worse, Good: good, Bad: bad, Candidates: 200,
		Order: bisect.FirstParent, Metric: bisect.Metric{Name: "cpu"}, Noise: 0.031,
		Effect: bisect.Effect{Ratio: 1.052, Low: 1.031, High: 1.074, Confidence: 0.95},
		Culprits: []bisect.Culprit{{Candidate: slow, Parent: parent, Position: 37, Before: 36, Outcome: bisect.Worse,
			Effect: bisect.Effect{Ratio: 1.049, Low: 1.033, High: 1.066, Confidence: 0.95}, Chance: 0.97,
			Inside: &bisect.Inside{Case: "case/culprit-1", Outcome: investigate.Worse, Suspects: []cause.Suspect{{
				Cause: "code.grew", Share: stat.Interval{Value: 0.93, Low: 0.8, High: 1}, Where: []string{"main;Sheet.cells"},
				Claim: "a function that both sides run costs more in B"}}},
			Change: &bisect.Change{Files: []string{"table/sheet.py"}, All: 3, Hunks: []bisect.Hunk{{File: "table/sheet.py",
				Line:     41,
				Function: "Sheet.cells", Touches: "definition",
				Text: "     def cells(self):\n+        self.sort()\n         return self.all"}}}}},
		Rests: []bisect.Rest{{From: good, To: parent, Effect: bisect.Effect{Ratio: 1.004, Low: 0.99, High: 1.018,
			Confidence: 0.95},
			Outcome: bisect.Same}},
		Skipped: []bisect.Skip{{Position: 100, Name: "5555555555555555555555555555555555555555",
			Why: "build fails: exit status 2"}},
		Decisions: []bisect.Decision{{Runs: 42}, {Runs: 12}, {Runs: 36}}, Seed: 7, Dir: "case", ElapsedS: 84.25}
}

func bisectText(t *testing.T, r *bisect.Result) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Bisect(&out, r, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestBisectText(t *testing.T) {
	golden(t, "bisect-commit.txt", bisectText(t, foundCommit()))

	several := foundCommit()
	several.Culprits[0].Among = []int{35, 36}
	several.Culprits[0].Change, several.Culprits[0].Inside = nil, nil
	golden(t, "bisect-several.txt", bisectText(t, several))

	open := foundCommit()
	open.Culprits[0].Outcome, open.Culprits[0].Chance = bisect.Undecided, 0.4
	open.Culprits[0].Candidate.Merge, open.Culprits[0].Change.Hunks = true, nil
	golden(t, "bisect-likeliest.txt", bisectText(t, open))

	same := foundCommit()
	same.Outcome, same.Culprits, same.Rests = bisect.Same, nil, nil
	same.Effect = bisect.Effect{Ratio: 1.001, Low: 0.99, High: 1.01, Confidence: 0.9}
	golden(t, "bisect-same.txt", bisectText(t, same))

	version := foundCommit()
	version.Package, version.Good.Name, version.Bad.Name = "pypi:tablereader", "3.1.0", "3.4.2"
	version.Culprits[0].Candidate = bisect.Candidate{Name: "3.2.0"}
	version.Culprits[0].Parent = bisect.Candidate{Name: "3.1.0"}
	version.Culprits[0].Change = &bisect.Change{Why: "jars hold no source"}
	golden(t, "bisect-version.txt", bisectText(t, version))
}

func TestBisectEstimate(t *testing.T) {
	got := BisectEstimate(bisect.Estimate{Candidates: 200, Decisions: 12, Most: 19, Builds: 10, BuildS: 14, Runs: 190,
		RunS:    0.9,
		Seconds: 311})
	const want = "200 steps between the ends: about 12 decisions (for one culprit at most 19), 10 builds of 14 " +
		"s, 190 runs of " +
		"900 ms: about 5m11s"
	if got = strings.ReplaceAll(got, space, " "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
