package blame

import (
	"maps"
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare/names"
	"culprit/recording"
)

// Where a compiled Java method grew in its own code and in one callee besides, the own code is
// taken for that callee inlined. Chosen.
const (
	inlinedCallee = 0.3 // least part of both together that the callee must have
	inlinedAlone  = 2.0 // how much more it grew than any other callee
)

// inlined puts a method's own growth together with that of the one callee that grew. Between
// safepoints HotSpot's debug information names the method that was compiled, not what was inlined
// into it (unless the JVM runs with -XX:+DebugNonSafepoints), so that an inlined callee shows half
// under its own name and half as its caller. The place is then the callee.
func (s *search) inlined(best *spot) *spot {
	last := len(best.stack) - 1
	if best.stack[last].Kind != recording.KindJVM {
		return best
	}
	if merged := s.withCallee(best, best.stack); merged != nil {
		return merged
	}
	if last > 0 && best.stack[last-1].Kind == recording.KindJVM {
		merged := s.withCallee(best, best.stack[:last])
		if merged != nil && merged.stack[last].Name == best.stack[last].Name {
			return merged
		}
	}
	return best
}

// withCallee returns the one callee that grew below the method at the end of a stack, with the
// method's own growth; nil when there is no such callee.
func (s *search) withCallee(best *spot, stack []recording.Frame) *spot {
	caller := names.KeyOf(stack[len(stack)-1])
	var own []int
	self, callees := 0.0, map[string]*spot{}
	for _, i := range s.all {
		frames := s.paths[i].Frames
		at := LastOf(frames, caller)
		switch {
		case at < 0:
		case at == len(frames)-1 || frames[at+1].Kind != recording.KindJVM:
			self += s.grow[i]
			own = append(own, i)
		case s.own[i][at+1]:
			callee := callees[frames[at+1].Name]
			if callee == nil {
				callee = &spot{}
				callees[frames[at+1].Name] = callee
			}
			callee.stack = frames[at+1 : at+2]
			callee.grow += s.grow[i]
		}
	}
	first, second := &spot{}, &spot{}
	for _, name := range slices.Sorted(maps.Keys(callees)) {
		if callee := callees[name]; callee.grow > first.grow {
			first, second = callee, first
		} else if callee.grow > second.grow {
			second = callee
		}
	}
	if first.stack == nil || self <= 0 || first.grow < inlinedCallee*(self+first.grow) ||
		first.grow < inlinedAlone*second.grow {
		return nil
	}
	merged := *best
	merged.stack, merged.inlinedIn = slices.Concat(stack, first.stack), own
	return &merged
}

// whole is the function that a spot is called from, where it grew in its own code besides: neither
// explains it alone, and both together do. Its copies are one function: those that have the callee
// inlined without a frame of its own, and those that another caller reaches. Else it would be named
// twice, once as the way to its callee and once for itself.
func (s *search) whole(best *spot) *spot {
	if best == nil {
		return nil
	}
	last := len(best.stack) - 1
	for at, above := range slices.Backward(best.stack[:last]) {
		key := names.KeyOf(above)
		if !s.own[best.members[0]][at] || code.IsEntry(above) || LastOf(best.stack, key) > at {
			continue
		}
		all, together, callee := 0.0, 0.0, 0.0
		for _, i := range s.all {
			from := LastOf(s.paths[i].Frames, key)
			if from < 0 {
				continue
			}
			all += s.grow[i]
			if LastOf(s.paths[i].Frames, names.KeyOf(best.stack[last])) > from {
				callee += s.grow[i]
				together += s.grow[i]
			} else if !slices.Contains(s.own[i][from+1:], true) {
				together += s.grow[i]
			}
		}
		if callee < explainsPart*all && together >= explainsPart*all {
			return &spot{stack: best.stack[:at+1]}
		}
		return best
	}
	return best
}
