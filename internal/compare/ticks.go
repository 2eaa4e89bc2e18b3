package compare

import (
	"sort"

	"culprit/recording"
)

const (
	// A ticker wakes at least this often in a run and this many times a second …
	fewestTicks          = 20
	fewestTicksPerSecond = 15
	// … with this part of the intervals within this part of their median …
	regularPart   = 0.6
	regularSpread = 0.35
	// … over at least this part of the run.
	tickingPart = 0.5
	// A thread that ticks sleeps nearly always; in a process another thread may work meanwhile.
	threadAsleep  = 0.8
	processAsleep = 0.5
)

// ticks reports whether waits, in order of time, are those of a ticker, and
// the median time between its wake-ups. asleepPart of the time it must sleep.
func (r *run) ticks(waits []*recording.Wait, asleepPart float64) (ticking bool, tickNs int64) {
	var woken []int64
	var asleepNs int64
	for _, wait := range waits {
		if wait.WakerKind == recording.WakerTimer && wait.BlockedNs > 0 && !r.isNap(wait) {
			woken = append(woken, wait.TimeNs+wait.BlockedNs)
			asleepNs += wait.BlockedNs + wait.RunqueueNs // waiting for a CPU is no work either
		}
	}
	if len(woken) < fewestTicks {
		return false, 0
	}
	sort.Slice(woken, func(i, j int) bool { return woken[i] < woken[j] })
	span := woken[len(woken)-1] - woken[0]
	intervals := make([]int64, 0, len(woken)-1)
	for i := 1; i < len(woken); i++ {
		intervals = append(intervals, woken[i]-woken[i-1])
	}
	sort.Slice(intervals, func(i, j int) bool { return intervals[i] < intervals[j] })
	tickNs = intervals[len(intervals)/2]
	near := 0
	for _, interval := range intervals {
		if d := float64(interval - tickNs); d <= regularSpread*float64(tickNs) && d >= -regularSpread*float64(tickNs) {
			near++
		}
	}
	regular := float64(near) >= regularPart*float64(len(intervals))
	often := float64(len(woken)) >= fewestTicksPerSecond*float64(span)/1e9
	long := float64(span) >= tickingPart*float64(r.endNs-r.startNs)
	asleep := float64(asleepNs) >= asleepPart*float64(span)
	return regular && often && long && asleep, tickNs
}

// processTicks finds the ticking of whole processes: a runtime that schedules
// its own tasks (Go) lets any of its threads take a tick, so that no thread alone is regular.
func (r *run) processTicks() map[int32]int64 {
	waits := map[int32][]*recording.Wait{}
	for _, t := range r.threads() {
		if !r.monitors(t) {
			waits[t.pid] = append(waits[t.pid], t.waits...)
		}
	}
	found := map[int32]int64{}
	for pid, list := range waits {
		if ticking, tickNs := r.ticks(list, processAsleep); ticking {
			found[pid] = tickNs
		}
	}
	return found
}

// rhythms are the places where threads tick whose waits are too short to be kept whole: the recorder's own account of
// the rhythm of each place, by thread, the most frequent of each.
func (r *run) rhythms() map[int32]*recording.Wakeup {
	found := map[int32]*recording.Wakeup{}
	for i := range r.rec.Wakeups {
		row := &r.rec.Wakeups[i]
		if known := found[row.Tid]; r.isRhythm(row) && (known == nil || known.Count < row.Count) {
			found[row.Tid] = row
		}
	}
	return found
}

// isRhythm holds a place to what ticks asks of waits.
func (r *run) isRhythm(row *recording.Wakeup) bool {
	interval := float64(row.IntervalNs)
	spanNs := float64(row.Count) * interval
	return row.WakerKind == recording.WakerTimer && row.Count >= fewestTicks &&
		interval > 0 && fewestTicksPerSecond*interval <= 1e9 && float64(row.SpreadNs) <= regularSpread*interval &&
		spanNs >= tickingPart*float64(r.endNs-r.startNs) && float64(row.CPUNs) <= (1-threadAsleep)*spanNs
}

// setTicking finds the threads that tick: by their waits, or where most of those were too short to be kept by the
// rhythm of the place.
func (r *run) setTicking() {
	rhythms := r.rhythms()
	for _, t := range r.thread {
		if r.monitors(t) {
			continue
		}
		t.ticking, t.tickNs = r.ticks(t.waits, threadAsleep)
		if row := rhythms[t.tid]; row != nil && !t.ticking && int64(timerWaits(t)) < row.Count/2 {
			t.ticking, t.tickNs, t.ticked = true, row.IntervalNs, row.Count
		}
	}
}

func timerWaits(t *thread) int {
	woken := 0
	for _, wait := range t.waits {
		if wait.WakerKind == recording.WakerTimer && wait.BlockedNs > 0 {
			woken++
		}
	}
	return woken
}
