package format

import (
	"slices"

	"github.com/google/pprof/profile"

	"culprit/recording"
)

// column is one signal of a profile: its count, its time, or both.
type column struct {
	signal      string
	count, time int     // places among a sample's values; -1: none
	ns          float64 // of one unit of time
}

// columnsOf says which of a profile's values are which signal. CPU time comes
// with its samples, the delay of a lock with its contentions; every other type
// is a signal of its own name, which compare leaves alone.
func columnsOf(parsed *profile.Profile) []column {
	var columns []column
	taken := map[int]bool{}
	find := func(names ...string) int {
		return slices.IndexFunc(parsed.SampleType, func(t *profile.ValueType) bool { return slices.Contains(names, t.Type) })
	}
	take := func(signal string, timed, counted int) {
		if timed >= 0 && unitNs(parsed.SampleType[timed].Unit) == 0 {
			timed = -1
		}
		if timed < 0 && counted < 0 {
			return
		}
		one := column{signal: signal, count: counted, time: timed}
		if timed >= 0 {
			one.ns = unitNs(parsed.SampleType[timed].Unit)
			taken[timed] = true
		}
		if counted >= 0 {
			taken[counted] = true
		}
		columns = append(columns, one)
	}
	take(recording.SignalCPU, find("cpu", "on_cpu", "cpu-time"), find("samples", "sample"))
	take(recording.SignalOffCPU, find("delay", "offcpu", "off_cpu"), find("contentions", "waits"))
	for i, kind := range parsed.SampleType {
		if taken[i] {
			continue
		}
		name := cutText(kind.Type, maxText)
		if ns := unitNs(kind.Unit); ns > 0 {
			columns = append(columns, column{signal: name, count: -1, time: i, ns: ns})
		} else {
			columns = append(columns, column{signal: name, count: i, time: -1})
		}
	}
	return columns
}

func unitNs(unit string) float64 {
	switch unit {
	case "nanoseconds", "nanosecond", "ns":
		return 1
	case "microseconds", "microsecond", "us":
		return 1e3
	case "milliseconds", "millisecond", "ms":
		return 1e6
	case "seconds", "second", "s":
		return 1e9
	}
	return 0
}
