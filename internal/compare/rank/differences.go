package rank

import (
	"math"
	"sort"
	"strings"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/internal/compare/perrun"
	"culprit/internal/compare/units"
	"culprit/internal/stat"
)

// Difference is one item that differs: a function, a wait, a system call, a process.
type Difference struct {
	Signal  string // "cpu", "wait", "runqueue", "syscalls" or "processes"
	Name    string
	Where   string  // the program's own function that most of its CPU time came through, "" for itself
	A, B    float64 // mean per run
	Unit    string
	Change  compare.Interval
	Share   compare.Interval // of the metric's change; zero for counts, whose unit is not the metric's
	Decided bool             // at a false discovery rate of 1 − confidence over all items
}

// Per is a difference per unit of work.
func (d Difference) Per(unit units.Unit) Difference {
	d.A, d.B, d.Change = unit.Amount(d.A), unit.Amount(d.B), unit.Interval(d.Change)
	d.Unit, _ = unit.Of(d.Unit)
	return d
}

// Differences lists every item of a result by the size of its change: seconds first, then counts.
// CPU items are a function's own time; on the wall metric only what lay on the critical path. At
// most limit items of each signal.
func Differences(result *compare.Result, confidence float64, limit int) []Difference {
	t := &table{index: map[item]*row{}}
	for i := range result.Paths {
		path := &result.Paths[i]
		t.add(itemOf(path), result.Unit, path.A, path.B).throughCode(path)
	}
	for i := range result.Counts {
		counted := &result.Counts[i]
		call, isCall := strings.CutSuffix(strings.TrimPrefix(counted.Name, "syscall."), ".count")
		switch {
		case counted.Name == counts.Processes && counted.Key != "":
			t.add(item{"processes", counted.Key}, counted.Unit, counted.A, counted.B)
		case isCall && counted.Key == "":
			t.add(item{"syscalls", call}, counted.Unit, counted.A, counted.B)
		}
	}
	decide(t.rows, confidence)
	list := make([]Difference, len(t.rows))
	for i, row := range t.rows {
		list[i] = Difference{Signal: row.signal, Name: row.name, Unit: row.unit, Where: row.mostChanged(),
			A: stat.Average(row.a), B: stat.Average(row.b), Change: perrun.Change(row.a, row.b, confidence),
			Decided: row.decided}
		if row.unit == result.Unit {
			list[i].Share, _ = perrun.Share(row.a, row.b, result.A, result.B, confidence)
		}
	}
	sort.SliceStable(list, func(i, j int) bool {
		x, y := &list[i], &list[j]
		if seconds := x.Unit == result.Unit; seconds != (y.Unit == result.Unit) {
			return seconds
		}
		if math.Abs(x.Change.Value) != math.Abs(y.Change.Value) {
			return math.Abs(x.Change.Value) > math.Abs(y.Change.Value)
		}
		return x.Name < y.Name
	})
	kept, of := make([]Difference, 0, len(list)), map[string]int{}
	for _, difference := range list {
		if of[difference.Signal]++; of[difference.Signal] <= limit {
			kept = append(kept, difference)
		}
	}
	return kept
}

// itemOf names the item that a path adds to.
func itemOf(path *compare.Path) item {
	switch path.Kind {
	case compare.Runnable:
		if path.WakerComm == "" {
			return item{"runqueue", "nobody ran"}
		}
		return item{"runqueue", path.WakerComm + " ran"}
	case compare.Blocked:
		return item{"wait", waitedIn(path)}
	}
	return item{"cpu", leaf(path)}
}

// throughCode notes the innermost function of the program's own that CPU time came through: the
// name of a run time's function says nothing of the program.
func (r *row) throughCode(path *compare.Path) {
	at := code.Innermost(path.Frames)
	if path.Kind != compare.Running || at < 0 {
		return
	}
	name := path.Frames[at].Name
	if code.IsEntry(path.Frames[at]) {
		name = "" // everything is below it
	}
	r.where[name] += perrun.Growth(path.A, path.B)
}
