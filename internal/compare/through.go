package compare

import (
	"culprit/internal/code"
	"culprit/recording"
)

const (
	// throughPart of a place's growth must come through a function that it calls before that is named.
	throughPart = 0.5
	// leafPart of it is enough for a leaf to be named beside such a function.
	leafPart = 0.2
)

// through is the deepest function in user space below a place that at least half of the place's growth comes through,
// "" where there is none: what it calls that costs so much, where the leaves are many (a parser, a compiler). An
// interpreter's own frames between those of its language are passed over: everything comes through them. A function
// that has no name is told only where none above it has one.
func (s *blameSearch) through(frame recording.Frame, all float64) string {
	type call struct{ path, below int }
	var calls []call
	for _, i := range s.all {
		frames := s.paths[i].Frames
		for at := len(frames) - 1; at >= 0; at-- {
			if frames[at].Name == frame.Name && frames[at].Kind == frame.Kind {
				calls = append(calls, call{i, at + 1})
				break
			}
		}
	}
	deepest := ""
	for {
		grown, next, nameless := map[string]float64{}, map[string][]call{}, map[string]bool{}
		for _, c := range calls {
			frames := s.paths[c.path].Frames
			at := c.below
			for at < len(frames) && frame.Kind != recording.KindNative && code.IsMachinery(&frames[at]) {
				at++
			}
			if at < len(frames) && frames[at].Kind != recording.KindKernel {
				name := frames[at].Name
				nameless[name] = code.ByAddress(frames[at])
				grown[name] += s.grow[c.path]
				next[name] = append(next[name], call{c.path, at + 1})
			}
		}
		most := ""
		for name, grow := range grown {
			if grow >= throughPart*all && (most == "" || grow > grown[most] || grow == grown[most] && name < most) {
				most = name
			}
		}
		if most == "" {
			return deepest
		}
		if calls = next[most]; deepest == "" || !nameless[most] {
			deepest = most
		}
	}
}

// interrupted is the last function before the kernel; the kernel's last where there is none.
func interrupted(frames []recording.Frame) recording.Frame {
	for i := len(frames) - 1; i >= 0; i-- {
		if frames[i].Kind != recording.KindKernel {
			return frames[i]
		}
	}
	return frames[len(frames)-1]
}
