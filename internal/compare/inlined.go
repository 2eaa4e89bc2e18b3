package compare

import (
	"sort"

	"culprit/recording"
)

// Where a compiled Java method grew in its own code and in one callee besides,
// the own code is taken for that callee inlined.
const (
	inlinedCallee = 0.3 // least part of both together that the callee must have
	inlinedAlone  = 2.0 // how much more it grew than any other callee
)

// inlined puts a method's own growth together with that of the one callee that
// grew. Between safepoints HotSpot's debug information names the method that was
// compiled, not what was inlined into it (unless the JVM runs with
// -XX:+DebugNonSafepoints), so that an inlined callee shows half under its own
// name and half as its caller. The place is then the callee.
func (s *blameSearch) inlined(best *spot) *spot {
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

// withCallee returns the one callee that grew below the method at the end of a
// stack, with the method's own growth; nil when there is no such callee.
func (s *blameSearch) withCallee(best *spot, stack []recording.Frame) *spot {
	caller := stack[len(stack)-1]
	self, callees := 0.0, map[string]float64{}
	frameOf, membersOf := map[string]recording.Frame{}, map[string][]int{}
	var own []int
	for _, i := range s.all {
		frames := s.paths[i].Frames
		at := lastOf(frames, caller)
		switch {
		case at < 0:
		case at == len(frames)-1 || frames[at+1].Kind != recording.KindJVM:
			self += s.grow[i]
			own = append(own, i)
		case s.own[i][at+1]:
			name := frames[at+1].Name
			callees[name] += s.grow[i]
			frameOf[name], membersOf[name] = frames[at+1], append(membersOf[name], i)
		}
	}
	first, second := largestTwo(callees)
	if first == "" || self <= 0 || callees[first] < inlinedCallee*(self+callees[first]) ||
		callees[first] < inlinedAlone*callees[second] {
		return nil
	}
	merged := *best
	merged.stack = append(append([]recording.Frame{}, stack...), frameOf[first])
	merged.members = append(append([]int{}, own...), membersOf[first]...)
	merged.inlinedIn = own
	merged.grow = self + callees[first]
	return &merged
}

// lastOf is the innermost index of a function in a stack, -1 when it is not there.
func lastOf(frames []recording.Frame, frame recording.Frame) int {
	for i := len(frames) - 1; i >= 0; i-- {
		if frames[i].Name == frame.Name && frames[i].Kind == frame.Kind {
			return i
		}
	}
	return -1
}

// largestTwo names the two largest values, "" where there is none.
func largestTwo(values map[string]float64) (first, second string) {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		return values[names[i]] > values[names[j]] || values[names[i]] == values[names[j]] && names[i] < names[j]
	})
	names = append(names, "", "")
	return names[0], names[1]
}
