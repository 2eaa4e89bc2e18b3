package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
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
	if why, broken, total := brokenByReason(rec); broken*50 > total {
		spots = append(spots, fmt.Sprintf("%d of %d stacks could not be followed to their root: %s", broken, total,
			mostFirst(why)))
	}
	if spot := uringSpot(rec); spot != "" {
		spots = append(spots, spot)
	}
	for _, loss := range rec.Manifest.Losses {
		spots = append(spots, fmt.Sprintf("lost: %s: %d", loss.What, loss.Count))
	}
	return spots
}

// brokenByReason counts on-CPU samples of the target whose stack did not reach its root, by why.
func brokenByReason(rec *recording.Recording) (why map[string]int, broken, total int) {
	why = map[string]int{}
	for _, sample := range rec.Samples {
		if sample.Signal != recording.SignalCPU || !sample.Target {
			continue
		}
		total++
		for _, name := range rec.StackNames(sample.Stack) {
			if reason, is := strings.CutPrefix(name, unwind.BrokenPrefix); is {
				why[strings.TrimSuffix(reason, "]")]++
				broken++
				break
			}
		}
	}
	return why, broken, total
}

// mostFirst lists counts, the largest first: "its mappings were not known yet 12, code without a file 3".
func mostFirst(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = fmt.Sprintf("%s %d", name, counts[name])
	}
	return strings.Join(parts, ", ")
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
