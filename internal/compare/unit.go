package compare

import "strings"

// perRun ends the units of amounts that are those of one recording: "calls/run". All reasoning is done in them, so that
// "seldom" and "often" mean the same whatever the unit of work; Unit writes what is told.
const perRun = "/run"

// Unit is what amounts are told per. It is the one place where amounts of a recording become amounts per unit of work.
type Unit struct {
	Name string  // "run", "second", "request": what stands after "per"
	per  float64 // units in a typical recording of A
}

// Unit returns what amounts of comparisons with this work are told per; without any a recording is a run.
func (w *Work) Unit() Unit {
	if w == nil {
		return Unit{Name: PerRun, per: 1}
	}
	return Unit{Name: w.Name, per: w.typical()}
}

// Amount is an amount per unit of work.
func (u Unit) Amount(value float64) float64 { return value / u.per }

// Interval is an interval per unit of work.
func (u Unit) Interval(i Interval) Interval {
	return Interval{Value: u.Amount(i.Value), Low: u.Amount(i.Low), High: u.Amount(i.High)}
}

// Of writes a unit of amounts: "calls/run" is "calls/second" here. counted is false where it is not an amount of a
// recording, such as the time of one call: such a value must not be divided.
func (u Unit) Of(unit string) (word string, counted bool) {
	head, counted := strings.CutSuffix(unit, perRun)
	if !counted {
		return unit, false
	}
	return head + "/" + u.Name, true
}

// Difference is an item of a ranking per unit of work.
func (u Unit) Difference(d Difference) Difference {
	d.A, d.B, d.Change = u.Amount(d.A), u.Amount(d.B), u.Interval(d.Change)
	d.Unit, _ = u.Of(d.Unit)
	return d
}

// Profile is a call tree per unit of work. The given one keeps its amounts.
func (u Unit) Profile(p Profile) Profile {
	nodes := make([]ProfileNode, len(p.Nodes))
	for i, node := range p.Nodes {
		change := u.Interval(Interval{Value: node.Change, Low: node.Low, High: node.High})
		node.SelfA, node.SelfB = u.Amount(node.SelfA), u.Amount(node.SelfB)
		node.Change, node.Low, node.High = change.Value, change.Low, change.High
		nodes[i] = node
	}
	return Profile{Nodes: nodes}
}
