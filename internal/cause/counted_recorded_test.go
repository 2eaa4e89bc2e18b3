package cause_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/internal/corpus"
)

// counters are made counts of a run by its CPU time: events for each second, and how many more of
// them each second of B has.
type counters map[string]struct{ perSecond, times float64 }

// put gives the pair counts that go with the CPU time of its runs. Instructions are told for each
// run of a side alike: the work is what it is, however long it took.
func (c counters) put(in *cause.Input, work float64) {
	results := slices.Compact([]*compare.Result{in.Result, in.CPU, in.Wall})
	runs := func(name string, seconds []float64, inB bool) []float64 {
		of, values := c[name], make([]float64, len(seconds))
		for i, s := range seconds {
			if name == "instructions" {
				s = seconds[0] // as many in each run
			}
			if values[i] = of.perSecond * s; inB {
				values[i] *= of.times
			}
		}
		return values
	}
	var made []compare.Count
	for name := range c {
		made = append(made, compare.Count{Name: counts.Counter + name, Unit: "events/run",
			A: runs(name, in.CPU.A, false), B: runs(name, in.CPU.B, true)})
	}
	for i := range made {
		if made[i].Name == counts.Counter+"instructions" && work > 0 { // so many times those of A
			for at := range made[i].B {
				made[i].B[at] = work * made[i].A[0]
			}
		}
	}
	for _, result := range results {
		if result != nil {
			result.Counts = append(result.Counts, made...)
		}
	}
}

// Scenes that were recorded, with counts that were made: which cause stands first, and where,
// follows from the counts, and misses are not blamed for what grew with the instructions, or for
// what they are too few for.
func TestCountersOverRecordedScenes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"grew-order-cpp", "quadratic-go", "quadratic-rust", "line-near-cpp"} {
		for _, test := range []struct {
			title string
			made  counters
			work  float64 // instructions of B, times those of A; 0: as the time
			first cause.ID
			says  string
		}{
			{"branches", counters{"cycles": {3e9, 1}, "instructions": {6e9, 1}, "branch-misses": {1e6, 120},
				"cache-misses": {1e6, 1}}, 1, cause.BranchMisses, "each instruction is slower"},
			{"caches", counters{"cycles": {3e9, 1}, "instructions": {6e9, 1}, "branch-misses": {1e6, 1},
				"cache-misses": {1e6, 200}}, 1, cause.CacheMisses, "each instruction is slower"},
			{"frontend", counters{"cycles": {3e9, 1}, "instructions": {6e9, 1}, "stalled-cycles-frontend": {1e8, 28}}, 1,
				cause.FrontendStalls, "each instruction is slower"},
			{"more instructions, with as many misses each", counters{"cycles": {3e9, 1}, "instructions": {6e9, 1},
				"branch-misses": {3e7, 1}, "cache-misses": {3e7, 1}}, 0, cause.CodeGrew, "more instructions"},
			{"slower, and misses that are too few", counters{"cycles": {3e9, 1}, "instructions": {6e9, 1},
				"branch-misses": {1e4, 9}, "cache-misses": {1e3, 9}}, 1, cause.CodeGrew, "each instruction is slower"},
		} {
			pair, err := corpus.Open(filepath.Join(corpusFolder, name+corpus.Extension))
			if err != nil {
				t.Fatal(err)
			}
			before, err := pair.Answer()
			if err != nil || len(before.Suspects) == 0 || before.Suspects[0].Cause != cause.CodeGrew {
				t.Fatalf("%s: %+v, %v", name, before.Suspects, err)
			}
			test.made.put(&pair.Input, test.work)
			answer, err := pair.Answer()
			if err != nil || len(answer.Suspects) == 0 {
				t.Fatalf("%s, %s: %v", name, test.title, err)
			}
			said := ""
			for _, evidence := range answer.Suspects[0].Evidence {
				said += evidence.Text + "; "
			}
			if answer.Suspects[0].Cause != test.first || !strings.Contains(said, test.says) ||
				!slices.Equal(answer.Suspects[0].Where, before.Suspects[0].Where) {
				t.Errorf("%s, %s: %s at %q by %s", name, test.title, answer.Suspects[0].Cause, answer.Suspects[0].Where, said)
			}
		}
	}
}
