package cause

import (
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/recording"
)

const (
	compilingClaim  = "the program has code compiled again and again (eval, new Function, exec, templates, schemas)"
	compilingRemedy = "keep what was compiled and use it again: once for each template, schema or expression, by a key " +
		"that stays the same; or say it in code that needs no compiling"
	// A program asks for compiling where so much of the time is below the call, and so many times
	// as much as on the other side: what is new runs interpreted first, and is compiled as it runs,
	// when it is called, or beside it.
	askedCompiling = 0.1
	timesCompiling = 2
)

// tellCompiling says where a program asks for compiling itself, if that is why there is more of it.
func (s *scene) tellCompiling(c *claim) bool {
	var asking []compare.Path
	var asked sides
	for _, i := range c.members {
		if path := &s.paths[i]; s.traits[i].compiler && code.CompilesText(path.Frames) {
			asking, asked = append(asking, *path), asked.plus(means(path.A, path.B))
		}
	}
	place := callerOf(asking, code.AsksToCompile)
	if place == "" || !asked.grew(timesCompiling, askedCompiling*s.grew(c)) {
		return false
	}
	c.claim, c.remedy = compilingClaim, compilingRemedy
	c.at(inCode(place))
	c.add("cpu", "of it below calls that ask for compiling (eval, new Function, exec, compile)", asked, "s/run")
	return true
}

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
