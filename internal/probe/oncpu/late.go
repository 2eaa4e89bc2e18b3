package oncpu

import (
	"slices"
	"time"

	"culprit/internal/probe/unwind"
)

// A virtual machine's CPU stands still while its host runs something else. Few hosts tell, and to
// the scheduler the thread ran on. But the sampling clock keeps to a grid (hrtimer_forward adds
// whole periods, kernel/events/core.c): a sample that should have come meanwhile comes when the CPU
// goes on. So late samples are to the time in which a CPU stood still what all samples are to time.

const (
	// lateBy is how far behind its grid a sample is late. 99 in 100 come within 0.05 ms, on an idle
	// host and on a busy one; code of the kernel that runs without interrupts holds them up as well.
	lateBy = 500 * time.Microsecond
	// onTime is the width of the grid's lines.
	onTime = 250 * time.Microsecond
	// leastOnGrid is how many samples of a CPU show its grid, more than half of which lie on it: the
	// kernel stops the clock now and then (perf_event_max_sample_rate), and starts it on another.
	leastOnGrid = 8
)

// markLate marks the samples, taken at a fixed period, that came late.
func markLate(traces []unwind.Trace, period int64) {
	phases := map[int32][]int64{}
	for i := range traces {
		if trace := &traces[i]; !trace.LeftCPU {
			phases[trace.CPU] = append(phases[trace.CPU], trace.KtimeNs%period)
		}
	}
	grids := map[int32]int64{}
	for cpu, of := range phases {
		if at, found := gridOf(of, period); found {
			grids[cpu] = at
		}
	}
	for i := range traces {
		trace := &traces[i]
		grid, found := grids[trace.CPU]
		if trace.LeftCPU || !found {
			continue
		}
		behind := (trace.KtimeNs - grid + period) % period
		trace.Late = behind > int64(lateBy) && behind < period-int64(onTime)
	}
}

// gridOf finds the phase at which most samples come.
func gridOf(phases []int64, period int64) (at int64, found bool) {
	if len(phases) < leastOnGrid || period <= int64(lateBy+onTime) {
		return 0, false
	}
	slices.Sort(phases)
	most, end := 0, 0
	for first, from := range phases {
		for end < first+len(phases) && phaseAt(phases, end, period)-from <= int64(onTime) {
			end++
		}
		if end-first > most {
			most, at = end-first, from
		}
	}
	return at, 2*most > len(phases)
}

// phaseAt is one of the sorted phases, and behind the last the first ones of the next period.
func phaseAt(phases []int64, i int, period int64) int64 {
	return phases[i%len(phases)] + int64(i/len(phases))*period
}
