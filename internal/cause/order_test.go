package cause

import (
	"testing"

	"culprit/internal/compare"
)

// What a cause explains as well as a function that grew, the cause is to be named for; not where the runs can tell.
func TestKnownCauseBeforeCodeThatGrew(t *testing.T) {
	suspect := func(id string, value, low, high float64) Suspect {
		return Suspect{Cause: id, Share: compare.Interval{Value: value, Low: low, High: high}}
	}
	grew := suspect("code.grew", 0.49, 0.43, 0.58)
	known, consequence := rank{known: true}, rank{known: true, consequence: true}
	for _, c := range []struct {
		name  string
		other Suspect
		rank  rank
		first string
	}{
		{"as large", suspect("memory.page-in", 0.48, 0.41, 0.55), known, "memory.page-in"},
		{"smaller", suspect("memory.page-in", 0.40, 0.35, 0.45), known, "code.grew"},
		{"perhaps nothing", suspect("memory.page-in", 0.48, 0.05, 0.90), known, "code.grew"},
		{"a consequence", suspect("memory.page-in", 0.48, 0.41, 0.55), consequence, "code.grew"},
		{"a busy host", suspect("cpu.starved", 0.48, 0.41, 0.55), known, "code.grew"},
		{"without an interval", suspect("memory.page-in", 0.48, 0.48, 0.48), rank{}, "code.grew"},
	} {
		chosen := (&scene{}).choose([]Suspect{grew, c.other}, []rank{known, c.rank})
		if len(chosen) != 2 || chosen[0].Cause != c.first {
			t.Errorf("%s: %v, wanted %s first of two", c.name, chosen, c.first)
		}
	}
}

// A share that may as well be below zero stands before nobody: another recorder's tracepoints once stood before the
// code that was added, because the runs of a busy host gave that no interval at all.
func TestNoIntervalAboveZeroIsNoPrecedence(t *testing.T) {
	noise := Suspect{Cause: "monitor.attached", Share: compare.Interval{Value: 0.065, Low: -0.65, High: 0.92}}
	added := Suspect{Cause: "code.added", Share: compare.Interval{Value: 0.58, Low: -4, High: 6}}
	chosen := (&scene{}).choose([]Suspect{noise, added}, []rank{{known: true}, {}})
	if len(chosen) != 1 || chosen[0].Cause != "code.added" {
		t.Errorf("%v, want code.added alone", chosen)
	}
}

// A small part that is sure is not why: of a JVM whose strings are put together by copying, on a host under load, the
// compiler's 13 % stood before the 82 % that ran in the new method.
func TestSmallPartIsNotFirst(t *testing.T) {
	compiling := Suspect{Cause: "runtime.cold", Share: compare.Interval{Value: 0.13, Low: 0.054, High: 0.24}}
	added := Suspect{Cause: "code.added", Share: compare.Interval{Value: 0.82, Low: -4, High: 6}}
	chosen := (&scene{}).choose([]Suspect{compiling, added}, []rank{{known: true}, {}})
	if len(chosen) != 2 || chosen[0].Cause != "code.added" {
		t.Errorf("%v, want code.added first of two", chosen)
	}
}

func TestRecordersOfThisProgramAreNoNewTracers(t *testing.T) {
	got := newTracers([]compare.FactChange{{Name: "tracers.bpf", A: "culprit-record ×47", B: "none"},
		{Name: "tracers.perf", A: "none", B: "culprit-record ×12"}, {Name: "tracers.ftrace", A: "none", B: "trace-cmd"}})
	if len(got) != 1 || got[0].B != "trace-cmd" {
		t.Errorf("%v, want trace-cmd alone", got)
	}
}
