package compare

import (
	"maps"
	"math"
	"slices"
	"sort"

	"culprit/internal/code"
	"culprit/recording"
)

// functionTotals is one function over all call paths, each path counted once.
type functionTotals struct {
	frame   recording.Frame
	grow    float64
	weight  float64 // of the depth: time of paths through it
	depth   float64
	members []int
	callers map[frameKey]float64 // growth that came through each caller
}

// byFunction finds the deepest function of the application's own that explains
// most of the change, whoever calls it.
func (s *blameSearch) byFunction() *spot {
	return s.function(explainsPart, func(one, best *functionTotals) bool { return one.deeper(best) })
}

// largest finds the function of the application's own that explains most where none explains enough by itself and the
// tree leads to none: half of it may be in a library's threads, or in libraries that main itself calls.
func (s *blameSearch) largest() *spot {
	return s.function(mainPart, func(one, best *functionTotals) bool {
		return one.grow > best.grow || one.grow == best.grow && one.deeper(best)
	})
}

// function finds the best of the application's own functions that explain at least this part of the change.
func (s *blameSearch) function(part float64, better func(one, best *functionTotals) bool) *spot {
	totals := s.functions()
	var best *functionTotals
	for _, key := range sortedKeys(totals) {
		one := totals[key]
		if one.grow < part*s.total || code.IsEntry(one.frame) || s.moved(totals, one) {
			continue
		}
		if best == nil || better(one, best) {
			best = one
		}
	}
	if best == nil {
		return nil
	}
	return &spot{stack: s.pathTo(best), members: best.members, grow: best.grow}
}

func (f *functionTotals) deeper(other *functionTotals) bool {
	return f.depth/f.weight > other.depth/other.weight
}

// functions adds up all functions of the application's own.
func (s *blameSearch) functions() map[frameKey]*functionTotals {
	totals := map[frameKey]*functionTotals{}
	for _, i := range s.all {
		frames := s.paths[i].Frames
		seen := map[frameKey]bool{}
		weight := mean(s.paths[i].A) + mean(s.paths[i].B)
		for depth := len(frames) - 1; depth >= 0; depth-- {
			key := frameKey{frames[depth].Name, frames[depth].Kind}
			if !s.own[i][depth] || seen[key] {
				continue
			}
			seen[key] = true
			one := totals[key]
			if one == nil {
				one = &functionTotals{frame: frames[depth], callers: map[frameKey]float64{}}
				totals[key] = one
			}
			one.grow += s.grow[i]
			one.weight += weight
			one.depth += weight * float64(depth)
			one.members = append(one.members, i)
			one.callers[caller(frames, s.own[i], depth)] += s.grow[i]
		}
	}
	return totals
}

// caller is the nearest function of the application's own above a frame that is not itself.
func caller(frames []recording.Frame, own []bool, depth int) frameKey {
	for i := depth - 1; i >= 0; i-- {
		if own[i] && (frames[i].Name != frames[depth].Name || frames[i].Kind != frames[depth].Kind) {
			return frameKey{frames[i].Name, frames[i].Kind}
		}
	}
	return frameKey{}
}

// moved reports whether a function gained what another of the same caller lost.
func (s *blameSearch) moved(totals map[frameKey]*functionTotals, one *functionTotals) bool {
	main, most := frameKey{}, math.Inf(-1)
	for key, grow := range one.callers {
		if grow > most || grow == most && (key.name < main.name || key.name == main.name && key.kind < main.kind) {
			main, most = key, grow
		}
	}
	above := totals[main]
	return above != nil && above.grow < 0.5*one.grow
}

// pathTo is the call path through which most of a function's growth came.
func (s *blameSearch) pathTo(one *functionTotals) []recording.Frame {
	best := one.members[0]
	for _, i := range one.members {
		if s.grow[i] > s.grow[best] {
			best = i
		}
	}
	frames := s.paths[best].Frames
	for depth := len(frames) - 1; depth >= 0; depth-- {
		if frames[depth].Name == one.frame.Name && frames[depth].Kind == one.frame.Kind {
			return frames[:depth+1]
		}
	}
	return []recording.Frame{one.frame}
}

