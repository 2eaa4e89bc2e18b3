package lines

import (
	"slices"

	"culprit/recording"
)

// togetherLeast is the part of the time slices of a line's threads in which two of them must have
// been seen on different CPUs: threads that take turns (a task that its run time moves from thread
// to thread, one CPU for all) never have the line at the same time, and pass it on as seldom as
// they are switched. Two threads that shared a line had 2 to 20 of a hundred slices in common where
// ten others wanted the same two CPUs; one goroutine 0.4.
const togetherLeast = 0.01

// slice is one time slice of a process, seat a thread that was seen on a CPU.
type (
	slice struct {
		pid int32
		at  int64
	}
	seat struct{ tid, cpu int32 }
)

// meetings tells of threads whether they were seen on different CPUs at the same time; true where
// the samples do not say on which CPU they were taken.
func meetings(rec *recording.Recording) func(pid int32, threads map[int32]bool) bool {
	collects := collectors(rec) // beside the program's own task they say nothing of its line
	seen := map[slice][]seat{}
	for i := range rec.Samples {
		sample := &rec.Samples[i]
		if sample.Signal == recording.SignalCPU && sample.Target && sample.CPU >= 0 &&
			sample.Stack != recording.NoStack && !collects(sample.Tid, sample.Stack) {
			at := slice{sample.Pid, sample.TimeNs}
			seen[at] = append(seen[at], seat{sample.Tid, sample.CPU})
		}
	}
	return func(pid int32, threads map[int32]bool) bool {
		ran, both := 0, 0
		for at, seats := range seen {
			if at.pid != pid {
				continue
			}
			seats := slices.DeleteFunc(slices.Clone(seats), func(s seat) bool { return !threads[s.tid] })
			if len(seats) > 0 {
				ran++
			}
			if slices.ContainsFunc(seats, func(one seat) bool {
				return slices.ContainsFunc(seats, func(other seat) bool {
					return other.tid != one.tid && other.cpu != one.cpu
				})
			}) {
				both++
			}
		}
		return ran == 0 || float64(both) >= togetherLeast*float64(ran)
	}
}
