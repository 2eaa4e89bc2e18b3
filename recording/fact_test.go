package recording

import (
	"math"
	"path/filepath"
	"slices"
	"testing"
)

// A part has the facts that held in it, and those that changed in it with their times on its own
// clock.
func TestFactsBetween(t *testing.T) {
	facts := []Fact{{"clocksource.current", "hpet", "/sys"}, {"tracers.perf", "none", "/proc"}, {"other", "1", ""}}
	held := []HeldFact{{"tracers.perf", "none", 0, 4e9}, {"tracers.perf", "perf ×5", 4e9, 7e9},
		{"tracers.perf", "none", 7e9, 10e9}, {"clocksource.current", "hpet", 0, 8e9},
		{"clocksource.current", "tsc", 8e9, 10e9},
		{"target.counted", "x", 0, 1e9}, {"target.counted", "y", 1e9, 10e9}}
	for _, test := range []struct {
		from, to             int64
		clock, perf, counted string
		changed              int
	}{
		{0, 10e9, "hpet", "none", "y", 7}, {0, 4e9, "hpet", "none", "y", 2}, {4e9, 7e9, "hpet", "perf ×5", "y", 0},
		{5e9, 8e9, "hpet", "perf ×5", "y", 2}, {8e9, 10e9, "tsc", "none", "y", 0}, {6e9, 10e9, "hpet", "none", "y", 4},
	} {
		got, changed := FactsBetween(facts, held, test.from, test.to)
		rec := Recording{Facts: got}
		if rec.Fact("clocksource.current") != test.clock || rec.Fact("tracers.perf") != test.perf ||
			rec.Fact("target.counted") != test.counted || rec.Fact("other") != "1" || len(changed) != test.changed {
			t.Errorf("%d to %d: %v, %v", test.from, test.to, got, changed)
		}
		for _, h := range changed {
			if h.FromNs < 0 || h.ToNs > test.to-test.from || h.FromNs >= h.ToNs {
				t.Errorf("%d to %d: %v lies outside", test.from, test.to, h)
			}
		}
	}
	if facts[0].Value != "hpet" || held[0].ToNs != 4e9 {
		t.Error("what was given did not stay as it was")
	}
	hostile := []HeldFact{{"a", "1", math.MinInt64, math.MaxInt64}, {"a", "2", math.MaxInt64, math.MinInt64}}
	if got, changed := FactsBetween(nil, hostile, 0, 5); len(got) != 1 || got[0].Value != "1" || len(changed) != 0 {
		t.Errorf("%v, %v", got, changed)
	}
}

// Parts tell all that may change; the whole what did, on its own clock, and as facts what held
// longest.
func TestJoinTellsWhatHeld(t *testing.T) {
	var paths []string
	for at, value := range []string{"none", "none", "perf ×5"} {
		part := &Recording{Manifest: Manifest{Schema: SchemaVersion, WindowNs: 10e9,
			Held: []HeldFact{{"kernel.x", "0", 0, 10e9}, {"tracers.perf", value, 0, 10e9}}}}
		if at == 0 {
			part.Facts = []Fact{{"kernel.x", "0", ""}, {"tracers.perf", value, "/proc"}}
		}
		if at == 2 {
			part.Manifest.Held = append(part.Manifest.Held, HeldFact{"tracers.perf", "none", 6e9, 10e9})
			part.Manifest.Held[1].ToNs = 6e9
		}
		path := filepath.Join(t.TempDir(), "part")
		if err := Write(path, part); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	path := filepath.Join(t.TempDir(), "whole")
	if err := Join(path, paths, nil); err != nil {
		t.Fatal(err)
	}
	whole, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	held := whole.Manifest.Held
	want := []HeldFact{{"tracers.perf", "none", 0, 20e9}, {"tracers.perf", "perf ×5", 20e9, 26e9},
		{"tracers.perf", "none", 26e9, 30e9}}
	if !slices.Equal(held, want) {
		t.Errorf("%v", held)
	}
	if whole.Fact("tracers.perf") != "none" || whole.Fact("kernel.x") != "0" {
		t.Errorf("facts %v", whole.Facts)
	}
	if got, _ := FactsBetween(whole.Facts, held, 20e9, 26e9); got[1].Value != "perf ×5" {
		t.Errorf("%v", got)
	}
}

// Values that come and go for ever have a bound: the last stretch takes what does not fit.
func TestHeldIsBounded(t *testing.T) {
	var held []HeldFact
	for at := range int64(1000) {
		held = laterHeld(held, []HeldFact{{"a", string(rune('a' + at%2)), 0, 5}}, at*5)
	}
	if len(held) != MaxHeldOfOne || held[len(held)-1].ToNs != 5000 {
		t.Errorf("%d stretches, the last %v", len(held), held[len(held)-1])
	}
}
