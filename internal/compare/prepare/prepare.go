// Package prepare makes recordings fit to be compared: the part between two moments, the metrics
// that their maker could not know, and both sides without what one saw for a part of the time.
//
// It refuses a part that lies outside of the recording. What it is given stays as it is.
//
//	part, err := prepare.Cut(rec, 1e9, 3e9) // seconds 1 to 3
//	part = prepare.Measured(part)           // Metrics["wall"] is 2
package prepare

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"culprit/recording"
)

// Measured returns the recording with the metrics that its maker could not know: the length of the
// window as wall time; as CPU time the scheduler's account of the threads, or where there is none
// (another tool's file) the sum of the samples. What stands in the manifest stays.
func Measured(rec *recording.Recording) *recording.Recording {
	full := *rec
	full.Manifest.Metrics = map[string]float64{recording.MetricCPU: cpuSeconds(rec)}
	if recording.Plausible(rec.Manifest.WindowNs) {
		full.Manifest.Metrics[recording.MetricWall] = float64(rec.Manifest.WindowNs) / 1e9
	}
	maps.Copy(full.Manifest.Metrics, rec.Manifest.Metrics)
	return &full
}

func cpuSeconds(rec *recording.Recording) (used float64) {
	for i := range rec.Threads {
		if recording.Plausible(rec.Threads[i].CPUNs) {
			used += float64(rec.Threads[i].CPUNs) / 1e9
		}
	}
	if used > 0 {
		return used
	}
	for i := range rec.Samples {
		sample := &rec.Samples[i]
		if sample.Signal == recording.SignalCPU && sample.Target && recording.Plausible(sample.ValueNs) {
			used += float64(sample.ValueNs) / 1e9
		}
	}
	return used
}

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
	case "cpi":
		signals = []string{recording.SignalCycles, recording.SignalInstructions}
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

// Cut returns the part of a recording between two moments, in nanoseconds since its beginning.
// Samples and waits are cut at the edges, and facts are what held longest in the part. System calls
// and the scheduler's accounts are totals of the whole window: they are left out, and a blind spot
// says so.
func Cut(rec *recording.Recording, fromNs, toNs int64) (*recording.Recording, error) {
	if fromNs < 0 || toNs <= fromNs || toNs > rec.Manifest.WindowNs {
		return nil, fmt.Errorf("window %v to %v does not lie within the recording, which is %v long",
			seconds(fromNs), seconds(toNs), seconds(rec.Manifest.WindowNs))
	}
	cut := &recording.Recording{Manifest: rec.Manifest, Frames: rec.Frames, Stacks: rec.Stacks,
		Dependencies: rec.Dependencies}
	cut.Facts, cut.Manifest.Held = recording.FactsBetween(rec.Facts, rec.Manifest.Held, fromNs, toNs)
	cut.Requests = cutRequests(rec, fromNs, toNs)
	cut.Manifest.WindowNs = toNs - fromNs
	if !rec.Manifest.StartedAt.IsZero() {
		cut.Manifest.StartedAt = rec.Manifest.StartedAt.Add(time.Duration(fromNs))
	}
	cut.Manifest.Metrics, cut.Manifest.Restarts = nil, nil
	if cut.Manifest.Target.Kind == "command" {
		// It has no end here that something held up.
		cut.Manifest.Target.Kind = "pid"
	}
	cut.Manifest.BlindSpots = append(cut.Manifest.WithoutRestarts(),
		recording.BlindSpot{Kind: recording.BlindCut,
			What: fmt.Sprintf("%v to %v", seconds(fromNs), seconds(toNs))})
	cut.Manifest.AddRestarts(recording.Between(rec.Manifest.Restarts, fromNs, toNs)...)
	within := func(timeNs *int64) bool {
		in := *timeNs >= fromNs && *timeNs < toNs
		*timeNs -= fromNs
		return in
	}
	for _, sample := range rec.Samples {
		if within(&sample.TimeNs) {
			cut.Samples = append(cut.Samples, sample)
		}
	}
	for _, wait := range rec.Waits {
		if cutWait(&wait, fromNs, toNs) {
			cut.Waits = append(cut.Waits, wait)
		}
	}
	for _, process := range rec.Processes {
		if lived(&process.StartNs, &process.EndNs, fromNs, toNs) {
			process.CPUNs = 0
			cut.Processes = append(cut.Processes, process)
		}
	}
	for _, thread := range rec.Threads {
		if lived(&thread.StartNs, &thread.EndNs, fromNs, toNs) {
			thread.CPUNs, thread.RunqueueNs = 0, 0
			thread.Voluntary, thread.Involuntary, thread.Migrations = 0, 0, 0
			cut.Threads = append(cut.Threads, thread)
		}
	}
	for _, slow := range rec.Slow {
		if within(&slow.TimeNs) {
			cut.Slow = append(cut.Slow, slow)
		}
	}
	return cut, nil
}

func seconds(ns int64) string { return fmt.Sprintf("%.6gs", float64(ns)/1e9) }

// cutWait takes from a wait what lies outside of a stretch; false when nothing is left.
func cutWait(wait *recording.Wait, fromNs, toNs int64) bool {
	woken, end := wait.WokenNs(), wait.EndNs()
	if !recording.Plausible(wait.TimeNs, wait.BlockedNs, wait.RunqueueNs) || end <= fromNs ||
		wait.TimeNs >= toNs {
		return false
	}
	start := max(wait.TimeNs, fromNs)
	woken = min(max(woken, fromNs), toNs)
	wait.TimeNs, wait.BlockedNs, wait.RunqueueNs = start-fromNs, woken-start, min(end, toNs)-woken
	return true
}

// lived moves the beginning and the end of a life into a stretch; false when it lies outside.
func lived(startNs, endNs *int64, fromNs, toNs int64) bool {
	if *startNs >= toNs || *endNs != 0 && *endNs <= fromNs {
		return false
	}
	*startNs = max(0, *startNs-fromNs)
	if *endNs != 0 {
		if *endNs -= fromNs; *endNs > toNs-fromNs {
			*endNs = 0
		}
	}
	return true
}
