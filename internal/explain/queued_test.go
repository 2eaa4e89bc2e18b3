package explain

import (
	"math"
	"testing"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/units"
	"culprit/internal/stat"
	"culprit/internal/tail"
)

// A pool that has fewer threads has requests wait behind each other: they see its code run for
// longer, and each takes as much CPU time as before.
func TestQueuedBehindOthers(t *testing.T) {
	const requests = 1000
	few := func(a, b float64) *compare.Result {
		return &compare.Result{A: []float64{a * 0.98, a, a * 1.02}, B: []float64{b * 0.98, b, b * 1.02}}
	}
	suspect := func(id cause.ID, share float64) cause.Suspect {
		of := func(part float64) compare.Interval {
			return compare.Interval{Value: part, Low: 0.9 * part, High: 1.1 * part}
		}
		return cause.Suspect{Cause: id, Share: of(share), Seconds: of(share * 3e-3),
			Places: []cause.Place{{Kind: cause.InCode, Name: string(id)}}}
	}
	for _, test := range []struct {
		name     string
		cpu      *compare.Result
		outcome  stat.Outcome
		suspects []cause.Suspect
		first    cause.ID // "": the threads are to explain it
		share    float64
	}{
		{"no more CPU time", few(1.5, 1.5), stat.Worse, []cause.Suspect{suspect(cause.CodeGrew, 0.6),
			suspect(cause.RequestQueued, 0.3)}, cause.RequestQueued, 0.9},
		{"a gain", few(1.5, 1.5), stat.Better, []cause.Suspect{suspect(cause.CodeGrew, 0.6)}, cause.RequestQueued, 0.6},
		{"more CPU time, which a queue multiplies", few(1.5, 1.8), stat.Worse,
			[]cause.Suspect{suspect(cause.CodeGrew, 0.6)}, "", 0},
		{"as much as code could be", few(3, 3), stat.Worse, []cause.Suspect{suspect(cause.LockContended, 0.8),
			suspect(cause.CodeGrew, 0.02)}, cause.LockContended, 0.8},
		{"one recording", &compare.Result{A: []float64{1.5}, B: []float64{1.5}}, stat.Worse,
			[]cause.Suspect{suspect(cause.CodeGrew, 0.6)}, "", 0},
		{"nothing known of requests", few(1.5, 1.5), stat.Worse, nil, "", 0},
	} {
		e := &Evidence{Work: units.Work{Name: units.PerRequest, A: []float64{requests, requests, requests},
			B: []float64{requests, requests, requests}}, Results: compare.Results{CPU: test.cpu}}
		told := e.queued(Context{Outcome: test.outcome}, &tail.Difference{Suspects: test.suspects})
		switch {
		case told == nil && test.first != "":
			t.Errorf("%s: not told", test.name)
		case told == nil:
		case test.first == "":
			t.Errorf("%s: told as %s", test.name, told.Suspects[0].Cause)
		case told.Suspects[0].Cause != test.first || math.Abs(told.Suspects[0].Share.Value-test.share) > 1e-9:
			t.Errorf("%s: %s %.2f, want %s %.2f", test.name, told.Suspects[0].Cause, told.Suspects[0].Share.Value, test.first,
				test.share)
		}
	}
}