// below reports whether candidate is called from what is blamed so far, in most of its growth.
func (s *blameSearch) below(candidate, blamed *spot) bool {
	last := blamed.stack[len(blamed.stack)-1]
	frame := candidate.stack[len(candidate.stack)-1]
	if last.Name == frame.Name && last.Kind == frame.Kind {
		return false
	}
	through := 0.0
	for _, i := range candidate.members {
		if contains(s.paths[i].Frames, last) {
			through += s.grow[i]
		}
	}
	return through >= 0.5*candidate.grow
}

func contains(frames []recording.Frame, wanted recording.Frame) bool {
	for _, frame := range frames {
		if frame.Name == wanted.Name && frame.Kind == wanted.Kind {
			return true
		}
	}
	return false
}

// finish settles new or grown, the members and what lies below.
func (s *blameSearch) finish(best *spot) *Blame {
	stack := best.stack
	if at := s.newest(stack); at >= 0 {
		stack = stack[:at+1]
	}
	blame := &Blame{Stack: stack, Replaced: best.replaced}
	frame := blame.Frame()
	leaves := map[string]float64{}
	taken := map[int]bool{}
	for _, i := range s.all {
		frames := s.paths[i].Frames
		if !contains(frames, frame) {
			continue
		}
		taken[i] = true
		leaf := frames[len(frames)-1]
		if s.paths[i].Kind == Runnable {
			// How a thread that lost its CPU left user space says nothing about where the work is.
			leaf = interrupted(frames)
			if leaf.Name == frame.Name {
				leaves[""] += s.grow[i]
				continue
			}
		}
		if leaf.Name == frame.Name {
			blame.SelfA += mean(s.paths[i].A)
			blame.SelfB += mean(s.paths[i].B)
			leaves[""] += s.grow[i]
		} else {
			leaves[leaf.Name] += s.grow[i]
		}
	}
	for _, i := range best.lost {
		taken[i] = true
	}
	for _, i := range best.inlinedIn {
		taken[i] = true
		blame.SelfA += mean(s.paths[i].A)
		blame.SelfB += mean(s.paths[i].B)
	}
	for i := range taken {
		blame.Members = append(blame.Members, i)
	}
	sort.Ints(blame.Members)
	blame.Added = s.sideA(frame) == 0
	most, all := 0.0, 0.0
	for _, name := range slices.Sorted(maps.Keys(leaves)) { // a sum depends on the order
		grow := leaves[name]
		all += grow
		if grow > most || grow == most && name < blame.Below {
			most, blame.Below = grow, name
		}
	}
	blame.Through = s.through(frame, all)
	if blame.Through == blame.Below || blame.Through != "" && most < leafPart*all {
		blame.Below = ""
	}
	return blame
}

// sideA is how long a function ran on side A, in whatever path: also in those that another cause owns.
func (s *blameSearch) sideA(frame recording.Frame) float64 {
	sum := 0.0
	for i := range s.paths {
		if contains(s.paths[i].Frames, frame) {
			sum += mean(s.paths[i].A)
		}
	}
	return sum
}

// newest is the deepest frame of a blamed stack that is the application's own,
// explains the change and was never seen on side A, or −1: a new function
// explains the growth of the old ones that it calls.
func (s *blameSearch) newest(stack []recording.Frame) int {
	own := code.Own(stack)
	for at := len(stack) - 1; at >= 0; at-- {
		if !own[at] || code.IsEntry(stack[at]) {
			continue
		}
		grow, lost := 0.0, map[string]float64{}
		for _, i := range s.all {
			frames := s.paths[i].Frames
			switch {
			case contains(frames, stack[at]):
				grow += s.grow[i]
			case len(frames) > at && samePrefix(frames, stack[:at]):
				lost[frames[at].Name] += s.grow[i]
			}
		}
		// A function that took over what its neighbours did is a new name, not a new path.
		taken := 0.0
		for _, change := range slices.Sorted(maps.Values(lost)) {
			taken -= min(0, change)
		}
		if grow >= keepsPart*s.total && taken < grow/shiftFactor && s.sideA(stack[at]) == 0 {
			return at
		}
	}
	return -1
}

func samePrefix(frames, prefix []recording.Frame) bool {
	for i, frame := range prefix {
		if frames[i].Name != frame.Name || frames[i].Kind != frame.Kind {
			return false
		}
	}
	return true
}

func sortedKeys(totals map[frameKey]*functionTotals) []frameKey {
	keys := make([]frameKey, 0, len(totals))
	for key := range totals {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool {
		return keys[i].name < keys[j].name || keys[i].name == keys[j].name && keys[i].kind < keys[j].kind
	})
	return keys
}
