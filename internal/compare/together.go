package compare

import "culprit/recording"

const (
	// togetherLeast is the part of the time slices of a line's threads in which two of them must have been seen on
	// different CPUs: threads that take turns (a task that its run time moves from thread to thread, one CPU for all)
	// never have the line at the same time, and pass it on as seldom as they are switched. Two threads that shared a
	// line had 2 to 20 of a hundred slices in common where ten others wanted the same two CPUs; one goroutine 0.4.
	togetherLeast = 0.01
	// othersLeast is the part of a line's samples that must come from other threads than the one that has most.
	othersLeast = 0.05
)

// seat is a thread that was seen on a CPU.
type seat struct{ tid, cpu int32 }

// seatStack is a thread in one stack.
type seatStack struct{ tid, stack int32 }

// together tells of some threads whether they were seen on different CPUs at the same time; true where the samples
// do not say on which CPU they were taken.
func together(rec *recording.Recording) func(pid int32, threads map[int32]bool) bool {
	collects := collectors(rec) // beside the program's own task they say nothing of its line
	collecting := map[seatStack]bool{}
	slices := map[int32]map[int64]map[seat]bool{}
	for i := range rec.Samples {
		sample := &rec.Samples[i]
		if sample.Signal != recording.SignalCPU || !sample.Target || sample.CPU < 0 || sample.Stack == recording.NoStack {
			continue
		}
		at := seatStack{sample.Tid, sample.Stack}
		known, seen := collecting[at]
		if !seen {
			known = collects(sample.Tid, sample.Stack)
			collecting[at] = known
		}
		if known {
			continue
		}
		bySlice := slices[sample.Pid]
		if bySlice == nil {
			bySlice = map[int64]map[seat]bool{}
			slices[sample.Pid] = bySlice
		}
		if bySlice[sample.TimeNs] == nil {
			bySlice[sample.TimeNs] = map[seat]bool{}
		}
		bySlice[sample.TimeNs][seat{sample.Tid, sample.CPU}] = true
	}
	return func(pid int32, threads map[int32]bool) bool {
		ran, both := 0, 0
		for _, seats := range slices[pid] {
			any, two := crossed(seats, threads)
			if any {
				ran++
			}
			if two {
				both++
			}
		}
		return ran == 0 || float64(both) >= togetherLeast*float64(ran)
	}
}

// crossed reports whether any of the threads has a seat, and whether two of them have seats on different CPUs.
func crossed(seats map[seat]bool, threads map[int32]bool) (any, two bool) {
	for one := range seats {
		if !threads[one.tid] {
			continue
		}
		any = true
		for other := range seats {
			two = two || threads[other.tid] && other.tid != one.tid && other.cpu != one.cpu
		}
	}
	return any, two
}
