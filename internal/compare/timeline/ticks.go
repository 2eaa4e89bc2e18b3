package timeline

import (
	"math"
	"slices"

	"culprit/internal/code"
	"culprit/recording"
)

// All chosen: no verdict of the corpus changes a quarter below or above.
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

// WokenByTimer reports whether a timer ended a wait. Looking again whether a lock is free
// (CPython's take_gil, each switch interval) is waiting for the lock, not for the timer.
func (r *Run) WokenByTimer(wait *recording.Wait) bool {
	return wait.WakerKind == recording.WakerTimer && wait.BlockedNs > 0 && !r.IsLock(wait) &&
		!r.forRequests(wait.Tid, wait.Syscall)
}

// forRequests reports whether a thread sleeps for the requests that it answers, however regular
// that is under load. The timers of its event loop are none of theirs.
func (r *Run) forRequests(tid int32, call string) bool {
	return r.serving[tid] && !code.Polls(call)
}

// clocked is the part of a thread's waits that a timer ends at least where it works by the clock.
// Chosen.
const clocked = 0.95

// ByTheClock reports whether a thread of a service works by the clock alone, beside the threads
// that answer its requests: it waits for nothing but a timer, and for locks. Nobody hands it work,
// so that nobody waits for it while it sleeps.
func (r *Run) ByTheClock(t *Thread) bool {
	if len(r.serving) == 0 || r.serving[t.Tid] {
		return false
	}
	timed, all := 0, 0
	for _, wait := range t.Waits {
		if wait.BlockedNs == 0 || r.IsLock(wait) || r.IsKernelLock(wait) {
			continue
		}
		all++
		if r.WokenByTimer(wait) {
			timed++
		}
	}
	return timed >= fewestTicks && float64(timed) >= clocked*float64(all)
}

// timerWaits is how many waits of a thread a timer ended.
func (r *Run) timerWaits(t *Thread) (woken int64) {
	for _, wait := range t.Waits {
		if r.WokenByTimer(wait) {
			woken++
		}
	}
	return woken
}

// ticks reports whether waits are those of a ticker, and the median time between its wake-ups.
// asleepPart of the time it must sleep.
func (r *Run) ticks(waits []*recording.Wait, asleepPart float64) (ticking bool, tickNs int64) {
	var woken []int64
	var asleepNs int64
	for _, wait := range waits {
		if r.WokenByTimer(wait) && !r.IsNap(wait) {
			woken = append(woken, wait.WokenNs())
			asleepNs += wait.BlockedNs + wait.RunqueueNs // waiting for a CPU is no work either
		}
	}
	if len(woken) < fewestTicks {
		return false, 0
	}
	slices.Sort(woken)
	span := woken[len(woken)-1] - woken[0]
	intervals := make([]int64, len(woken)-1)
	for i := range intervals {
		intervals[i] = woken[i+1] - woken[i]
	}
	slices.Sort(intervals)
	tickNs = intervals[len(intervals)/2]
	near := 0
	for _, interval := range intervals {
		if math.Abs(float64(interval-tickNs)) <= regularSpread*float64(tickNs) {
			near++
		}
	}
	regular := float64(near) >= regularPart*float64(len(intervals))
	often := float64(len(woken)) >= fewestTicksPerSecond*float64(span)/1e9
	long := float64(span) >= tickingPart*float64(r.EndNs-r.StartNs)
	asleep := float64(asleepNs) >= asleepPart*float64(span)
	return regular && often && long && asleep, tickNs
}

// rhythms are the places where threads tick whose waits are too short to be kept: the recorder's
// own account of the rhythm, by thread, the most frequent of each.
func (r *Run) rhythms() map[int32]*recording.Wakeup {
	found := map[int32]*recording.Wakeup{}
	for i := range r.Recording.Wakeups {
		row := &r.Recording.Wakeups[i]
		if known := found[row.Tid]; r.isRhythm(row) && (known == nil || known.Count < row.Count) {
			found[row.Tid] = row
		}
	}
	return found
}

// isRhythm holds a place to what ticks asks of waits.
func (r *Run) isRhythm(row *recording.Wakeup) bool {
	interval := float64(row.IntervalNs)
	spanNs := float64(row.Count) * interval
	return row.WakerKind == recording.WakerTimer && !r.forRequests(row.Tid, row.Syscall) &&
		!r.Names.Locks(r.Stack(row.Stack)).Retries && row.Count >= fewestTicks &&
		interval > 0 && fewestTicksPerSecond*interval <= 1e9 &&
		float64(row.SpreadNs) <= regularSpread*interval &&
		spanNs >= tickingPart*float64(r.EndNs-r.StartNs) && float64(row.CPUNs) <= (1-threadAsleep)*spanNs
}

// setTicking finds the threads that tick: by their waits, or where most of those were too short to
// be kept by the rhythm of the place.
func (r *Run) setTicking() {
	rhythms := r.rhythms()
	for _, t := range r.Threads {
		if t.TimerWakes = r.timerWaits(t); r.Monitors(t) {
			continue
		}
		t.Ticking, t.TickNs = r.ticks(t.Waits, threadAsleep)
		if row := rhythms[t.Tid]; row != nil && !t.Ticking && t.TimerWakes < row.Count/2 {
			t.Ticking, t.TickNs, t.TimerWakes, t.Rhythm = true, row.IntervalNs, row.Count, true
		}
	}
}

// ProcessTicks is the time between the ticks of whole processes: a runtime that schedules its own
// tasks (Go) lets any of its threads take a tick, so that no thread alone is regular.
func (r *Run) ProcessTicks() map[int32]int64 {
	waits, found := map[int32][]*recording.Wait{}, map[int32]int64{}
	for _, t := range r.Threads {
		if !r.Monitors(t) {
			waits[t.Pid] = append(waits[t.Pid], t.Waits...)
		}
	}
	for pid, list := range waits {
		if ticking, tickNs := r.ticks(list, processAsleep); ticking {
			found[pid] = tickNs
		}
	}
	return found
}
