package compare

import (
	"slices"
	"sort"

	"culprit/recording"
)

// detached is what a recording's manifest says of a probe that was given up to keep to --max-cost.
const detached = "detached"

// evenOut returns the recordings without what some of them saw for a part of the time only, because its probe was given
// up: a side that was thinned must not look as if it did less. The recordings that it is given stay as they are.
func evenOut(group []*recording.Recording) (even []*recording.Recording, givenUp []string) {
	for _, rec := range group {
		for _, step := range rec.Manifest.Thinned {
			if step.Did == detached && !slices.Contains(givenUp, step.Probe) {
				givenUp = append(givenUp, step.Probe)
			}
		}
	}
	if len(givenUp) == 0 {
		return group, nil
	}
	sort.Strings(givenUp)
	for _, rec := range group {
		reduced := *rec
		for _, probe := range givenUp {
			drop(&reduced, probe)
		}
		even = append(even, &reduced)
	}
	return even, givenUp
}

// drop takes out the rows that a probe has made.
func drop(rec *recording.Recording, probe string) {
	var signals []string
	switch probe {
	case "syscalls":
		rec.Syscalls, rec.Errors, rec.Slow = nil, nil, nil
	case "offcpu":
		rec.Waits, rec.Wakeups = nil, nil
		rec.Locks = keep(rec.Locks, func(lock recording.Lock) bool { return lock.Kind != recording.LockFutex })
		signals = []string{recording.SignalOffCPU}
	case "kernellocks":
		rec.Locks = keep(rec.Locks, func(lock recording.Lock) bool { return lock.Kind == recording.LockFutex })
	case "faults":
		signals = []string{recording.SignalFault, recording.SignalMajor, recording.SignalReclaim}
	case "block":
		rec.Block = nil
	case "network":
		rec.Network = nil
	}
	if signals != nil {
		rec.Samples = keep(rec.Samples, func(sample recording.Sample) bool {
			return !slices.Contains(signals, sample.Signal)
		})
	}
}

func keep[Row any](rows []Row, wanted func(Row) bool) (kept []Row) {
	for _, row := range rows {
		if wanted(row) {
			kept = append(kept, row)
		}
	}
	return kept
}
