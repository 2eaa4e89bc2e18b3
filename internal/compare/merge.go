package compare

import (
	"math"
	"sort"

	"culprit/internal/stat"
	"culprit/recording"
)

// piece is an amount of time of one run with all that tells it from others.
type piece struct {
	key     pathKey
	seconds float64
	count   float64
	object  string // an example: addresses differ between runs
	holder  int32  // stack of a lock's holder, or NoStack
	around  int32  // stack that what ran before and after a sleep has in common, or NoStack
}

// pathKey is what makes two pieces the same path.
type pathKey struct {
	kind                 PathKind
	stack                int32
	comm, process        string
	parent               string
	short, ticking, lock bool
	turn, nap            bool
	syscall              string
	wakerKind, wakerComm string
	wakerOwn             bool
	wakerStack           int32
	forStack             int32
}

// merger adds up the pieces of many runs into paths with one value for each run.
type merger struct {
	runsA, runsB int
	index        map[pathKey]int
	rows         []row
}

type row struct {
	piece          piece
	a, b           []float64
	countA, countB []float64
	holders        map[int32]float64
	arounds        map[int32]float64
}

func newMerger(runsA, runsB int) *merger {
	return &merger{runsA: runsA, runsB: runsB, index: map[pathKey]int{}}
}

// add adds the pieces of one run, each times scale.
func (m *merger) add(side Side, run int, pieces []piece, scale float64) {
	for _, p := range pieces {
		at, known := m.index[p.key]
		if !known {
			at = len(m.rows)
			m.index[p.key] = at
			m.rows = append(m.rows, row{piece: p,
				a: make([]float64, m.runsA), b: make([]float64, m.runsB),
				countA: make([]float64, m.runsA), countB: make([]float64, m.runsB)})
		}
		r := &m.rows[at]
		if side == A {
			r.a[run] += p.seconds * scale
			r.countA[run] += p.count * scale
		} else {
			r.b[run] += p.seconds * scale
			r.countB[run] += p.count * scale
		}
		if p.holder >= 0 && p.key.lock {
			r.holders = weigh(r.holders, p.holder, p.seconds)
		}
		if p.around >= 0 && p.key.wakerKind == recording.WakerTimer {
			r.arounds = weigh(r.arounds, p.around, p.seconds)
		}
	}
}

func weigh(weights map[int32]float64, stack int32, seconds float64) map[int32]float64 {
	if weights == nil {
		weights = map[int32]float64{}
	}
	weights[stack] += seconds
	return weights
}

// heaviest is the stack with most seconds, NoStack when there is none.
func heaviest(weights map[int32]float64) int32 {
	best, heavy := 0.0, recording.NoStack
	for stack, seconds := range weights {
		if seconds > best || seconds == best && stack < heavy {
			best, heavy = seconds, stack
		}
	}
	return heavy
}

func (r *row) path(shared *pool) Path {
	key := r.piece.key
	path := Path{Kind: key.kind, Frames: shared.framesOf(key.stack), Comm: key.comm, Process: key.process,
		Parent: key.parent, Short: key.short, Ticking: key.ticking, Lock: key.lock, Turn: key.turn,
		Nap: key.nap, Syscall: key.syscall, WakerKind: key.wakerKind, WakerComm: key.wakerComm, WakerOwn: key.wakerOwn,
		WakerStack: shared.framesOf(key.wakerStack), For: shared.framesOf(key.forStack),
		Object: r.piece.object, A: r.a, B: r.b}
	path.Holder = shared.framesOf(heaviest(r.holders))
	path.Around = shared.framesOf(heaviest(r.arounds))
	return path
}

// paths returns what was merged, the largest change first.
func (m *merger) paths(shared *pool) []Path {
	m.sort()
	paths := make([]Path, len(m.rows))
	for i := range m.rows {
		paths[i] = m.rows[i].path(shared)
	}
	return paths
}

// waits is paths with the counts.
func (m *merger) waits(shared *pool) []Wait {
	m.sort()
	waits := make([]Wait, len(m.rows))
	for i := range m.rows {
		waits[i] = Wait{Path: m.rows[i].path(shared), CountA: m.rows[i].countA, CountB: m.rows[i].countB}
	}
	return waits
}

func (m *merger) sort() {
	sort.SliceStable(m.rows, func(i, j int) bool {
		return math.Abs(mean(m.rows[i].b)-mean(m.rows[i].a)) > math.Abs(mean(m.rows[j].b)-mean(m.rows[j].a))
	})
}

// mean is short for what stands in most formulas here.
func mean(values []float64) float64 { return stat.Average(values) }
