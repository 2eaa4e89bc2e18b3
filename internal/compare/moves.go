package compare

import (
	"math"
	"sort"
)

// rankCaller is how much of a function's own time was spent in calls from one caller.
type rankCaller struct{ a, b float64 }

// mostly is the part of a function's time that must come through one caller for the two to be one candidate.
const mostly = 0.5

// mergeMoves joins functions that only one side has with the caller whose own time changed the other way by about as
// much: inlined on one side, or split off. The time moved and did not change (cost shift: FBDetect, SOSP 2024). What
// is left of the difference is the caller's change.
func (r *ranker) mergeMoves() {
	at := map[frameKey]int{}
	var alone []int
	for i := range r.rows {
		row := &r.rows[i]
		if row.item.Signal != SignalCode || row.frame.name == "" {
			continue
		}
		at[row.frame] = i
		if (mean(row.a) == 0) != (mean(row.b) == 0) {
			alone = append(alone, i)
		}
	}
	sort.SliceStable(alone, func(i, j int) bool { return r.rows[alone[i]].size() > r.rows[alone[j]].size() })
	for _, i := range alone {
		row := &r.rows[i]
		caller, known := at[row.mainCaller()]
		if !known || caller == i || r.rows[caller].moved {
			continue
		}
		into := &r.rows[caller]
		lost, gained := mean(row.b)-mean(row.a), mean(into.b)-mean(into.a)
		if lost*gained >= 0 || math.Abs(gained) < math.Abs(lost)/shiftFactor ||
			math.Abs(gained) > math.Abs(lost)*shiftFactor || mean(into.a) == 0 || mean(into.b) == 0 {
			continue
		}
		plus(into.a, row.a)
		plus(into.b, row.b)
		into.item.Merged = append(into.item.Merged, row.item.Name)
		row.moved = true
	}
}

func (row *rankRow) size() float64 { return math.Abs(mean(row.b) - mean(row.a)) }

// mainCaller is the caller that most of the time came through, nothing where there is none such.
func (row *rankRow) mainCaller() frameKey {
	all := mean(row.a) + mean(row.b)
	for caller, time := range row.callers {
		if time.a+time.b > mostly*all {
			return caller
		}
	}
	return frameKey{}
}
