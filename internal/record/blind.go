package record

import (
	"cmp"
	"slices"

	"culprit/internal/probe/syscalls"
	"culprit/internal/probe/unwind"
	"culprit/recording"
)

// blindSpots says what this recording could not see; what a probe says of itself is in the manifest
// already.
func blindSpots(rec *recording.Recording, unwinder *unwind.Unwinder, forever bool) []recording.BlindSpot {
	spots := append([]recording.BlindSpot{{Kind: recording.BlindInterrupts}}, rec.Manifest.BlindSpots...)
	for _, status := range rec.Manifest.Probes {
		if !status.On {
			spots = append(spots, recording.BlindSpot{Kind: recording.BlindProbe, What: status.Name,
				Why: status.Why})
		}
	}
	if unwinder != nil {
		for _, late := range unwinder.Late() {
			spots = append(spots, recording.BlindSpot{Kind: recording.BlindUnwinder, What: late})
		}
	}
	if why, broken, total := brokenByReason(rec); broken*50 > total {
		spots = append(spots, recording.BlindSpot{Kind: recording.BlindStacks, Count: broken, Of: total,
			Reasons: mostFirst(why)})
	}
	if forever {
		spots = append(spots, shortSpots(rec)...)
	}
	spots = append(spots, uringSpots(rec)...)
	return append(spots, recording.Lost(rec.Manifest.Losses)...)
}

// brokenByReason counts on-CPU samples of the target whose stack did not reach its root, by why.
func brokenByReason(rec *recording.Recording) (why map[string]int64, broken, total int64) {
	why = map[string]int64{}
	for _, sample := range rec.Samples {
		if sample.Signal != recording.SignalCPU || !sample.Target {
			continue
		}
		total++
		for _, frame := range rec.StackFrames(sample.Stack) {
			if reason, is := frame.Broken(); is {
				why[reason]++
				broken++
				break
			}
		}
	}
	return why, broken, total
}

// mostFirst lists counts, the largest first.
func mostFirst(counts map[string]int64) []recording.BlindReason {
	reasons := make([]recording.BlindReason, 0, len(counts))
	for why, count := range counts {
		reasons = append(reasons, recording.BlindReason{Why: why, Count: count})
	}
	slices.SortFunc(reasons, func(a, b recording.BlindReason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Why, b.Why))
	})
	return reasons
}

// shortSpots counts the processes that were left alone, for they came and went without a stack
// (Options.Forever).
func shortSpots(rec *recording.Recording) []recording.BlindSpot {
	stacks := withStacks(rec)
	var without, all int64
	for i := range rec.Processes {
		if process := &rec.Processes[i]; cameAndWent(process) {
			all++
			if !stacks[process.Pid] {
				without++
			}
		}
	}
	if without == 0 {
		return nil
	}
	return []recording.BlindSpot{{Kind: recording.BlindShort, Count: without, Of: all}}
}

// withStacks are the processes that a sample with a stack is of.
func withStacks(rec *recording.Recording) map[int32]bool {
	stacks := map[int32]bool{}
	for i := range rec.Samples {
		if rec.Samples[i].Stack != recording.NoStack {
			stacks[rec.Samples[i].Pid] = true
		}
	}
	return stacks
}

// uringSpots says that the target used io_uring, whose requests are no system calls.
func uringSpots(rec *recording.Recording) []recording.BlindSpot {
	for _, counter := range rec.Counters {
		if counter.Name == syscalls.CounterSubmitted {
			return []recording.BlindSpot{{Kind: recording.BlindURing, Count: counter.Value}}
		}
	}
	for _, call := range rec.Syscalls {
		if call.Name == "io_uring_enter" {
			return []recording.BlindSpot{{Kind: recording.BlindURing}}
		}
	}
	return nil
}
