package cause

import (
	"slices"

	"culprit/recording"
)

// compiledFor gives what the compiler did because there is other code to run to the claim on that code, where it is at
// the place that had code compiled, above or below it: both are there because of what that code does.
func (s *scene) compiledFor(claims []*claim) []*claim {
	at := slices.IndexFunc(claims, func(c *claim) bool { return c.id == "runtime.cold" && c.consequence })
	if at < 0 || s.oneSided {
		return claims
	}
	cold := claims[at]
	for _, c := range claims {
		if !isCode(c.id) || c.inLibrary() || cold.inLibrary() || s.grew(c) < leastShare*s.growth ||
			!leadsTo(cold.place.Frames, c.place.Frames) && !leadsTo(c.place.Frames, cold.place.Frames) {
			continue
		}
		part := slices.Clone(cold.members)
		s.adopt(c, part...)
		c.partOf(s, "in the compiler, which has this code to compile", part)
		return slices.DeleteFunc(claims, func(other *claim) bool { return other == cold })
	}
	return claims
}

// leadsTo reports whether the function that a stack ends in is on another stack.
func leadsTo(place, stack []recording.Frame) bool {
	if len(place) == 0 {
		return false
	}
	return depthOf(*lastFrame(place), stack) >= 0
}
