package main

import (
	"fmt"
	"strings"
	"unicode"
)

// Difference is one thing in which culprit says that the sides are not the same.
type Difference struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// How the change of a pair was told in the line `differs`.
const (
	toldFirst = "first"
	toldNot   = "not named"
	toldNone  = "no list" // the answer says nothing of what differs
)

// told says where in the list of differences the change stands: "first", "2 of 5", "not named" or
// "no list". Of a package the versions must be right, too.
func (c Change) told(list []Difference) string {
	if list == nil {
		return toldNone
	}
	for i, difference := range list {
		if !c.is(difference) {
			continue
		}
		if i == 0 {
			return toldFirst
		}
		return fmt.Sprintf("%d of %d", i+1, len(list))
	}
	return toldNot
}

// is tells whether a difference is the change. A setting may be called by its variable alone, a
// package of Maven by its artifact alone.
func (c Change) is(d Difference) bool {
	if c.Kind == settingKind {
		return c.isSetting(d)
	}
	name, other := plainName(c.Name), plainName(d.Name)
	if name != other && !strings.HasSuffix(name, ":"+other) && !strings.HasSuffix(other, ":"+name) {
		return false
	}
	return sameVersion(c.From, d.A) && sameVersion(c.To, d.B)
}

// isSetting tells whether a difference is a setting, by its name or by the word of the command that
// sets it: -XX:-Inline sets -XX:Inline.
func (c Change) isSetting(d Difference) bool {
	letters := func(text string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, text)
	}
	name, other := letters(c.Name), letters(d.Name)
	return other != "" && (strings.Contains(name, other) || strings.Contains(other, name)) ||
		strings.Contains(letters(d.A), name) || strings.Contains(letters(d.B), name)
}

// plainName is a name without what registries do not tell apart.
func plainName(name string) string {
	return strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(name))
}

func sameVersion(want, got string) bool {
	return strings.TrimPrefix(got, "v") == strings.TrimPrefix(want, "v")
}

// changesTold counts how often the change was the first that was told, of the upgrades and of the
// settings.
func (b Scoreboard) changesTold() string {
	var upgrades, settings, firstUpgrades, firstSettings int
	for _, s := range b.Scores {
		if s.Change == nil || s.Answer == nil || s.Truth.Outcome == "same" {
			continue
		}
		first := count(s.Told == toldFirst)
		if s.Change.Kind == settingKind {
			settings, firstSettings = settings+1, firstSettings+first
		} else {
			upgrades, firstUpgrades = upgrades+1, firstUpgrades+first
		}
	}
	if upgrades+settings == 0 {
		return ""
	}
	return fmt.Sprintf(" Changed dependency told first: %d of %d upgrades; changed setting told first: %d of %d.",
		firstUpgrades, upgrades, firstSettings, settings)
}

// showsChanges tells whether the scoreboard has published changes: then it says how they were told.
func (b Scoreboard) showsChanges() bool {
	for _, s := range b.Scores {
		if s.Change != nil {
			return true
		}
	}
	return false
}

// change is what the pair changes and how that was told, as a cell of a table.
func (s Score) change() string {
	if s.Change == nil {
		return "–"
	}
	text := s.Change.Name + " " + s.Change.From + " → " + s.Change.To
	if s.Told != "" && s.Truth.Outcome != "same" {
		text += ": " + s.Told
	}
	return text
}
