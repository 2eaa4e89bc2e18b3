// Package blame finds the function that accounts for a change: the deepest one of the program's own
// code that most of the growth from A to B lies below.
//
// It refuses to blame anything where nothing grew, and takes no move for growth: a frame that lost
// what its neighbour gained.
//
//	place := blame.New(result.Paths, code.Own).Find(nil)
//	fmt.Println(place.Frame().Name, place.Below) // parse memcpy
package blame

import (
	"cmp"
	"maps"
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/names"
	"culprit/internal/compare/perrun"
	"culprit/internal/stat"
	"culprit/recording"
)

const (
	// explainsPart of a change must lie below a frame that is to explain it. Chosen.
	explainsPart = 0.8
	// keepsPart of the whole change must be left after several steps. Chosen: two of explainsPart.
	keepsPart = 0.65
	// mainPart is enough where no single frame explains most: then the largest is named. Chosen.
	mainPart = 0.35
	// takenPart of a new function's growth, lost by its neighbours, makes it their new name.
	// Chosen.
	takenPart = 0.5
)

// Blame is the place in code that explains most of a change.
type Blame struct {
	// Stack leads from the root to the blamed frame, its last element.
	Stack []recording.Frame
	// Below is the leaf that carries most of the change, "" for the frame's own code or where none
	// carries much beside Through: the deepest function that at least half of the change comes
	// through.
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

// Tree is the paths of a result with what each search looks up again.
type Tree struct {
	paths []compare.Path
	grow  []float64 // change of each path
	own   [][]bool  // which frames are the application's
}

// New makes paths ready to be searched.
// Own tells which frames of a stack are the program's own: code.Own, or what remembers its answers.
func New(paths []compare.Path, own func([]recording.Frame) []bool) *Tree {
	t := &Tree{paths: paths, grow: make([]float64, len(paths)), own: make([][]bool, len(paths))}
	for i := range paths {
		t.grow[i] = perrun.Growth(paths[i].A, paths[i].B)
		t.own[i] = own(paths[i].Frames)
	}
	return t
}

// Find walks the merged call tree of the paths that use selects (nil: all)
// to the deepest frame of the application's own code that explains most of
// their growth from A to B. Where callers were renamed or split up it looks
// by function instead of by call path. It returns nil when nothing grew.
func (t *Tree) Find(use func(int) bool) *Blame {
	s := t.search(use)
	if s.total <= 0 {
		return nil
	}
	trail, functions := s.descend(explainsPart), s.functions()
	best := s.place(trail)
	if deepest := s.deepestOf(functions); deepest != nil && (best == nil || s.below(deepest, best)) {
		best = deepest
	}
	if best == nil {
		main := s.descend(mainPart)
		best = cmp.Or(s.whole(s.place(main)), s.largestOf(functions), s.owned(trail),
			s.entryOf(functions), s.fallback(trail), s.fallback(main))
	}
	if best == nil {
		return nil
	}
	if added := s.newBelow(functions, best); added != nil {
		best = added
	}
	return s.finish(s.inlined(best))
}

// search is one look at a tree: at those of its paths that are used.
type search struct {
	*Tree
	all   []int
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

func (t *Tree) search(use func(int) bool) *search {
	s := &search{Tree: t}
	for i := range t.paths {
		if use == nil || use(i) {
			s.all = append(s.all, i)
			s.total += t.grow[i]
		}
	}
	return s
}

// finish settles new or grown, the members and what lies below.
func (s *search) finish(best *spot) *Blame {
	blame := &Blame{Stack: best.stack, Replaced: best.replaced}
	if at := s.newest(best.stack); at >= 0 {
		blame.Stack = best.stack[:at+1]
	}
	key := names.KeyOf(blame.Frame())
	leaves, all := map[string]float64{}, 0.0
	for _, i := range s.all {
		frames := s.paths[i].Frames
		if LastOf(frames, key) < 0 {
			continue
		}
		blame.Members = append(blame.Members, i)
		leaf := frames[len(frames)-1]
		if s.paths[i].Kind == compare.Runnable {
			// How a thread that lost its CPU left user space says nothing about where the work is.
			leaf = interrupted(frames)
		}
		if leaf.Name == key.Name {
			leaf.Name = ""
			if s.paths[i].Kind != compare.Runnable {
				blame.addSelf(&s.paths[i])
			}
		}
		leaves[leaf.Name] += s.grow[i]
		all += s.grow[i]
	}
	for _, i := range best.inlinedIn {
		blame.addSelf(&s.paths[i])
	}
	blame.Members = slices.Concat(blame.Members, best.lost, best.inlinedIn)
	slices.Sort(blame.Members)
	blame.Members = slices.Compact(blame.Members)
	blame.Added = s.added(key)
	below, most := perrun.Largest(leaves)
	blame.Through = s.through(key, all)
	if below != blame.Through && (blame.Through == "" || most >= leafPart*all) {
		blame.Below = below
	}
	return blame
}

func (b *Blame) addSelf(path *compare.Path) {
	b.SelfA += stat.Average(path.A)
	b.SelfB += stat.Average(path.B)
}

// added reports whether side A never ran a function, also not in paths that another cause owns.
func (s *search) added(key names.Key) bool {
	for i := range s.paths {
		if stat.Average(s.paths[i].A) > 0 && LastOf(s.paths[i].Frames, key) >= 0 {
			return false
		}
	}
	return true
}

// newest is the index of the deepest frame of a blamed stack that is the application's own,
// explains the change and was never seen on side A, or −1: a new function explains the growth of
// the old ones that it calls.
func (s *search) newest(stack []recording.Frame) int {
	own := code.Own(stack)
	for at, frame := range slices.Backward(stack) {
		key := names.KeyOf(frame)
		if !own[at] || code.IsEntry(frame) || !s.added(key) {
			continue
		}
		grow, lost := 0.0, map[string]float64{}
		for _, i := range s.all {
			frames := s.paths[i].Frames
			switch {
			case LastOf(frames, key) >= 0:
				grow += s.grow[i]
			case len(frames) > at && slices.EqualFunc(frames[:at], stack[:at], sameFunction):
				lost[frames[at].Name] += s.grow[i]
			}
		}
		// A function that took over what its neighbours did is a new name, not a new path.
		taken := 0.0
		for _, change := range slices.Sorted(maps.Values(lost)) { // a sum depends on the order
			taken -= min(0, change)
		}
		if grow >= keepsPart*s.total && taken < takenPart*grow {
			return at
		}
	}
	return -1
}

func sameFunction(x, y recording.Frame) bool { return names.KeyOf(x) == names.KeyOf(y) }

// LastOf is the innermost index of a function in a stack, -1 when it is not there.
func LastOf(frames []recording.Frame, key names.Key) int {
	for at := range slices.Backward(frames) {
		if frames[at].Name == key.Name && frames[at].Kind == key.Kind {
			return at
		}
	}
	return -1
}
