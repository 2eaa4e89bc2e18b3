package cause

import (
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// What a cause explains as well as a function that grew, the cause is to be named for; not where
// the runs can tell.
func TestKnownCauseBeforeCodeThatGrew(t *testing.T) {
	suspect := func(id ID, value, low, high float64) Suspect {
		return Suspect{Cause: id, Share: compare.Interval{Value: value, Low: low, High: high}}
	}
	grew := suspect("code.grew", 0.49, 0.43, 0.58)
	known, consequence := rank{known: true}, rank{known: true, consequence: true}
	for _, c := range []struct {
		name  string
		other Suspect
		rank  rank
		first ID
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

// Of a pool whose threads are a library's, the program's function that sends it each item by itself
// is where to look.
func TestOwnCodeBeforeALibrarysThreads(t *testing.T) {
	suspect := func(id ID, value float64) Suspect {
		return Suspect{Cause: id, Share: compare.Interval{Value: value, Low: value - 0.02, High: value + 0.02}}
	}
	library, own := rank{known: true, library: true}, rank{known: true}
	for _, c := range []struct {
		name          string
		first, second rank
		other         Suspect
		want          ID
	}{
		{"a good part", library, own, suspect("code.added", 0.3), "code.added"},
		{"a small part", library, own, suspect("code.added", 0.15), "code.grew"},
		{"less than half", library, own, suspect("code.added", 0.21), "code.grew"},
		{"both the program's", own, own, suspect("code.added", 0.3), "code.grew"},
		{"both a library's", library, library, suspect("code.added", 0.3), "code.grew"},
		{"no code", library, own, suspect("syscall.chatty", 0.3), "code.grew"},
	} {
		chosen := (&scene{}).choose([]Suspect{suspect("code.grew", 0.48), c.other}, []rank{c.first, c.second})
		if len(chosen) != 2 || chosen[0].Cause != c.want {
			t.Errorf("%s: %v, wanted %s first of two", c.name, chosen, c.want)
		}
	}
	for names, want := range map[string]bool{"Thread.run": true, "<module>;Thread.run": true, "<module>;serve": false} {
		c := &claim{}
		for _, name := range strings.Split(names, ";") {
			frame := recording.Frame{Name: name, Kind: recording.KindPython, File: "/srv/app.py"}
			if name == "Thread.run" {
				frame.File = "/usr/lib/python3.11/threading.py"
			}
			c.place = append(c.place, frame)
		}
		if got := c.inLibrary(); got != want {
			t.Errorf("%s in a library: %v", names, got)
		}
	}
}

// A share that may as well be below zero stands before nobody: another recorder's tracepoints once
// stood before the code that was added, because the runs of a busy host gave that no interval at
// all.
func TestNoIntervalAboveZeroIsNoPrecedence(t *testing.T) {
	noise := Suspect{Cause: "monitor.attached", Share: compare.Interval{Value: 0.065, Low: -0.65, High: 0.92}}
	added := Suspect{Cause: "code.added", Share: compare.Interval{Value: 0.58, Low: -4, High: 6}}
	chosen := (&scene{}).choose([]Suspect{noise, added}, []rank{{known: true}, {}})
	if len(chosen) != 1 || chosen[0].Cause != "code.added" {
		t.Errorf("%v, want code.added alone", chosen)
	}
}

// A small part that is sure is not why: of a JVM whose strings are put together by copying, on a
// host under load, the compiler's 13 % stood before the 82 % that ran in the new method.
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
		{Name: "tracers.perf", A: "none", B: "culprit-record ×12"}, {Name: "tracers.ftrace", A: "none", B: "ftrace ×1"},
		{Name: "tracers.perf", A: "perf ×6", B: "culprit-record ×12, perf ×6"}, {Name: "tracers.perf", A: "", B: "none"},
		{Name: "tracers.perf", A: "none", B: "culprit-record ×12, perf ×5"}})
	if len(got) != 2 || got[0].B != "ftrace ×1" || got[1].B != "culprit-record ×12, perf ×5" {
		t.Errorf("%v, want ftrace, and perf beside a recorder", got)
	}
}

// What follows from code stands behind it, also where that is several places of which none is large
// (a Java program that formats and rounds otherwise in two methods: the compiler's part is larger
// than each of them); not where the code is small beside it.
func TestConsequenceStandsBehindCode(t *testing.T) {
	suspect := func(id ID, value, low, high float64) Suspect {
		return Suspect{Cause: id, Share: compare.Interval{Value: value, Low: low, High: high}}
	}
	for _, c := range []struct {
		name        string
		consequence float64
		code        []float64 // what is surely in each
		want        int       // place of the consequence
	}{
		{"one large place", 0.60, []float64{0.25}, 1},
		{"two places", 0.42, []float64{0.13, 0.11}, 2},
		{"two places beside much more", 0.72, []float64{0.13, 0.11}, 0},
		{"next to nothing", 0.30, []float64{0.06, 0.05}, 0},
		{"one of them not surely", 0.42, []float64{0.25, -0.02}, 1},
	} {
		list := []Suspect{suspect("runtime.cold", c.consequence, c.consequence-0.05, c.consequence+0.05)}
		ranks := []rank{{known: true, consequence: true}}
		for _, low := range c.code {
			list, ranks = append(list, suspect("code.grew", low+0.04, low, low+0.08)), append(ranks, rank{known: true})
		}
		chosen := (&scene{}).choose(list, ranks)
		at := -1
		for i := range chosen {
			if chosen[i].Cause == "runtime.cold" {
				at = i
			}
		}
		if at != c.want {
			t.Errorf("%s: at %d of %v, want %d", c.name, at, chosen, c.want)
		}
	}
}
