package explain

import (
	"context"
	"fmt"
	"os"

	"culprit/internal/bench"
	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/host"
	"culprit/recording"
)

// Measure measures what the basic operations cost here and now, in nanoseconds by their names in
// package bench.
func Measure(ctx context.Context) (map[string]compare.Interval, error) {
	results, err := bench.Measure(ctx,
		append(bench.Quick(), bench.PageFault, bench.SwitchPipe, bench.ProcessStart)...)
	if err != nil {
		return nil, fmt.Errorf("measure unit costs: %w", err)
	}
	costs := map[string]compare.Interval{}
	for _, result := range results {
		costs[result.Name] = compare.Interval{Value: result.Ns, Low: result.Low, High: result.High}
	}
	return costs, nil
}

// MeasureFor does so where all recordings were made on this host and kernel: elsewhere operations
// cost something else, and none is known.
func MeasureFor(ctx context.Context,
	recordings []*recording.Recording) (map[string]compare.Interval, error) {
	name, _ := os.Hostname() // empty: no match, no costs
	here := host.Summarize("/")
	for _, rec := range recordings {
		if name == "" || rec.Manifest.Host != name || rec.Manifest.Kernel != here.Kernel {
			return nil, nil
		}
	}
	return Measure(ctx)
}

// CostsOf are measured costs as the catalogue takes them. One that was not measured is zero.
func CostsOf(measured map[string]compare.Interval) cause.Costs {
	get := func(name string) cause.Cost {
		cost := measured[name]
		return cause.Cost{Ns: cost.Value, Low: cost.Low, High: cost.High}
	}
	return cause.Costs{ClockVDSO: get(bench.ClockVDSO), ClockRaw: get(bench.ClockSyscall),
		Syscall: get(bench.SyscallBare), Fault: get(bench.PageFault), Switch: get(bench.SwitchPipe),
		Spawn: get(bench.ProcessStart)}
}
