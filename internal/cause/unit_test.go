package cause

import (
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/units"
)

// What is counted in a recording is told per unit of work; what one call takes is the same in every
// unit.
func TestSuspectsInUnit(t *testing.T) {
	judged := []Suspect{{Seconds: compare.Interval{Value: 4, Low: 2, High: 6}, Share: compare.Interval{Value: 0.5},
		Evidence: []Evidence{{Text: "calls", A: 10, B: 30, Unit: "calls/run"}, {Text: "each", A: 2, B: 3, Unit: "s"}}}}
	work := units.Work{Name: "second", A: []float64{2}}
	told := InUnit(judged, work.Unit())[0]
	if told.Seconds != (compare.Interval{Value: 2, Low: 1, High: 3}) || told.Share.Value != 0.5 {
		t.Errorf("seconds %+v, share %+v", told.Seconds, told.Share)
	}
	if calls := told.Evidence[0]; calls.A != 5 || calls.B != 15 || calls.Unit != "calls/second" {
		t.Errorf("calls are %+v", calls)
	}
	if each := told.Evidence[1]; each != judged[0].Evidence[1] {
		t.Errorf("the cost of a call became %+v", each)
	}
	if judged[0].Evidence[0].Unit != "calls/run" {
		t.Error("the given suspects were changed")
	}
}

// How a judgement came about is told per unit of work as well, and parts of the whole stay parts.
func TestWhyInUnit(t *testing.T) {
	judged := Why{Growth: 4, Nobody: -1, Entries: []Entry{{Seconds: 5}}}
	work := units.Work{Name: "second", A: []float64{2}}
	told := judged.InUnit(work.Unit())
	if told.Growth != 2 || told.Nobody != -0.5 || told.Entries[0].Seconds != 2.5 {
		t.Errorf("told %+v", told)
	}
	if judged.Entries[0].Seconds != 5 {
		t.Error("the given one was changed")
	}
}
