package compare

import (
	"slices"
	"sort"

	"culprit/internal/code"
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

// whole is the function that a spot is called from, where it grew in its own code besides: neither
// explains it alone, and both together do. Its copies are one function: those that have the callee
// inlined without a frame of its own, and those that another caller reaches. Else it would be named
// twice, once as the way to its callee and once for itself.
func (s *blameSearch) whole(best *spot) *spot {
	if best == nil {
		return nil
	}
	for at := len(best.stack) - 2; at >= 0; at-- {
		above := best.stack[at]
		if !s.own[best.members[0]][at] || code.IsEntry(above) || contains(best.stack[at+1:], above) {
			continue
		}
		function := &spot{stack: best.stack[:at+1]}
		together, callee := 0.0, 0.0
		for _, i := range s.all {
			frames := s.paths[i].Frames
			from := lastOf(frames, above)
			if from < 0 {
				continue
			}
			function.grow, function.members = function.grow+s.grow[i], append(function.members, i)
			if contains(frames[from+1:], best.stack[len(best.stack)-1]) {
				callee += s.grow[i]
				together += s.grow[i]
			} else if !slices.Contains(s.own[i][from+1:], true) {
				together += s.grow[i]
			}
		}
		if callee < explainsPart*function.grow && together >= explainsPart*function.grow {
			return function
		}
		return best
	}
	return best
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
