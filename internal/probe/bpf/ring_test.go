package bpf

import (
	"slices"
	"testing"
	"time"
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

// A ring that is patient is emptied seldom until it fills, and seldom again when it does not any
// more.
func TestPatientRingHurriesWhereItFills(t *testing.T) {
	for _, test := range []struct {
		patient bool
		used    int
		want    time.Duration
	}{{false, 0, drainEvery}, {false, 1 << 20, drainEvery}, {true, 0, patientEvery}, {true, 1<<18 - 1, patientEvery},
		{true, 1 << 18, drainEvery}, {true, 1 << 20, drainEvery}} {
		ring := &Ring[int]{calm: drainEvery}
		if test.patient {
			ring.Patient()
		}
		if got := ring.pauseAfter(test.used, 1<<20); got != test.want {
			t.Errorf("patient %v, %d of 1 MiB used: %v, want %v", test.patient, test.used, got, test.want)
		}
	}
}
