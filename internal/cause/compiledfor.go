package cause

import (
	"slices"

	"culprit/recording"
)

// giveCompiled gives what the compiler did because there is other code to run to the claim on that
// code, where it is at the place that had code compiled, above or below it: both are there because
// of what that code does.
func (l *ledger) giveCompiled(rule transfer) {
	cold := l.of(RuntimeCold)
	if cold == nil || !cold.consequence || cold.inLibrary() {
		return
	}
	for _, c := range l.claims {
		if c.silent != "" || !c.cause.is(isCode) || c.inLibrary() || l.grew(c) < leastShare*l.growth ||
			!leadsTo(cold.place, c.place) && !leadsTo(c.place, cold.place) {
			continue
		}
		part := slices.Clone(cold.members)
		l.move(rule.rule, c, part, rule.because)
		c.partOf(l.scene, "in the compiler, which has this code to compile", part)
		return
	}
}

// leadsTo reports whether the function that a stack ends in is on another stack.
func leadsTo(place, stack []recording.Frame) bool {
	if len(place) == 0 {
		return false
	}
	return depthOf(*lastFrame(place), stack) >= 0
}
