package explain

import (
	"slices"
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// TestBrokenStacksAreAddedUp: recordings of one group say the same with other numbers, and are told
// once.
func TestBrokenStacksAreAddedUp(t *testing.T) {
	with := func(spots ...string) *recording.Recording {
		return &recording.Recording{Manifest: recording.Manifest{BlindSpots: spots}}
	}
	one := "2 of 14 stacks could not be followed to their root: its mappings were not known yet 1, no rules 1"
	a := []*recording.Recording{with("interrupts off", one), with("interrupts off")}
	both := append(slices.Clone(a), with("lost: samples: 3",
		"3 of 11 stacks could not be followed to their root: no rules 3"),
		with("1 of 2 stacks could not be followed to their root: in other words"))
	got := blindSpots(both, &compare.Result{Unseen: []string{"probe x", "no waits"}})
	want := []string{"interrupts off", "1 of 2 stacks could not be followed to their root: in other words",
		"in 2 recordings 5 of 25 stacks could not be followed to their root: no rules 4, its mappings were not known yet 1",
		"no waits"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got := blindSpots(a, &compare.Result{}); !slices.Contains(got, one) {
		t.Errorf("%q: one recording's own words are kept", got)
	}
}
