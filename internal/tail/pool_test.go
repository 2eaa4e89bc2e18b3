package tail

import (
	"testing"
	"time"

	"culprit/internal/cause"
	"culprit/recording"
)

// A loop's short waits have neither call nor waker. They are for its pool where that forces data to
// disk while slow requests are in hand; a pool that does so at any time does it for somebody else.
func TestLoopWaitsForItsPool(t *testing.T) {
	for name, is := range map[string]struct {
		synced int64
		spread bool // over all of the time
		few    bool
		quick  bool // the calls took as long, no wait of theirs did
		want   cause.ID
	}{
		"for slow requests": {synced: 500e6, want: cause.FileSync},
		"on a quick disk":   {synced: 500e6, quick: true, want: cause.FileSync},
		"quick at any time": {synced: 500e6, quick: true, spread: true},
		"at any time":       {synced: 500e6, spread: true},
		"hardly ever":       {synced: 100e6},
		"who knows when":    {synced: 500e6, few: true},
	} {
		t.Run(name, func(t *testing.T) {
			rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
				request.Interleaved = true
				return []recording.RequestPart{{Class: recording.PartNet, TimeNs: request.TimeNs, LengthNs: 29e6,
					Stack: recording.NoStack}}
			})
			rec.Requests[0].NetNs = 580e6
			rec.Syscalls = []recording.Syscall{{Pid: 7, Tid: 9, Name: "fsync", Count: 400, TotalNs: is.synced},
				{Pid: 7, Tid: 8, Name: "fsync", TotalNs: 20e9}} // the loop's own are no wait for a pool
			for i := range rec.SlowRequests {
				one := &rec.SlowRequests[i]
				if !one.Slow || is.few && len(rec.Waits) == poolLeast-1 {
					continue
				}
				wait := recording.Wait{Pid: 7, Tid: 9, TimeNs: one.TimeNs + 5e6, BlockedNs: 2e6, Syscall: "fsync", Stack: 1}
				if is.spread {
					wait.TimeNs += int64(i%10) * 90e6
				}
				if is.quick {
					rec.Slow = append(rec.Slow, recording.Slow{Pid: 7, Tid: 9, TimeNs: wait.TimeNs, DurationNs: 2e6, Name: "fsync",
						Stack: 1})
					continue
				}
				rec.Waits = append(rec.Waits, wait)
			}
			result, first := Explain(rec, Options{Over: 10 * time.Millisecond}), cause.ID("")
			if len(result.Suspects) > 0 {
				first = result.Suspects[0].Cause
			}
			if first != is.want {
				t.Fatalf("%q, want %q: %+v", first, is.want, result.Suspects)
			}
			if is.want != "" && result.Suspects[0].Places[0].Name != "compact" {
				t.Errorf("place %+v, want where the pool waits", result.Suspects[0].Places)
			}
		})
	}
}
