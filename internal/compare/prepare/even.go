package prepare

import (
	"slices"

	"culprit/recording"
)

// detached is what a recording's manifest says of a probe that was given up to keep to --max-cost.
const detached = "detached"

// Even returns the recordings without what some of them saw for a part of the time only, because
// its probe was given up: a side that was thinned must not look as if it did less.
func Even(group []*recording.Recording) (even []*recording.Recording, givenUp []string) {
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
	slices.Sort(givenUp)
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
	isFutex := func(lock recording.Lock) bool { return lock.Kind == recording.LockFutex }
	isKernels := func(lock recording.Lock) bool { return lock.Kind != recording.LockFutex }
	switch probe {
	case "syscalls":
		rec.Syscalls, rec.Errors, rec.Slow = nil, nil, nil
	case "offcpu":
		rec.Waits, rec.Wakeups = nil, nil
		rec.Locks = slices.DeleteFunc(slices.Clone(rec.Locks), isFutex)
		signals = []string{recording.SignalOffCPU}
	case "kernellocks":
		rec.Locks = slices.DeleteFunc(slices.Clone(rec.Locks), isKernels)
	case "faults":
		signals = []string{recording.SignalFault, recording.SignalMajor, recording.SignalReclaim}
	case "block":
		rec.Block = nil
	case "network":
		rec.Network = nil
	}
	if signals != nil {
		rec.Samples = slices.DeleteFunc(slices.Clone(rec.Samples), func(sample recording.Sample) bool {
			return slices.Contains(signals, sample.Signal)
		})
	}
}
