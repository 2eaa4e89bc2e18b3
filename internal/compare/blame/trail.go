package blame

import (
	"math"
	"slices"
	"sort"

	"culprit/internal/code"
	"culprit/internal/compare/names"
	"culprit/internal/compare/perrun"
	"culprit/recording"
)

// descend goes from caller to callee while one callee explains enough.
func (s *search) descend(part float64) (trail []spot) {
	members, current := s.all, s.total
	for depth := 0; ; depth++ {
		best := s.bestChild(members, depth)
		if best == nil || best.grow < part*current ||
			part == explainsPart && best.grow < keepsPart*s.total {
			return trail
		}
		if depth > 0 {
			best.stack = slices.Concat(trail[depth-1].stack, best.stack)
		}
		trail = append(trail, *best)
		members, current = slices.Concat(best.members, best.lost), best.grow
	}
}

// bestChild groups paths by their frame at one depth and returns the group that grew most, after
// moves between neighbours are put together.
func (s *search) bestChild(members []int, depth int) *spot {
	index := map[names.Key]*spot{}
	var children []*spot
	for _, i := range members {
		if depth >= len(s.paths[i].Frames) {
			continue
		}
		frame := s.paths[i].Frames[depth]
		child := index[names.KeyOf(frame)]
		if child == nil {
			child = &spot{stack: []recording.Frame{frame}}
			index[names.KeyOf(frame)] = child
			children = append(children, child)
		}
		child.members = append(child.members, i)
		child.grow += s.grow[i]
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

// pairMoves takes from children that gained, largest first, what their neighbours lost. A move
// keeps most of the cost; a cheap function whose place a dear one took is growth of that place.
func pairMoves(children []*spot) {
	for i := len(children) - 1; i >= 0 && children[i].grow < 0; i-- {
		lost := children[i]
		var match *spot
		for _, gained := range children[:i] {
			if perrun.Moved(lost.grow, gained.grow) && gained.lost == nil && (match == nil ||
				math.Abs(gained.grow+lost.grow) < math.Abs(match.grow+lost.grow)) {
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
func (s *search) place(trail []spot) *spot {
	return deepest(trail, func(i int, frame recording.Frame) bool {
		return len(trail[i].members) > 0 && !code.IsEntry(frame) && s.own[trail[i].members[0]][i]
	})
}

// owned is the deepest spot of a trail that is the application's own, also where it begins.
func (s *search) owned(trail []spot) *spot {
	return deepest(trail, func(i int, _ recording.Frame) bool {
		return len(trail[i].members) > 0 && s.own[trail[i].members[0]][i]
	})
}

// fallback is the best place when no function of the application's own explains the change.
func (s *search) fallback(trail []spot) *spot {
	if own := s.owned(trail); own != nil {
		return own
	}
	for _, accept := range []func(int, recording.Frame) bool{
		func(_ int, frame recording.Frame) bool { return code.Placeable(frame) },
		func(_ int, frame recording.Frame) bool { return !code.IsStartUp(frame) },
	} {
		if found := deepest(trail, accept); found != nil {
			return found
		}
	}
	return nil
}

// deepest is the last spot of a trail that is accepted, nil when none is.
func deepest(trail []spot, accept func(int, recording.Frame) bool) *spot {
	for i := range slices.Backward(trail) {
		if accept(i, trail[i].stack[i]) {
			return &trail[i]
		}
	}
	return nil
}
