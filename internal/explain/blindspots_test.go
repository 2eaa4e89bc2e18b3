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
	with := func(spots ...recording.BlindSpot) *recording.Recording {
		return &recording.Recording{Manifest: recording.Manifest{BlindSpots: spots}}
	}
	stacks := func(broken, all int64, reasons ...recording.BlindReason) recording.BlindSpot {
		return recording.BlindSpot{Kind: recording.BlindStacks, Count: broken, Of: all, Reasons: reasons}
	}
	requests := func(count int64) recording.BlindSpot {
		return recording.BlindSpot{Kind: recording.BlindURing, Count: count}
	}
	off := recording.BlindSpot{Kind: recording.BlindInterrupts}
	old := recording.BlindSpot{Kind: recording.BlindOther, What: "1 of 2 stacks, in other words"}
	one := stacks(2, 14, recording.BlindReason{Why: "unmapped", Count: 1},
		recording.BlindReason{Why: "no rules", Count: 1})
	a := []*recording.Recording{with(off, one, requests(0)), with(off, requests(7))}
	both := append(slices.Clone(a), with(recording.BlindSpot{Kind: recording.BlindLost, What: "samples", Count: 3},
		stacks(3, 11, recording.BlindReason{Why: "no rules", Count: 3})), with(old, requests(5)))
	unseen := []recording.BlindSpot{{Kind: recording.BlindProbe, What: "x"}, {Kind: recording.BlindNoWaits},
		{Kind: recording.BlindGivenUp, What: "slow"}}
	got := recording.Words(blindSpots(both, &compare.Result{Unseen: unseen}))
	want := []string{off.String(),
		"in 2 recordings 5 of 25 stacks could not be followed to their root: no rules 4, unmapped 1",
		"requests went through io_uring: neither their number nor how long each took is seen",
		"in 2 recordings 12 requests went through io_uring: how long each took, and on what, is not seen",
		"1 of 2 stacks, in other words", unseen[1].String(), unseen[2].String()}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got := recording.Words(blindSpots(a, &compare.Result{})); !slices.Contains(got, one.String()) {
		t.Errorf("%q: one recording's own words are kept", got)
	}
}
