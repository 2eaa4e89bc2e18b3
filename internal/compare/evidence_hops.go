package compare

import (
	"sort"

	"culprit/recording"
)

// Hop is what stood behind a waker: where the thread that ended a wait had itself just slept. The
// waker is often only the messenger (ksoftirqd completes I/O that a commit of the journal asked for).
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
	runsA, runsB int
	rows         map[hopKey]*Hop
}

func newHopTable(runsA, runsB int) *hopTable {
	return &hopTable{runsA: runsA, runsB: runsB, rows: map[hopKey]*Hop{}}
}

func (h *hopTable) add(side Side, at int, r *run) {
	for _, t := range r.threads() {
		for _, wait := range t.waits {
			stack := r.stackOf(wait.HopStack)
			if wait.HopNs <= 0 || !plausible(wait.HopNs) || stack < 0 {
				continue
			}
			key := hopKey{r.processName(t.pid), wait.WakerComm, wait.HopComm, stack}
			row := h.rows[key]
			if row == nil {
				row = &Hop{Process: key.process, WakerComm: key.waker, HopComm: key.hop, Frames: r.pool.framesOf(stack),
					A: make([]float64, h.runsA), B: make([]float64, h.runsB)}
				h.rows[key] = row
			}
			seconds := float64(min(wait.HopNs, wait.BlockedNs)) / 1e9
			if side == A {
				row.A[at] += seconds
			} else {
				row.B[at] += seconds
			}
		}
	}
}

// list returns the hops, the largest change first.
func (h *hopTable) list() []Hop {
	keys := make([]hopKey, 0, len(h.rows))
	for key := range h.rows {
		keys = append(keys, key)
	}
	change := func(key hopKey) float64 { return mean(h.rows[key].B) - mean(h.rows[key].A) }
	sort.Slice(keys, func(i, j int) bool {
		x, y := keys[i], keys[j]
		switch {
		case change(x) != change(y):
			return change(x) > change(y)
		case x.process != y.process:
			return x.process < y.process
		case x.waker != y.waker:
			return x.waker < y.waker
		case x.hop != y.hop:
			return x.hop < y.hop
		}
		return x.stack < y.stack
	})
	list := make([]Hop, len(keys))
	for i, key := range keys {
		list[i] = *h.rows[key]
	}
	return list
}
