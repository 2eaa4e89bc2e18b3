package cause

import (
	"slices"

	"culprit/internal/compare"
)

// namers are the claims that name a setting which differs, by the setting's place in the list; nil where none does.
func (s *scene) namers(settings []compare.FactChange) []*claim {
	by := make([]*claim, len(settings))
	for n, setting := range settings {
		text := describe(setting)
		for _, c := range s.owner {
			if c != nil && slices.ContainsFunc(c.evidence, func(e Evidence) bool { return e.Text == text }) {
				by[n] = c
				break
			}
		}
	}
	return by
}

// unnamed are the settings that no claim names yet.
func (s *scene) unnamed(settings []compare.FactChange) []compare.FactChange {
	var left []compare.FactChange
	for n, c := range s.namers(settings) {
		if c == nil {
			left = append(left, settings[n])
		}
	}
	return left
}

// adoptRest gives what nobody owns to the one claim that names all settings in which the sides differ: the same code
// with the same input took longer for them. A heap that is collected more often costs the caches of all other code as
// well. It reports false where there is no such claim, or where the rest is larger: that has another mechanism.
func (s *scene) adoptRest(settings []compare.FactChange) bool {
	var c *claim
	for _, namer := range s.namers(settings) {
		if namer == nil || c != nil && namer != c {
			return false
		}
		c = namer
	}
	if c == nil {
		return false
	}
	rest := &claim{}
	for i, owner := range s.owner {
		if owner == nil {
			rest.members = append(rest.members, i)
		}
	}
	left := s.grew(rest)
	if left > s.grew(c) {
		return false
	}
	if left <= 0 {
		return true
	}
	before, known := s.shareOf(c)
	both := &claim{members: slices.Concat(c.members, rest.members)}
	if after, _ := s.shareOf(both); !known || after.Low < before.Low {
		return true // too few runs, or too unequal ones, to tell it: it stays unexplained
	}
	a, b := s.seconds(rest)
	c.add("cpu", "of it in other code, which is the same on both sides", mean(a), mean(b), "s/run")
	s.adopt(c, rest.members...)
	return true
}

// doneMore are causes that say that more of something is done, and not why.
var doneMore = map[string]bool{"syscall.chatty": true, "clock.read-often": true, "memory.faults": true,
	"runtime.gc": true, "process.short-lived": true}

// followSettings tells of claims that more is done, where the sides run the same program with the same arguments under
// settings that no cause is known for, that it is done for these: Python's debug mode of asyncio keeps a stack of each
// task, and looks at the files of its lines for that.
func (s *scene) followSettings(claims []*claim) {
	settings := s.settings()
	var of *claim
	for _, c := range claims {
		if c.id == "config.differs" && s.sameProgram() {
			of = c
		}
	}
	if of == nil {
		return
	}
	namers := s.namers(settings)
	for _, c := range claims {
		if !doneMore[c.id] || slices.Contains(namers, c) {
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
