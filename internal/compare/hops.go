package compare

import (
	"cmp"
	"maps"
	"slices"

	"culprit/internal/compare/names"
	"culprit/internal/compare/perrun"
	"culprit/internal/compare/timeline"
	"culprit/recording"
)

// Hop is what stood behind a waker: where the thread that ended a wait had itself just slept. The
// waker is often only the messenger (ksoftirqd completes I/O that a journal's commit asked for).
type Hop struct {
	Process   string // of the thread that waited
	WakerComm string // who ended its wait
	HopComm   string // who had woken the waker, "" when it was an interrupt or not seen
	Frames    []recording.Frame
	A, B      []float64 // seconds per run that the waker slept meanwhile
}

// hopKey tells hops apart.
type hopKey struct {
	process, waker, hop string
	stack               int32
}

// hopTable adds up the hops of many runs.
type hopTable struct {
	sides   perrun.Sides
	seconds map[hopKey][]float64
}

func (h *hopTable) add(run int, r *timeline.Run) {
	for _, t := range r.Threads {
		for _, wait := range t.Waits {
			stack := r.Stack(wait.HopStack)
			if wait.HopNs <= 0 || !recording.Plausible(wait.HopNs) || stack == names.None {
				continue
			}
			key := hopKey{r.ProcessName(t.Pid), wait.WakerComm, wait.HopComm, stack}
			if h.seconds[key] == nil {
				h.seconds[key] = h.sides.Amounts()
			}
			h.seconds[key][run] += float64(min(wait.HopNs, wait.BlockedNs)) / 1e9
		}
	}
}

// list returns the hops, the largest change first.
func (h *hopTable) list(pool *names.Pool) []Hop {
	grow := func(key hopKey) float64 { return perrun.Growth(h.sides.Split(h.seconds[key])) }
	keys := slices.SortedFunc(maps.Keys(h.seconds), func(x, y hopKey) int {
		return cmp.Or(cmp.Compare(grow(y), grow(x)), cmp.Compare(x.process, y.process),
			cmp.Compare(x.waker, y.waker), cmp.Compare(x.hop, y.hop), cmp.Compare(x.stack, y.stack))
	})
	list := make([]Hop, len(keys))
	for i, key := range keys {
		a, b := h.sides.Split(h.seconds[key])
		list[i] = Hop{Process: key.process, WakerComm: key.waker, HopComm: key.hop,
			Frames: pool.Frames(key.stack), A: a, B: b}
	}
	return list
}
