package prepare

import (
	"fmt"
	"slices"
	"time"

	"culprit/recording"
)

// Cut returns the part of a recording between two moments, in nanoseconds since its beginning.
// Samples and waits are cut at the edges. System calls and the scheduler's accounts are totals of
// the whole window: they are left out, and a blind spot says so.
func Cut(rec *recording.Recording, fromNs, toNs int64) (*recording.Recording, error) {
	if fromNs < 0 || toNs <= fromNs || toNs > rec.Manifest.WindowNs {
		return nil, fmt.Errorf("window %v to %v does not lie within the recording, which is %v long",
			seconds(fromNs), seconds(toNs), seconds(rec.Manifest.WindowNs))
	}
	cut := &recording.Recording{Manifest: rec.Manifest, Facts: rec.Facts, Frames: rec.Frames,
		Stacks: rec.Stacks}
	cut.Manifest.WindowNs = toNs - fromNs
	if !rec.Manifest.StartedAt.IsZero() {
		cut.Manifest.StartedAt = rec.Manifest.StartedAt.Add(time.Duration(fromNs))
	}
	cut.Manifest.Metrics = nil
	if cut.Manifest.Target.Kind == "command" {
		// It has no end here that something held up.
		cut.Manifest.Target.Kind = "pid"
	}
	cut.Manifest.BlindSpots = append(slices.Clone(rec.Manifest.BlindSpots), recording.BlindSpot{
		Kind: recording.BlindCut, What: fmt.Sprintf("%v to %v", seconds(fromNs), seconds(toNs))})
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
