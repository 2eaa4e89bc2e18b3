package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"

	"culprit/internal/compare/names"
	"culprit/internal/compare/perrun"
	"culprit/internal/compare/spent"
	"culprit/internal/compare/timeline"
	"culprit/recording"
)

// merger adds up the pieces of many runs into paths with one value for each run.
type merger struct {
	sides perrun.Sides
	index map[spent.Key]int
	rows  []row
}

type row struct {
	piece            spent.Piece
	seconds, counts  []float64
	holders, arounds map[int32]float64 // seconds by stack
}

func newMerger(sides perrun.Sides) *merger {
	return &merger{sides: sides, index: map[spent.Key]int{}}
}

// add adds the pieces of one run, each times scale.
func (m *merger) add(run int, pieces []spent.Piece, scale float64) {
	for _, p := range pieces {
		at, known := m.index[p.Key]
		if !known {
			at = len(m.rows)
			m.index[p.Key] = at
			m.rows = append(m.rows, row{p, m.sides.Amounts(), m.sides.Amounts(), map[int32]float64{},
				map[int32]float64{}})
		}
		r := &m.rows[at]
		r.seconds[run] += p.Seconds * scale
		r.counts[run] += p.Count * scale
		if p.Holder != names.None {
			r.holders[p.Holder] += p.Seconds
		}
		if p.Around != names.None && p.Key.WakerKind == recording.WakerTimer {
			r.arounds[p.Around] += p.Seconds
		}
	}
}

// paths returns what was merged, the largest change first, with the stacks in which most of its
// time had a holder, or lay.
func (m *merger) paths(pool *names.Pool) []Path {
	change := func(r *row) float64 { return math.Abs(perrun.Growth(m.sides.Split(r.seconds))) }
	sort.SliceStable(m.rows, func(i, j int) bool { return change(&m.rows[i]) > change(&m.rows[j]) })
	paths := make([]Path, len(m.rows))
	for i, r := range m.rows {
		key := r.piece.Key
		a, b := m.sides.Split(r.seconds)
		holder, _ := perrun.Largest(r.holders)
		around, _ := perrun.Largest(r.arounds)
		paths[i] = Path{Kind: key.Kind, Frames: pool.Frames(key.Stack), Comm: key.Comm,
			Process: key.Process, Parent: key.Parent, Short: key.Short, Ticking: key.Ticking,
			Lock: key.Lock, Turn: key.Turn, Nap: key.Nap, Syscall: key.Syscall, WakerKind: key.WakerKind,
			WakerComm: key.WakerComm, WakerOwn: key.WakerOwn, WakerStack: pool.Frames(key.WakerStack),
			For: pool.Frames(key.For), Holder: pool.Frames(holder), Around: pool.Frames(around),
			Object: r.piece.Object, A: a, B: b}
	}
	return paths
}

// waits is paths with the counts.
func (m *merger) waits(pool *names.Pool) []Wait {
	waits := make([]Wait, len(m.rows))
	for i, path := range m.paths(pool) {
		a, b := m.sides.Split(m.rows[i].counts)
		waits[i] = Wait{Path: path, CountA: a, CountB: b}
	}
	return waits
}

// Hop is what stood behind a waker: where the thread that ended a wait had itself just slept. The
// waker is often only the messenger (ksoftirqd completes I/O that a journal's commit asked for).
type Hop struct {
	Process   string // of the thread that waited
	WakerComm string // who ended its wait
	HopComm   string // who had woken the waker, "" when it was an interrupt or not seen
	Frames    []recording.Frame
	A, B      []float64 // seconds per run that the waker slept meanwhile
}

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
