package cause

import (
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/counts"
)

// counted are the counts of one side, by event.
type counted map[string]float64

func withCounters(in Input, a, b counted) Input {
	runs := func(value, spread float64) []float64 {
		return []float64{value * (1 - spread), value, value * (1 + spread), value * (1 + spread/2)}
	}
	for name := range a {
		in.Result.Counts = append(in.Result.Counts, compare.Count{Name: counts.Counter + name, Unit: "events/run",
			A: runs(a[name], 0.01), B: runs(b[name], 0.01)})
	}
	return in
}

// The first split of code that grew is instructions against time for each; then what grew for each
// instruction.
func TestCounters(t *testing.T) {
	const hot = "_start;main;serve;sum"
	grown := func(t *testing.T) Input {
		return inputOf(t, "cpu", plan{cpu: map[string]float64{work: 100, hot: 100}},
			plan{cpu: map[string]float64{work: 100, hot: 300}}, Costs{})
	}
	for _, test := range []struct {
		name  string
		a, b  counted
		cause ID
		says  string
	}{
		{"more instructions", counted{"instructions": 2e9, "cycles": 1e9, "cache-misses": 1e6},
			counted{"instructions": 4e9, "cycles": 2e9, "cache-misses": 2e6}, CodeGrew, "more instructions"},
		{"columns of a table", counted{"instructions": 2e9, "cycles": 1e9, "cache-misses": 1e6, "branch-misses": 1e6},
			counted{"instructions": 2e9, "cycles": 2e9, "cache-misses": 2e7, "branch-misses": 1e6}, CacheMisses,
			"each instruction is slower: that is 100 %"},
		{"data that is not sorted", counted{"instructions": 2e9, "cycles": 1e9, "cache-misses": 1e6, "branch-misses": 1e6},
			counted{"instructions": 2e9, "cycles": 2e9, "cache-misses": 1e6, "branch-misses": 7e7}, BranchMisses, "slower"},
		{"code that does not fit", counted{"instructions": 2e9, "cycles": 1e9, "stalled-cycles-frontend": 1e8,
			"branch-misses": 1e6}, counted{"instructions": 2e9, "cycles": 2e9, "stalled-cycles-frontend": 9e8,
			"branch-misses": 2e6}, FrontendStalls, "slower"},
		{"too few misses to be it", counted{"instructions": 2e9, "cycles": 1e9, "cache-misses": 1e3},
			counted{"instructions": 2e9, "cycles": 2e9, "cache-misses": 1e5}, CodeGrew, "slower"},
		{"misses that grew with the instructions", counted{"instructions": 1e9, "cycles": 1e9, "cache-misses": 1e7},
			counted{"instructions": 2e9, "cycles": 2e9, "cache-misses": 2e7}, CodeGrew, "more instructions"},
		{"user space alone", counted{"instructions:u": 2e9, "cycles:u": 1e9, "cache-misses:u": 1e6},
			counted{"instructions:u": 2e9, "cycles:u": 2e9, "cache-misses:u": 2e7}, CacheMisses, "slower"},
		{"cycles alone say nothing", counted{"cycles": 1e9, "cache-misses": 1e6}, counted{"cycles": 2e9,
			"cache-misses": 2e7}, CodeGrew, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			suspects := Judge(withCounters(grown(t), test.a, test.b)).Suspects
			if len(suspects) == 0 || suspects[0].Cause != test.cause {
				t.Fatalf("suspects %s; want %s", described(suspects), test.cause)
			}
			said := ""
			for _, evidence := range suspects[0].Evidence {
				if evidence.Signal == "counters" {
					said += evidence.Text + "\n"
				}
			}
			if !strings.Contains(said, test.says) || test.says == "" && said != "" {
				t.Errorf("it says %q", said)
			}
			if where := inWords(suspects[0]).Where; !strings.Contains(strings.Join(where, " "), "sum") {
				t.Errorf("where %q", where)
			}
		})
	}
}

