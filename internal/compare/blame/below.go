package blame

import (
	"culprit/internal/code"
	"culprit/internal/compare/names"
	"culprit/internal/compare/perrun"
	"culprit/recording"
)

const (
	// throughPart of a place's growth must come through a function that it calls for that to be named.
	// Chosen.
	throughPart = 0.5
	// leafPart of it is enough for a leaf to be named beside such a function. Chosen.
	leafPart = 0.2
)

// through is the deepest function in user space below a place that at least half of the place's
// growth comes through, "" where there is none: what costs so much where the leaves are many (a
// parser, a compiler). It passes over an interpreter's own frames, and over functions without a
// name below one that has one.
func (s *search) through(place names.Key, all float64) string {
	type call struct{ path, below int }
	var calls []call
	for _, i := range s.all {
		if at := lastOf(s.paths[i].Frames, place); at >= 0 {
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
