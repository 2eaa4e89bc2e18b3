package rank

import (
	"cmp"
	"math"
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/names"
	"culprit/internal/compare/perrun"
	"culprit/internal/stat"
	"culprit/recording"
)

// item names what seconds or events belong to.
type item struct{ signal, name string }

// row is an item with one value for each recording.
type row struct {
	item
	unit  string
	a, b  []float64
	where map[string]float64 // change by the program's own code, or by who had the CPU
	// callers are how much of the function frame's own time was spent in calls from each.
	callers map[names.Key]float64
	frame   names.Key
	moved   bool     // into the item of its caller
	merged  []string // functions of one side that moved into it
	p       float64
	decided bool
}

// table collects rows in the order in which their items come first.
type table struct {
	index map[item]*row
	rows  []*row
}

// add adds amounts to an item.
func (t *table) add(of item, unit string, a, b []float64) *row {
	if t.index[of] == nil {
		t.index[of] = &row{item: of, unit: unit, a: make([]float64, len(a)), b: make([]float64, len(b)),
			where: map[string]float64{}, callers: map[names.Key]float64{}}
		t.rows = append(t.rows, t.index[of])
	}
	perrun.Add(t.index[of].a, a)
	perrun.Add(t.index[of].b, b)
	return t.index[of]
}

func (r *row) grow() float64 { return perrun.Growth(r.a, r.b) }

// alone reports whether one side only has the item.
func (r *row) alone() bool { return (stat.Average(r.a) == 0) != (stat.Average(r.b) == 0) }

// mostChanged is the code through which most of a change came, "" where that is the item itself.
func (r *row) mostChanged() string {
	sizes := map[string]float64{}
	for place, grow := range r.where {
		sizes[place] = math.Abs(grow)
	}
	place, _ := perrun.Largest(sizes)
	if place == r.name {
		return ""
	}
	return place
}

// decide marks which rows can be told from zero when all of them are looked at together, at a false
// discovery rate of 1 − confidence; p is what each says alone.
func decide(rows []*row, confidence float64) {
	var a, b [][]float64
	for _, row := range rows {
		a, b = append(a, row.a), append(b, row.b)
	}
	p := perrun.PValues(a, b)
	decided, err := stat.BenjaminiHochberg(p, 1-confidence)
	for i, row := range rows {
		row.p, row.decided = p[i], err == nil && decided[i]
	}
}

// leaf is the name of a path's innermost function.
func leaf(path *compare.Path) string {
	if n := len(path.Frames); n > 0 {
		return path.Frames[n-1].Name
	}
	return "[no stack]"
}

// waitedIn names where a blocked path waits: in the program's own code, if any, and the call.
func waitedIn(path *compare.Path) string {
	place := leaf(path)
	if at := code.Innermost(path.Frames); at >= 0 {
		place = path.Frames[at].Name
	}
	if path.Syscall != "" {
		place += ";" + path.Syscall
	}
	return place
}

// mainCallerPart of a function's time must come through its main caller. Chosen.
const mainCallerPart = 0.5

// mergeMoves joins functions that only one side has with the caller whose own time changed the
// other way by about as much: inlined on one side, or split off. What is left is the caller's
// change.
func (t *table) mergeMoves() {
	at := map[names.Key]*row{}
	var alone []*row
	for _, row := range t.rows {
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
		if into == nil || into.moved || into.alone() ||
			!perrun.Moved(min(row.grow(), into.grow()), max(row.grow(), into.grow())) {
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
