package cause

import (
	"slices"

	"culprit/internal/compare"
	"culprit/internal/compare/differs"
)

// namers are the claims that name a setting which differs, by the setting's place in the list; nil
// where none does.
func (l *ledger) namers(settings []compare.FactChange) []*claim {
	by := make([]*claim, len(settings))
	for n, setting := range settings {
		for _, c := range l.claims {
			named := slices.ContainsFunc(c.evidence, func(e Evidence) bool { return e.Setting == setting.Name })
			if named && (by[n] == nil || l.grew(c) > l.grew(by[n])) {
				by[n] = c
			}
		}
	}
	return by
}

// unnamed are the settings that no claim names yet.
func (l *ledger) unnamed(settings []compare.FactChange) []compare.FactChange {
	var left []compare.FactChange
	for n, c := range l.namers(settings) {
		if c == nil {
			left = append(left, settings[n])
		}
	}
	return left
}

// giveRest gives what nobody owns to the one claim that names all settings in which the sides
// differ: the same code with the same input took longer for them. A heap that is collected more
// often costs the caches of all other code as well. It reports false where there is no such claim,
// or where the rest is larger: that has another mechanism.
func (l *ledger) giveRest(rule transfer, settings []compare.FactChange) bool {
	var c *claim
	for _, namer := range l.namers(settings) {
		if namer == nil || c != nil && namer != c {
			return false
		}
		c = namer
	}
	if c == nil {
		return false
	}
	rest := l.all(l.free)
	left := l.grew(rest)
	if left > l.grew(c) {
		return false
	}
	if left <= 0 {
		return true
	}
	before, known := l.shareOf(c)
	both := &claim{members: slices.Concat(c.members, rest.members)}
	if after, _ := l.shareOf(both); !known || after.Low < before.Low {
		return true // too few runs, or too unequal ones, to tell it: it stays unexplained
	}
	a, b := l.seconds(rest)
	c.add("cpu", "of it in other code, which is the same on both sides", mean(a), mean(b), "s/run")
	l.move(rule.rule, c, rest.members, "the same code with the same input took longer for the setting that it names")
	return true
}

// followSettings tells of claims that more is done, where the sides run the same program with the
// same arguments under settings that no cause is known for, that it is done for these: Python's
// debug mode of asyncio keeps a stack of each task, and looks at the files of its lines for that.
// Where the setting is the only difference, what the threads do to each other follows from it as well.
func (l *ledger) followSettings() {
	settings, of := l.settings(), l.of(ConfigDiffers)
	if len(settings) == 0 || !l.sameProgram() {
		return
	}
	namers, only := l.namers(settings), len(settings) == 1 && l.sameBuilds()
	for _, c := range l.claims {
		c.onlySetting = only && c.cause.is(amongThreads|isCode)
		if c.onlySetting && of == nil { // nothing is left that only the setting explains
			c.add("facts", "the only setting that differs: "+describe(settings[0]), 0, 0, "")
			c.at(inSetting(settings[0]))
		}
		if of == nil || !c.cause.is(doneMore) && !c.onlySetting || slices.Contains(namers, c) {
			continue
		}
		c.ofSetting = true
		for n, setting := range settings[:min(len(settings), whereLimit)] {
			if namers[n] == of {
				c.add("facts", "the same program under another setting: "+describe(setting), 0, 0, "")
			}
		}
	}
}

// sameBuilds reports whether nothing is known to differ in what both sides ran.
func (s *scene) sameBuilds() bool {
	return !slices.ContainsFunc(s.in.Differs, func(one differs.Difference) bool {
		return one.Seen() && (one.Kind == differs.Dependency || one.Kind == differs.Binary)
	})
}
