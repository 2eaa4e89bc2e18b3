package bpf

import (
	"slices"
	"testing"
	"time"

	"culprit/internal/probe/beat"
)

// What is kept comes back in order, up to the limit, and is then forgotten.
func TestRingKeepsInPieces(t *testing.T) {
	ring := &Ring[int]{}
	var want []int
	for i := range 3*chunkEvents + 7 {
		ring.keep(i)
		want = append(want, i)
	}
	for range 2 {
		events, over, err := ring.Take()
		if !slices.Equal(events, want) || over != 0 || err != nil || ring.count != 0 {
			t.Fatalf("%d events, %d over, %v, %d left", len(events), over, err, ring.count)
		}
		want = nil
	}
}

// A ring of a recorder of the whole host is emptied seldom until it fills, and seldom again when it
// does not any more.
func TestRingHurriesWhereItFills(t *testing.T) {
	for _, test := range []struct {
		wholeHost bool
		used      int
		want      time.Duration
	}{{false, 0, DrainEvery}, {false, 1 << 20, DrainEvery}, {true, 0, beat.Seldom}, {true, 1<<18 - 1, beat.Seldom},
		{true, 1 << 18, DrainEvery}, {true, 1 << 20, DrainEvery}} {
		ring := &Ring[int]{calm: Options{WholeHost: test.wholeHost}.Pause()}
		if got := ring.pauseAfter(test.used, 1<<20); got != test.want {
			t.Errorf("whole host %v, %d of 1 MiB used: %v, want %v", test.wholeHost, test.used, got, test.want)
		}
	}
}
