package blame

import (
	"maps"
	"math"
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare/names"
	"culprit/internal/compare/perrun"
	"culprit/internal/stat"
	"culprit/recording"
)

const (
	// callerMoved is the part of a function's growth that its caller must have too. Chosen: of
	// less, the function took over what the caller's other callees gave up.
	callerMoved = 0.5
	// throughPart of a function's growth must come through another for one of the two to be named
	// with it: through what is blamed to lie below that, through a callee for that to be named.
	// Chosen.
	throughPart = 0.5
	// leafPart of it is enough for a leaf to be named beside such a callee. Chosen.
	leafPart = 0.2
)

// function is one function over all call paths, each path counted once.
type function struct {
	recording.Frame
	grow    float64
	weight  float64 // of the depth: time of paths through it
	depth   float64
	members []int
	callers map[names.Key]float64 // growth that came through each caller
}

// deepestOf finds the deepest function of the application's own that explains most of the change,
// whoever calls it.
func (s *search) deepestOf(functions map[names.Key]*function) *spot {
	return s.bestOf(functions, explainsPart, false, (*function).deeper)
}

// entryOf finds the function in which the application begins, by whatever frames of an interpreter
// it was come to: what grew is in libraries that it calls.
func (s *search) entryOf(functions map[names.Key]*function) *spot {
	return s.bestOf(functions, explainsPart, true, (*function).deeper)
}

// largestOf finds the function of the application's own that explains most where none explains
// enough: half of the change may be in a library's threads, or in libraries that main itself calls.
func (s *search) largestOf(functions map[names.Key]*function) *spot {
	return s.bestOf(functions, mainPart, false, func(one, best *function) bool {
		return one.grow > best.grow || one.grow == best.grow && one.deeper(best)
	})
}

// newBelow finds the deepest function that side A never ran, below one that it did, which most of
// the growth of that comes from, where both are of a dependency that is not the same on both sides:
// what the other version adds explains why what calls it costs more.
func (s *search) newBelow(functions map[names.Key]*function, blamed *spot) *spot {
	last := names.KeyOf(blamed.stack[len(blamed.stack)-1])
	if blamed.grow < explainsPart*s.total || s.added(last) {
		return nil
	}
	added := map[names.Key]*function{}
	for key, one := range functions {
		if one.grow >= keepsPart*s.total && one.Changed != "" && s.added(key) && !one.tookOver(functions) {
			added[key] = one
		}
	}
	found := s.bestOf(added, keepsPart, false, (*function).deeper)
	if found == nil || !s.below(found, blamed) {
		return nil
	}
	return found
}

// bestOf finds the best of the functions that explain a part of the change.
func (s *search) bestOf(functions map[names.Key]*function, part float64, entries bool,
	better func(one, best *function) bool) *spot {
	var best *function
	for _, key := range slices.SortedFunc(maps.Keys(functions), names.Key.Compare) {
		one := functions[key]
		if one.grow >= part*s.total && (entries || !code.IsEntry(one.Frame)) && !one.tookOver(functions) &&
			(best == nil || better(one, best)) {
			best = one
		}
	}
	if best == nil {
		return nil
	}
	return &spot{stack: s.pathTo(best), members: best.members, grow: best.grow}
}

func (f *function) deeper(other *function) bool {
	return f.depth/f.weight > other.depth/other.weight
}

// functions adds up all functions of the application's own.
func (s *search) functions() map[names.Key]*function {
	functions := map[names.Key]*function{}
	for _, i := range s.all {
		seen := map[names.Key]bool{}
		weight := stat.Average(s.paths[i].A) + stat.Average(s.paths[i].B)
		for depth, frame := range slices.Backward(s.paths[i].Frames) {
			key := names.KeyOf(frame)
			if !s.own[i][depth] || seen[key] {
				continue
			}
			seen[key] = true
			one := functions[key]
			if one == nil {
				one = &function{Frame: frame, callers: map[names.Key]float64{}}
				functions[key] = one
			}
			one.grow += s.grow[i]
			one.weight += weight
			one.depth += weight * float64(depth)
			one.members = append(one.members, i)
			one.callers[s.caller(i, depth)] += s.grow[i]
		}
	}
	return functions
}

// caller is the nearest other function of the application's own above a frame of a path.
func (s *search) caller(path, depth int) names.Key {
	frames := s.paths[path].Frames
	for at, frame := range slices.Backward(frames[:depth]) {
		if s.own[path][at] && !sameFunction(frame, frames[depth]) {
			return names.KeyOf(frame)
		}
	}
	return names.Key{}
}

// tookOver reports whether a function gained what another of the same caller lost.
func (f *function) tookOver(functions map[names.Key]*function) bool {
	main, most := names.Key{}, math.Inf(-1)
	for key, grow := range f.callers {
		if grow > most || grow == most && key.Compare(main) < 0 {
			main, most = key, grow
		}
	}
	above := functions[main]
	return above != nil && above.grow < callerMoved*f.grow
}

// pathTo is the call path through which most of a function's growth came.
func (s *search) pathTo(one *function) []recording.Frame {
	best := one.members[0]
	for _, i := range one.members {
		if s.grow[i] > s.grow[best] {
			best = i
		}
	}
	frames := s.paths[best].Frames
	return frames[:LastOf(frames, names.KeyOf(one.Frame))+1]
}

// below reports whether candidate is called from what is blamed so far, in most of its growth.
func (s *search) below(candidate, blamed *spot) bool {
	last := names.KeyOf(blamed.stack[len(blamed.stack)-1])
	if last == names.KeyOf(candidate.stack[len(candidate.stack)-1]) {
		return false
	}
	through := 0.0
	for _, i := range candidate.members {
		if LastOf(s.paths[i].Frames, last) >= 0 {
			through += s.grow[i]
		}
	}
	return through >= throughPart*candidate.grow
}

// through is the deepest function in user space below a place that at least half of the place's
// growth comes through, "" where there is none: what costs so much where the leaves are many (a
// parser, a compiler). It passes over an interpreter's own frames, and over functions without a
// name below one that has one.
func (s *search) through(place names.Key, all float64) string {
	type call struct{ path, below int }
	var calls []call
	for _, i := range s.all {
		if at := LastOf(s.paths[i].Frames, place); at >= 0 {
			calls = append(calls, call{i, at + 1})
		}
	}
	deepest := ""
	for {
		grown, next, nameless := map[string]float64{}, map[string][]call{}, map[string]bool{}
		for _, c := range calls {
			frames := s.paths[c.path].Frames
			at := c.below
			for at < len(frames) && place.Kind != recording.KindNative && code.IsMachinery(&frames[at]) {
				at++
			}
			if at < len(frames) && frames[at].Kind != recording.KindKernel {
				name := frames[at].Name
				nameless[name] = code.ByAddress(frames[at])
				grown[name] += s.grow[c.path]
				next[name] = append(next[name], call{c.path, at + 1})
			}
		}
		most, grow := perrun.Largest(grown)
		if grow == 0 || grow < throughPart*all {
			return deepest
		}
		if calls = next[most]; deepest == "" || !nameless[most] {
			deepest = most
		}
	}
}

// interrupted is the last function before the kernel; the kernel's last where there is none.
func interrupted(frames []recording.Frame) recording.Frame {
	if at := names.LastUser(frames); at >= 0 {
		return frames[at]
	}
	return frames[len(frames)-1]
}
