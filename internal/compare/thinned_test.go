package compare_test

import (
	"slices"
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/internal/compare/prepare"
	"culprit/recording"
)

// A side that gave up a probe half-way must not look as if it made fewer calls.
func TestThinnedSideIsNotLess(t *testing.T) {
	side := func(calls int64, thinned ...recording.Thinning) *recording.Recording {
		return small(func(rec *recording.Recording) {
			rec.Manifest.Thinned = thinned
			rec.Syscalls = []recording.Syscall{{Pid: 7, Tid: 7, Name: "write", Count: calls}}
			rec.Block = []recording.Block{{Device: "sda", Operation: "write", Pid: 7, Target: true, Count: 10}}
			rec.Locks = []recording.Lock{{Kind: recording.LockFutex, Pid: 7}, {Kind: recording.LockRWSem, Pid: 7}}
		})
	}
	whole, half := side(1000), side(400, recording.Thinning{Probe: "syscalls", Did: "detached"},
		recording.Thinning{Probe: "oncpu", Did: "50 Hz"})
	result := comparedPair(t, compare.MetricCPU, whole, half)
	for _, each := range result.Counts {
		if strings.Contains(each.Name, "write") && !strings.Contains(each.Name, "block") {
			t.Errorf("counted %+v, though B gave up counting", each)
		}
	}
	if a, b := count(t, result, counts.Block, ""); a != 10 || b != 10 {
		t.Errorf("counted %g and %g requests to disks, want 10: that probe went on", a, b)
	}
	told := slices.ContainsFunc(result.Unseen, func(spot recording.BlindSpot) bool {
		return spot.Kind == recording.BlindGivenUp && spot.What == "syscalls"
	})
	if !told {
		t.Errorf("unseen: %v", result.Unseen)
	}
	if len(whole.Syscalls) != 1 {
		t.Error("the recording itself was changed")
	}
	even, _ := prepare.Even([]*recording.Recording{side(1), side(1, recording.Thinning{Probe: "offcpu", Did: "detached"})})
	if len(even[0].Locks) != 1 || even[0].Locks[0].Kind != recording.LockRWSem {
		t.Errorf("locks of the side that gave up nothing: %+v", even[0].Locks)
	}
}
