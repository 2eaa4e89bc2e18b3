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
	if c.came != "" {
		c.behindFirst(Place{Kind: InDependency, Name: c.came})
		c.note("dependency", "most of it is in "+c.came+", which the other side does not run")
	}
	at := l.code.Innermost(c.place)
	if at < 0 || c.place[at].Changed == "" {
		return
	}
	c.changed = c.place[at].Changed
	places := []Place{{Kind: InDependency, Name: c.changed}}
	if first := firstChanged(c.place); c.place[first].Changed != c.changed { // it came with this one
		places = append(places, Place{Kind: InDependency, Name: c.place[first].Changed})
	}
	if caller := callerOfChanged(c.place[:at+1], l.code.Own(c.place)); caller != nil {
		places = append(places, Place{Kind: InCode, Role: CalledFrom, Name: callText(caller)})
	}
	c.behindFirst(places...)
	c.note("dependency", "its code is of "+c.changed+", which is not the same on both sides")
}

// firstChanged is where a stack comes into code that changed, −1 where it does not.
func firstChanged(frames []recording.Frame) int {
	return slices.IndexFunc(frames, func(frame recording.Frame) bool { return frame.Changed != "" })
}

// callerOfChanged is the program's own function from which a stack comes into code that changed;
// nil where there is none.
func callerOfChanged(frames []recording.Frame, own []bool) *recording.Frame {
	for at := firstChanged(frames) - 1; at >= 0; at-- {
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

// onlyChosen is the variable, option or setting that is the only difference of the sides; nil where
// there is none or more than one. Where it is not known what the sides ran, it is the only setting
// under which the same program was run.
func (s *scene) onlyChosen() *differs.Difference {
	if s.oneSided {
		return nil
	}
	if s.in.Differs != nil {
		one := differs.Only(s.in.Differs)
		if one == nil || one.Kind == differs.Dependency || one.Kind == differs.Binary {
			return nil
		}
		return one
	}
	settings := s.settings()
	if len(settings) != 1 || !s.sameProgram() {
		return nil
	}
	one := &differs.Difference{Kind: differs.Setting, Name: settings[0].Name, A: settings[0].A, B: settings[0].B}
	if s.swapped {
		one.A, one.B = one.B, one.A
	}
	return one
}

// placeOf is what was chosen differently with the value of the dearer side.
func (s *scene) placeOf(chosen *differs.Difference) Place {
	cheaper, dearer := chosen.Typed()
	if s.swapped {
		cheaper, dearer = dearer, cheaper
	}
	if chosen.Kind != differs.Option {
		return Place{Kind: InSetting, Name: chosen.Name, Value: orNone(dearer)}
	}
	if dearer == "" {
		dearer = "without " + cheaper
	}
	return Place{Kind: InOptions, Name: dearer}
}

// namesChosen names behind the first place of each claim what was chosen differently, unless it is
// named, where that is the only difference. Strangers take the CPU whatever was chosen.
func (l *ledger) namesChosen() {
	only := l.onlyChosen()
	if only == nil {
		return
	}
	place := l.placeOf(only)
	for _, c := range l.claims {
		named := slices.ContainsFunc(c.places, func(other Place) bool {
			return place.Kind == other.Kind && strings.HasSuffix(other.Name, place.Name)
		})
		if c.cause == CPUStarved && l.byStrangers(c) {
			continue
		}
		c.onlySetting = c.cause.is(amongThreads | isCode)
		if !named {
			c.behindFirst(place)
		}
	}
}
