package units

import (
	"strings"

	"culprit/internal/stat"
)

// PerRecording ends the units of amounts of one recording, "calls/run". All reasoning is done in
// them; Unit writes what is told.
const PerRecording = "/run"

// Unit is what amounts are told per: the one place where they become amounts per unit of work.
type Unit struct {
	Name string  // "run", "second", "request": what stands after "per"
	per  float64 // units in a typical recording of A
}

// Unit returns what amounts are told per; without any work a recording is a run.
func (w *Work) Unit() Unit {
	if w == nil {
		return Unit{Name: PerRun, per: 1}
	}
	return Unit{Name: w.Name, per: w.Typical()}
}

// Amount is an amount per unit of work.
func (u Unit) Amount(value float64) float64 { return value / u.per }

// Interval is an interval per unit of work.
func (u Unit) Interval(i stat.Interval) stat.Interval { return i.Over(u.per) }

// Of writes a unit of amounts: "calls/run" is "calls/second" here. counted is false where it is not
// an amount of a recording, such as the time of one call: such a value must not be divided.
func (u Unit) Of(unit string) (word string, counted bool) {
	head, counted := strings.CutSuffix(unit, PerRecording)
	if !counted {
		return unit, false
	}
	return head + "/" + u.Name, true
}
