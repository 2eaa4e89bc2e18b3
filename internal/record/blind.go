package record

import (
	"fmt"
	"strings"

	"culprit/internal/probe/syscalls"
	"culprit/internal/probe/unwind"
	"culprit/recording"
)

// blindSpots says what this recording could not see.
func blindSpots(rec *recording.Recording, unwinder *unwind.Unwinder, options Options) []string {
	spots := []string{
		"code that runs with interrupts off is booked where they come on again (software clock sampling)",
	}
	for _, status := range rec.Manifest.Probes {
		if !status.On {
			spots = append(spots, fmt.Sprintf("%s: not recorded (%s)", status.Name, status.Why))
		}
	}
	if unwinder != nil {
		for _, late := range unwinder.Late() {
			spots = append(spots, late+": the first such process came up within the recording; its unwinder "+
				"was loaded then, stacks before have no frames of it")
		}
	}
	if broken, total := brokenSamples(rec); broken*50 > total {
		spots = append(spots, fmt.Sprintf("%d of %d stacks could not be followed to their root", broken, total))
	}
	if spot := uringSpot(rec); spot != "" {
		spots = append(spots, spot)
	}
	for _, loss := range rec.Manifest.Losses {
		spots = append(spots, fmt.Sprintf("lost: %s: %d", loss.What, loss.Count))
	}
	return spots
}

// brokenSamples counts on-CPU samples of the target whose stack did not reach its root.
func brokenSamples(rec *recording.Recording) (broken, total int) {
	for _, sample := range rec.Samples {
		if sample.Signal != recording.SignalCPU || !sample.Target {
			continue
		}
		total++
		for _, name := range rec.StackNames(sample.Stack) {
			if strings.HasPrefix(name, unwind.BrokenPrefix) {
				broken++
				break
			}
		}
	}
	return broken, total
}

// uringSpot says that the target used io_uring, whose requests are no system calls.
func uringSpot(rec *recording.Recording) string {
	for _, counter := range rec.Counters {
		if counter.Name == syscalls.CounterSubmitted {
			return fmt.Sprintf("%d requests went through io_uring: how long each took, and on what, is not seen",
				counter.Value)
		}
	}
	for _, call := range rec.Syscalls {
		if call.Name == "io_uring_enter" {
			return "requests went through io_uring: neither their number nor how long each took is seen"
		}
	}
	return ""
}
