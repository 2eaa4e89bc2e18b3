package tail

import (
	"testing"

	"culprit/internal/cause"
	"culprit/recording"
)

// Slow requests that ran for longer did more, unless samples say that their CPU stood still: also
// those that no sample met.
func TestCPUStandsStill(t *testing.T) {
	for name, c := range map[string]struct {
		late func(request int) bool // of each second request, which has a sample
		want cause.ID
	}{
		"no sample is late":        {func(int) bool { return false }, cause.CodeGrew},
		"one in ten is late":       {func(i int) bool { return i%20 == 0 }, cause.CodeGrew},
		"three in four are late":   {func(i int) bool { return i%8 != 0 }, cause.CPUStarved},
		"all are late, in a quota": {func(int) bool { return true }, cause.CPUStarved},
	} {
		slow := 0
		rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
			part := recording.RequestPart{Class: recording.PartCPU, TimeNs: request.TimeNs, LengthNs: 30e6,
				Stack: recording.NoStack}
			if slow++; slow%2 == 0 {
				if part.Stack = 0; c.late(slow) {
					part.Class, part.RunnerComm = recording.PartQueued, recording.Hypervisor
				}
			}
			return []recording.RequestPart{part}
		})
		if name == "all are late, in a quota" {
			rec.Metrics = []recording.Metric{{Name: throttledMetric, Scope: "/service"},
				{Name: throttledMetric, Scope: "/service", Value: 1}}
		}
		got := first(t, rec)
		if got.Cause != c.want {
			t.Errorf("%s: %q, want %q", name, got.Cause, c.want)
		}
		if c.want == cause.CPUStarved && (len(got.Places) != 1 || got.Places[0].Name != recording.Hypervisor) {
			t.Errorf("%s: %+v", name, got.Places)
		}
	}
}
