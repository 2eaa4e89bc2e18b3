package rank

import (
	"cmp"
	"math"
	"slices"

	"culprit/internal/compare/names"
	"culprit/internal/compare/perrun"
	"culprit/internal/stat"
	"culprit/recording"
)

const (
	// mainCallerPart of a function's time must come through a caller to be one candidate. Chosen.
	mainCallerPart = 0.5
	// movedWithin is the factor within which a function lost what its caller gained: a move. Chosen.
	movedWithin = 2
)

// mergeMoves joins functions that only one side has with the caller whose own time changed the
// other way by about as much: inlined on one side, or split off. The time moved and did not change
// (cost shift: FBDetect, SOSP 2024). What is left is the caller's change.
func (t *table) mergeMoves() {
	at := map[names.Key]*row{}
	var alone []*row
	for i := range t.rows {
		row := &t.rows[i]
		if row.signal != SignalCode || row.frame.Name == "" {
			continue
		}
		at[row.frame] = row
		if row.alone() {
			alone = append(alone, row)
		}
	}
	slices.SortStableFunc(alone, func(x, y *row) int {
		return cmp.Compare(math.Abs(y.grow()), math.Abs(x.grow()))
	})
	for _, row := range alone {
		into := at[row.mainCaller()]
		if into == nil || into == row || into.moved {
			continue
		}
		lost, gained := row.grow(), into.grow()
		if lost*gained >= 0 || math.Abs(gained) < math.Abs(lost)/movedWithin ||
			math.Abs(gained) > math.Abs(lost)*movedWithin ||
			stat.Average(into.a) == 0 || stat.Average(into.b) == 0 {
			continue
		}
		perrun.Add(into.a, row.a)
		perrun.Add(into.b, row.b)
		into.merged = append(into.merged, row.name)
		row.moved = true
	}
}

// mainCaller is the caller that most of the time came through, nothing where there is none such.
func (r *row) mainCaller() names.Key {
	for caller, time := range r.callers {
		if time > mainCallerPart*(stat.Average(r.a)+stat.Average(r.b)) {
			return caller
		}
	}
	return names.Key{}
}

// callerOf is the nearest frame above the last one that is another function.
func callerOf(frames []recording.Frame) names.Key {
	for _, frame := range slices.Backward(frames) {
		if frame.Name != frames[len(frames)-1].Name {
			return names.KeyOf(frame)
		}
	}
	return names.Key{}
}