// Counters of both sides are exchanged where A is the dearer one.
func TestCountersOfTheOtherSide(t *testing.T) {
	in := inputOf(t, "cpu", plan{cpu: map[string]float64{work: 100, "_start;main;serve;sum": 300}},
		plan{cpu: map[string]float64{work: 100, "_start;main;serve;sum": 100}}, Costs{})
	in = withCounters(in, counted{"instructions": 2e9, "cycles": 2e9, "cache-misses": 2e7},
		counted{"instructions": 2e9, "cycles": 1e9, "cache-misses": 1e6})
	if suspects := Judge(in).Suspects; len(suspects) == 0 || suspects[0].Cause != CacheMisses {
		t.Errorf("suspects %s", described(suspects))
	}
}

// Samples by both counters are of the function itself, and go before counters of the whole target,
// which something else may have moved. Few samples say nothing.
func TestSampledInstructions(t *testing.T) {
	const hot = "_start;main;serve;sum"
	for _, test := range []struct {
		name            string
		a, b            [2]float64 // cycles and instructions
		seen            float64
		says, doesNot   string
		causeOfCounters ID
	}{
		{"slower", [2]float64{1e9, 2e9}, [2]float64{3e9, 2e9}, 100, "each instruction is slower: that is 100 %", "more",
			CacheMisses},
		{"more", [2]float64{1e9, 2e9}, [2]float64{3e9, 6e9}, 100, "more instructions", "slower:", CodeGrew},
		{"few", [2]float64{1e9, 2e9}, [2]float64{3e9, 2e9}, 9, "more instructions", "by samples", CodeGrew},
	} {
		in := withCounters(inputOf(t, "cpu", plan{cpu: map[string]float64{work: 100, hot: 100}},
			plan{cpu: map[string]float64{work: 100, hot: 300}}, Costs{}),
			counted{"instructions": 4e9, "cycles": 2e9, "cache-misses": 1e6},
			counted{"instructions": 7e9, "cycles": 4e9, "cache-misses": 3e7})
		counts := func(a, b float64) compare.Counted {
			return compare.Counted{A: []float64{a, 1.01 * a, a, 0.99 * a}, B: []float64{b, 0.99 * b, b, 1.01 * b},
				SeenA: test.seen, SeenB: test.seen}
		}
		for _, path := range in.Result.Paths {
			if path.Frames[len(path.Frames)-1].Name == "sum" {
				in.Result.Retired = append(in.Result.Retired, compare.Retired{Frames: path.Frames,
					Cycles: counts(test.a[0], test.b[0]), Instructions: counts(test.a[1], test.b[1])})
			}
		}
		suspects := Judge(in).Suspects
		if len(suspects) == 0 || suspects[0].Cause != test.causeOfCounters {
			t.Errorf("%s: suspects %s; want %s", test.name, described(suspects), test.causeOfCounters)
			continue
		}
		said := ""
		for _, evidence := range suspects[0].Evidence {
			if evidence.Signal == "counters" {
				said += evidence.Text + "; "
			}
		}
		if !strings.Contains(said, test.says) || strings.Contains(said, test.doesNot) {
			t.Errorf("%s: it says %q; want %q, not %q", test.name, said, test.says, test.doesNot)
		}
	}
}

func TestRisen(t *testing.T) {
	for _, test := range []struct {
		a, b []float64
		want bool
	}{
		{[]float64{1}, []float64{2}, true}, {[]float64{1, 3}, []float64{2, 4}, false}, {nil, []float64{1}, false},
		{[]float64{1, 1.1, 1.2, 9}, []float64{2, 2.1, 2.2, 1}, true}, {[]float64{2, 3}, []float64{1, 1}, false},
	} {
		if got := risen(test.a, test.b); got != test.want {
			t.Errorf("%v against %v: %v", test.a, test.b, got)
		}
	}
}
