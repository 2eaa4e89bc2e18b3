package cause

import (
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// What the kernel's stack tells of slow operations is listed with its cost, unless it is a suspect
// or tells nothing.
func TestSmallStallsAreAlsoSeen(t *testing.T) {
	rec := &recording.Recording{Manifest: recording.Manifest{Metrics: map[string]float64{compare.MetricWall: 10}}}
	for _, name := range []string{"do_get_write_access", "folio_wait_writeback", "futex_wait"} {
		rec.Stacks = append(rec.Stacks, recording.Stack{Frames: []int32{int32(len(rec.Frames))}})
		rec.Frames = append(rec.Frames, recording.Frame{Name: name, Kind: recording.KindKernel})
	}
	slow := func(stack, stall int32, call, object string, blockedMs int64) {
		rec.Slow = append(rec.Slow, recording.Slow{Stack: stack, Stall: stall, Name: call, Object: object,
			BlockedNs: blockedMs * 1e6, WakerStack: recording.NoStack})
	}
	slow(0, 1, "write", "/log/a", 40)
	slow(0, 1, "write", "/log/b", 60) // the same stall, of another thread
	slow(0, 2, "write", "/log/a", 100)
	slow(1, 3, "fsync", "/log/a", 50)
	slow(2, 4, "futex", "", 900)       // says nothing of the kernel's own
	slow(0, 0, "write", "/log/a", 700) // waited for a CPU, not in the kernel
	seen := AlsoSeen(rec, nil)
	want := []Seen{{Cause: "file.journal", Function: "do_get_write_access", Call: "write", Object: "/log/a", Stalls: 2,
		Seconds: 0.2, Shortest: 0.04, Longest: 0.1, Share: 0.02},
		{Cause: "file.sync", Function: "folio_wait_writeback", Call: "fsync", Object: "/log/a", Stalls: 1,
			Seconds: 0.05, Shortest: 0.05, Longest: 0.05, Share: 0.005}}
	if len(seen) != 2 || seen[0] != want[0] || seen[1] != want[1] {
		t.Errorf("got %+v, want %+v", seen, want)
	}
	if left := AlsoSeen(rec, []Suspect{{Cause: "file.journal"}}); len(left) != 1 || left[0] != want[1] {
		t.Errorf("beside a suspect of the journal: %+v", left)
	}
}
