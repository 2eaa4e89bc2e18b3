package cause

import (
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/recording"
)

// A program that sets its own limits is read before it does in some runs: the tightest of a side
// counts, so that the same limit on both sides is none that differs (a helper on the same CPU was
// told as an affinity).
func TestLimitsThatAProgramSetsItself(t *testing.T) {
	varies := func(side compare.Side, name string, values ...string) compare.FactVaries {
		return compare.FactVaries{Name: name, Side: side, Values: values}
	}
	fact := func(name, value string) []recording.Fact { return []recording.Fact{{Name: name, Value: value}} }
	for _, test := range []struct {
		name     string
		a, b     []recording.Fact
		varying  []compare.FactVaries
		used     float64 // CPUs, by B
		narrowed bool
		quota    string
	}{
		{"both sides pin themselves", fact(affinityFact, "0-1"), fact(affinityFact, "1"), []compare.FactVaries{
			varies(compare.A, affinityFact, "0-1", "1"), varies(compare.B, affinityFact, "1", "0-1")}, 1, false, ""},
		{"only B does", fact(affinityFact, "0-1"), fact(affinityFact, "0-1"), []compare.FactVaries{
			varies(compare.B, affinityFact, "0-1", "1")}, 1, true, ""},
		{"only B's first process does", fact(affinityFact, "0-1"), fact(affinityFact, "0-1"), []compare.FactVaries{
			varies(compare.B, affinityFact, "0-1", "1")}, 2, false, ""},
		{"B moves itself under a quota", nil, fact(quotaFact, "max"), []compare.FactVaries{
			varies(compare.B, quotaFact, "max", "0.35")}, 1, false, quotaFact + "=0.35"},
	} {
		s := newScene(Input{FactsA: test.a, FactsB: test.b, Result: &compare.Result{Metric: compare.MetricWall,
			A: []float64{1}, B: []float64{2}, Varying: test.varying,
			Counts: []compare.Count{{Name: counts.CPUsUsed, A: []float64{2}, B: []float64{test.used}}}}})
		if narrowed := s.narrowed(); (narrowed.String() != "") != test.narrowed {
			t.Errorf("%s: narrowed by %q", test.name, narrowed)
		}
		if quota, _ := s.quota(); quota.String() != test.quota {
			t.Errorf("%s: quota %q, want %q", test.name, quota, test.quota)
		}
	}
}
