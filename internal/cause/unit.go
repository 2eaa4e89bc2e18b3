package cause

import (
	"slices"

	"culprit/internal/compare/units"
)

// InUnit writes suspects per unit of work: Judge tells amounts of a typical recording. What is no
// amount of one, such as the time of one call, stays. The given suspects keep theirs.
func InUnit(suspects []Suspect, unit units.Unit) []Suspect {
	told := make([]Suspect, len(suspects))
	for i, suspect := range suspects {
		suspect.Seconds = unit.Interval(suspect.Seconds)
		evidence := make([]Evidence, len(suspect.Evidence))
		for k, one := range suspect.Evidence {
			var counted bool
			if one.Unit, counted = unit.Of(one.Unit); counted {
				one.A, one.B = unit.Amount(one.A), unit.Amount(one.B)
			}
			evidence[k] = one
		}
		suspect.Evidence = evidence
		if suspect.Prediction != nil {
			told := *suspect.Prediction
			told.Count = unit.Amount(told.Count)
			told.Predicted, told.Observed = unit.Interval(told.Predicted), unit.Interval(told.Observed)
			suspect.Prediction = &told
		}
		told[i] = suspect
	}
	return told
}

// InUnit is the same per unit of work.
func (w Why) InUnit(unit units.Unit) Why {
	w.Growth, w.Nobody = unit.Amount(w.Growth), unit.Amount(w.Nobody)
	w.Entries = slices.Clone(w.Entries)
	for i := range w.Entries {
		w.Entries[i].Seconds = unit.Amount(w.Entries[i].Seconds)
	}
	return w
}
