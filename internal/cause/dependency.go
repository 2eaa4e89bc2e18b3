package cause

import (
	"path"
	"slices"
	"strings"

	"culprit/internal/code"
	"culprit/internal/compare/differs"
	"culprit/recording"
)

// nameDependency tells of a claim whose place is a function of a dependency that is not the same on
// both sides which one that is, and where the program calls it.
func (l *ledger) nameDependency(c *claim) {
	at := l.code.Innermost(c.place)
	if at < 0 || c.place[at].Changed == "" {
		return
	}
	c.changed = c.place[at].Changed
	places := []Place{{Kind: InDependency, Name: c.changed}}
	if caller := callerOfChanged(c.place[:at+1], l.code.Own(c.place)); caller != nil {
		places = append(places, Place{Kind: InCode, Role: CalledFrom, Name: callText(caller)})
	}
	c.behindFirst(places...)
	c.add("dependency", "its code is of "+c.changed+", which is not the same on both sides", 0, 0, "")
}

// callerOfChanged is the program's own function from which a stack comes into code that changed; nil
// where there is none.
func callerOfChanged(frames []recording.Frame, own []bool) *recording.Frame {
	first := slices.IndexFunc(frames, func(frame recording.Frame) bool { return frame.Changed != "" })
	for at := first - 1; at >= 0; at-- {
		if own[at] && !code.IsStartUp(frames[at]) {
			return &frames[at]
		}
	}
	return nil
}

// callText is a function with the file that it stands in, where that is known.
func callText(frame *recording.Frame) string {
	if frame.File == "" {
		return frame.Name
	}
	return frame.Name + " (" + path.Base(frame.File) + ")"
}

// onlyChosen is the variable, option or setting that is the only difference of the sides, with the
// value of the dearer one; nil where there is none or more than one.
func (s *scene) onlyChosen() *Place {
	one := differs.Only(s.in.Differs)
	if one == nil || one.Kind == differs.Dependency || one.Kind == differs.Binary {
		return nil
	}
	value, other := one.B, one.A
	if s.swapped {
		value, other = other, value
	}
	if one.Kind != differs.Option {
		return &Place{Kind: InSetting, Name: one.Name, Value: orNone(value)}
	}
	if value == "" {
		value = "without " + other
	}
	return &Place{Kind: InOptions, Name: value}
}

// follows names behind the first place of a claim what was chosen differently, unless it is named.
func (c *claim) follows(only *Place) {
	if only == nil || slices.ContainsFunc(c.places, func(place Place) bool {
		return place.Kind == only.Kind && strings.HasSuffix(place.Name, only.Name)
	}) {
		return
	}
	c.behindFirst(*only)
}
