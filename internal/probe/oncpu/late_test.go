package oncpu

import (
	"testing"
	"time"

	"culprit/internal/probe/unwind"
)

// Samples that come late by their CPU's grid are told, wherever the grid lies; where most samples
// keep to none, none is.
func TestLateSamples(t *testing.T) {
	const period = int64(time.Second) / 99
	ticks := func(cpu int32, from int64, delays ...time.Duration) (traces []unwind.Trace) {
		for n := range 40 {
			delay := delays[n%len(delays)]
			traces = append(traces, unwind.Trace{CPU: cpu, KtimeNs: from + int64(n)*period + int64(delay)})
		}
		return traces
	}
	late := func(traces []unwind.Trace) (count int) {
		markLate(traces, period)
		for i := range traces {
			if traces[i].Late {
				count++
			}
		}
		return count
	}
	const micro = time.Microsecond
	for _, c := range []struct {
		name   string
		traces []unwind.Trace
		want   int
	}{
		{"all on time", ticks(0, 12345, 3*micro, 40*micro, 90*micro, 9*micro), 0},
		{"each tenth late", ticks(0, 12345, 3*micro, 0, 90*micro, 9*micro, 1, 2, 3, 4, 5, 4*time.Millisecond), 4},
		{"across the end of a period", ticks(0, period-20_000, 3*micro, 40*micro, 90*micro, 3*time.Millisecond), 10},
		{"two CPUs with grids of their own", append(ticks(0, 5_000_000, micro, 2*micro, 2*time.Millisecond, 9*micro),
			ticks(1, 1_000_000, micro, 2*micro, 9*micro, 3*micro)...), 10},
		{"a clock that was started anew", append(ticks(0, 0, micro)[:20], ticks(0, 30*period+period/2, micro)[:20]...), 0},
		{"too few", ticks(0, 0, micro, 3*time.Millisecond)[:leastOnGrid-1], 0},
	} {
		if got := late(c.traces); got != c.want {
			t.Errorf("%s: %d are late, want %d", c.name, got, c.want)
		}
	}
	left := ticks(0, 0, micro)
	left[5].KtimeNs += int64(4 * time.Millisecond)
	left[5].LeftCPU = true // taken at a switch-out: at any time
	if got := late(left); got != 0 {
		t.Errorf("%d stacks that no clock took are late", got)
	}
}
