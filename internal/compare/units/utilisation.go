package units

import "culprit/recording"

// CPUsBusy is how many CPUs a recording's target kept busy; false where it does not tell.
func CPUsBusy(rec *recording.Recording) (cpus float64, told bool) {
	window, used := windowSeconds(rec), cpuSeconds(rec)
	if window <= 0 || used <= 0 {
		return 0, false
	}
	return used / window, true
}

// BusiestThread is the part of the time for which that thread of the target was on a CPU which was
// so most: of an event loop how full it is, whatever the host has to spare.
func BusiestThread(rec *recording.Recording) (part float64, told bool) {
	window := windowSeconds(rec)
	for i := range rec.Threads {
		if used := rec.Threads[i].CPUNs; recording.Plausible(used) && window > 0 {
			part = max(part, float64(used)/1e9/window)
		}
	}
	return min(1, part), part > 0
}

// busyMetric counts the seconds for which each CPU of the host was busy, whoever ran there.
const busyMetric = "cpu.busy_s"

// HostBusy is the part of the time for which the CPUs of the host were busy with anything while a
// recording was made.
func HostBusy(rec *recording.Recording) (part float64, told bool) {
	type counter struct {
		first, last     float64
		firstNs, lastNs int64
	}
	cpus := map[string]*counter{}
	for i := range rec.Metrics {
		row := &rec.Metrics[i]
		if row.Name != busyMetric || !(row.Value >= 0) {
			continue
		}
		c := cpus[row.Scope]
		if c == nil {
			c = &counter{row.Value, row.Value, row.TimeNs, row.TimeNs}
			cpus[row.Scope] = c
		}
		if row.TimeNs < c.firstNs {
			c.first, c.firstNs = row.Value, row.TimeNs
		}
		if row.TimeNs > c.lastNs {
			c.last, c.lastNs = row.Value, row.TimeNs
		}
	}
	seconds := windowSeconds(rec)
	for _, gap := range rec.Manifest.Gaps { // in which the counters go on and the recording's clock does not
		if recording.Plausible(gap.LengthNs) {
			seconds += float64(gap.LengthNs) / 1e9
		}
	}
	busy, moved := 0.0, false
	for _, c := range cpus {
		busy += max(0, c.last-c.first)
		moved = moved || c.lastNs > c.firstNs
	}
	if !moved || seconds <= 0 {
		return 0, false
	}
	return min(1, busy/float64(len(cpus))/seconds), true
}
