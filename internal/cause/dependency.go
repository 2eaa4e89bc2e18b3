package cause

import (
	"path"
	"slices"

	"culprit/internal/code"
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
	c.places = slices.Insert(c.places, min(1, len(c.places)), places...)
	c.places = c.places[:min(len(c.places), whereLimit)]
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
