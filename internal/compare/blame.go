package compare

import (
	"math"
	"sort"

	"culprit/internal/code"
	"culprit/recording"
)

const (
	// explainsPart of a change must lie below a frame that is to explain it.
	explainsPart = 0.8
	// keepsPart of the whole change must be left after several such steps.
	keepsPart = 0.65
	// mainPart is enough where no single frame explains most: then the largest is named.
	mainPart = 0.35
	// shiftFactor: a frame that lost as much as its neighbour gained, within this factor, moved there.
	shiftFactor = 2
)

// Blame is the place in code that explains most of a change.
type Blame struct {
	// Stack leads from the root to the blamed frame, its last element.
	Stack []recording.Frame
	// Below is the leaf under it that carries most of the change, "" when it is the frame's own code, or none carries
	// much beside Through: the deepest function under it that at least half of the change comes through, "" for none.
	Below, Through string
	// Added: the frame was never seen on side A.
	Added bool
	// Replaced are neighbours on side A whose time moved into the frame.
	Replaced []string
	// Members are the indices of the paths that it accounts for.
	Members      []int
	SelfA, SelfB float64 // mean seconds in the frame's own code
}

// Frame is the blamed frame.
func (b *Blame) Frame() recording.Frame { return b.Stack[len(b.Stack)-1] }

// FindBlame walks the merged call tree of the paths that use selects (nil: all)
// to the deepest frame of the application's own code that explains most of
// their growth from A to B. Where callers were renamed or split up it looks
// by function instead of by call path. It returns nil when nothing grew.
//
// A frame that lost what its neighbour gained is a move and no growth (cost
// shift: FBDetect, SOSP 2024).
func FindBlame(paths []Path, use func(int) bool) *Blame {
	search := newBlameSearch(paths, use)
	if search.total <= 0 {
		return nil
	}
	trail := search.descend(search.all, nil, explainsPart)
	best := search.place(trail)
	if byFunction := search.byFunction(); byFunction != nil {
		if best == nil || search.below(byFunction, best) {
			best = byFunction
		}
	}
	if best == nil {
		main := search.descend(search.all, nil, mainPart)
		for _, find := range []func() *spot{
			func() *spot { return search.whole(search.place(main)) }, search.largest,
			func() *spot { return search.fallback(trail) }, func() *spot { return search.fallback(main) },
			func() *spot { return innermost(trail) }, func() *spot { return innermost(main) },
		} {
			if best = find(); best != nil {
				break
			}
		}
	}
	if best == nil {
		return nil
	}
	return search.finish(search.inlined(best))
}

// blameSearch holds the paths with what is looked up again and again.
type blameSearch struct {
	paths []Path
	all   []int
	grow  []float64 // change of each path
	own   [][]bool  // which frames are the application's
	total float64
}

// spot is a candidate: a frame, the call path to it and the paths through it.
type spot struct {
	stack    []recording.Frame
	members  []int
	grow     float64
	replaced []string
	lost     []int // paths of what it replaced
	// inlinedIn are paths that end in the caller, whose own code is taken for this frame's.
	inlinedIn []int
}

func newBlameSearch(paths []Path, use func(int) bool) *blameSearch {
	s := &blameSearch{paths: paths, grow: make([]float64, len(paths)), own: make([][]bool, len(paths))}
	for i := range paths {
		if use != nil && !use(i) {
			continue
		}
		s.all = append(s.all, i)
		s.grow[i] = mean(paths[i].B) - mean(paths[i].A)
		s.own[i] = code.Own(paths[i].Frames)
		s.total += s.grow[i]
	}
	return s
}

// descend goes from caller to callee while one callee explains enough.
func (s *blameSearch) descend(members []int, trail []spot, part float64) []spot {
	current := s.sum(members)
	for depth := 0; ; depth++ {
		best := s.bestChild(members, depth)
		if best == nil || best.grow < part*current || part == explainsPart && best.grow < keepsPart*s.total {
			return trail
		}
		if len(trail) > 0 {
			best.stack = append(append([]recording.Frame{}, trail[len(trail)-1].stack...), best.stack...)
		}
		trail = append(trail, *best)
		members, current = append(append([]int{}, best.members...), best.lost...), best.grow
	}
}

func (s *blameSearch) sum(members []int) float64 {
	sum := 0.0
	for _, i := range members {
		sum += s.grow[i]
	}
	return sum
}

// bestChild groups paths by their frame at one depth and returns the group that
// grew most, after moves between neighbours are put together.
func (s *blameSearch) bestChild(members []int, depth int) *spot {
	index := map[frameKey]int{}
	var children []*spot
	for _, i := range members {
		if depth >= len(s.paths[i].Frames) {
			continue
		}
		frame := s.paths[i].Frames[depth]
		key := frameKey{frame.Name, frame.Kind}
		at, known := index[key]
		if !known {
			at = len(children)
			index[key] = at
			children = append(children, &spot{stack: []recording.Frame{frame}})
		}
		children[at].members = append(children[at].members, i)
		children[at].grow += s.grow[i]
	}
	sort.SliceStable(children, func(i, j int) bool { return children[i].grow > children[j].grow })
	pairMoves(children)
	var best *spot
	for _, child := range children {
		if best == nil || child.grow > best.grow {
			best = child
		}
	}
	return best
}

// pairMoves takes from children that gained, largest first, what their
// neighbours lost. A move keeps most of the cost; a cheap function whose place a
// dear one took is growth of that place.
func pairMoves(children []*spot) {
	for i := len(children) - 1; i >= 0 && children[i].grow < 0; i-- {
		lost := children[i]
		var match *spot
		for _, gained := range children[:i] {
			if gained.grow <= 0 || gained.lost != nil || -lost.grow < gained.grow/shiftFactor ||
				-lost.grow > gained.grow*shiftFactor {
				continue
			}
			if match == nil || math.Abs(gained.grow+lost.grow) < math.Abs(match.grow+lost.grow) {
				match = gained
			}
		}
		if match != nil {
			match.grow += lost.grow
			match.lost = lost.members
			match.replaced = append(match.replaced, lost.stack[0].Name)
		}
	}
}

// place picks the deepest frame of a trail that is the application's own and not where it begins.
func (s *blameSearch) place(trail []spot) *spot {
	for i := len(trail) - 1; i >= 0; i-- {
		if len(trail[i].members) == 0 || code.IsEntry(trail[i].stack[i]) {
			continue
		}
		if s.own[trail[i].members[0]][i] {
			return &trail[i]
		}
	}
	return nil
}

// fallback is the best place when no function of the application's own explains the change.
func (s *blameSearch) fallback(trail []spot) *spot {
	for _, accept := range []func(int, recording.Frame) bool{
		func(i int, frame recording.Frame) bool { return s.own[trail[i].members[0]][i] },
		func(_ int, frame recording.Frame) bool { return code.Placeable(frame) },
		func(_ int, frame recording.Frame) bool { return !code.IsStartUp(frame) },
	} {
		for i := len(trail) - 1; i >= 0; i-- {
			if accept(i, trail[i].stack[i]) {
				return &trail[i]
			}
		}
	}
	return nil
}

// innermost is where a trail ends, whatever that is.
func innermost(trail []spot) *spot {
	if len(trail) == 0 {
		return nil
	}
	return &trail[len(trail)-1]
}
