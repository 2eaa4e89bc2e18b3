package tail

import (
	"culprit/internal/cause"
	"culprit/recording"
)

// stoodStill is where a CPU stood still under a request: its host ran something else.
var stoodStill = bucket{cause: cause.CPUStarved, class: recording.PartQueued, kind: cause.InProcess,
	place: recording.Hypervisor}

// shareStandstill tells slow requests that used a CPU for longer from those whose CPU stood still.
// Where a sample was taken it says which; time without a sample is shared out as samples of such
// requests say. To the scheduler all of it is time on a CPU.
func shareStandstill(slow []*asked) {
	late, samples := 0, 0
	for _, a := range slow {
		for _, part := range a.parts {
			switch {
			case part.StoodStill():
				late++
				samples++
			case part.Class == recording.PartCPU && part.Stack != recording.NoStack:
				samples++
			}
		}
	}
	if late == 0 {
		return
	}
	share := float64(late) / float64(samples)
	for _, a := range slow {
		for b, spent := range a.spent {
			if b.cause == cause.CodeGrew && b.place == "" {
				a.spent[b] -= share * spent
				a.spent[stoodStill] += share * spent
			}
		}
	}
}
