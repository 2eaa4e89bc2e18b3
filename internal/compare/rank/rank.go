// Package rank puts all that differs between two groups of recordings into one order: what carries
// most of the metric's change first. Each second of the metric belongs to one item.
//
// It refuses to call a difference what chance explains: items are decided together, at a false
// discovery rate, and what is too small on both sides is not tested.
//
//	ranking := rank.Of(results.CPU, work, 0.95)
//	fmt.Println(ranking.Items[0].Signal, ranking.Items[0].Name, ranking.Items[0].Change.Value)
package rank

import (
	"math"
	"slices"
	"sort"
	"strings"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/names"
	"culprit/internal/compare/perrun"
	"culprit/internal/compare/units"
	"culprit/internal/stat"
)

// power is the chance of seeing a change of the size called smallest. Chosen: the usual one.
const power = 0.8

// Ranking is all that carries a part of a metric's change, the largest first, per unit of work.
type Ranking struct {
	Metric string     `json:"metric"` // wall or cpu
	Unit   string     `json:"unit"`   // "s"
	Per    units.Work `json:"per"`
	A      []float64  `json:"a"` // the metric of each recording, per unit of work
	B      []float64  `json:"b"`
	// AbsoluteA and B are the same without the division.
	AbsoluteA []float64        `json:"absolute_a"`
	AbsoluteB []float64        `json:"absolute_b"`
	Change    compare.Interval `json:"change"` // of the metric
	// Known is false with one recording on a side: an interval is then the size of the values.
	Known bool `json:"known"`
	// Smallest is the change that would have been seen with a chance of 80 %; 0 where not Known.
	Smallest float64 `json:"smallest"`
	// Items divide the metric among them: their changes add up to its change.
	Items []Item `json:"items"`
	// Beside are what has no seconds of the metric: counts and, of CPU time, all waits of all
	// threads.
	Beside []Item `json:"beside"`
}

// Item is one item of a ranking.
type Item struct {
	Signal string   `json:"signal"`
	Name   string   `json:"name"`
	Where  string   `json:"where"`            // the program's own code, or who had the CPU
	Merged []string `json:"merged,omitempty"` // functions of one side whose time moved in or out
	Unit   string   `json:"unit"`             // of one unit of work: "s", "calls"
	A      float64  `json:"a"`                // mean per unit of work
	B      float64  `json:"b"`
	// AbsoluteA and B are means per recording.
	AbsoluteA float64          `json:"absolute_a"`
	AbsoluteB float64          `json:"absolute_b"`
	Change    compare.Interval `json:"change"`
	Share     compare.Interval `json:"share"` // of the metric's change
	// ShareKnown is false where the metric's own change cannot be told from zero.
	ShareKnown bool          `json:"share_known"`
	OfA        float64       `json:"of_a"` // the change as a part of the metric in A
	P          float64       `json:"p"`    // of no change, for this item alone
	Decided    bool          `json:"decided"`
	Smallest   float64       `json:"smallest"` // as that of the ranking; 0: not known
	Calls      *perrun.Calls `json:"calls,omitempty"`
}

// Gone and New tell items that one side alone has.
func (r *Item) Gone() bool { return r.A > 0 && r.B == 0 }

// New tells an item that only B has.
func (r *Item) New() bool { return r.A == 0 && r.B > 0 }

// ranker collects items with one value for each recording.
type ranker struct {
	*table
	result     *compare.Result
	work       units.Work
	scales     []float64 // of the recordings of A, then those of B
	confidence float64
	uncounted  []string // families of counts that one side has none of
}

// Of puts all that a result holds into one order. Work is what the result was compared by.
func Of(result *compare.Result, work units.Work, confidence float64) *Ranking {
	sides := perrun.Sides{A: len(result.A), B: len(result.B)}
	r := &ranker{table: &table{index: map[item]*row{}}, result: result, work: work, scales: work.Scales(sides),
		confidence: confidence, uncounted: uncounted(result.Counts)}
	for i, owner := range owners(result.Paths) {
		path := &result.Paths[i]
		r.add(owner, result.Unit, path.A, path.B).through(path)
	}
	r.mergeMoves()
	seconds := len(r.rows)
	r.beside()
	ranking := r.ranking()
	ranking.Items = r.finish(r.rows[:seconds], true)
	ranking.Beside = r.finish(r.rows[seconds:], false)
	r.splitCalls(ranking.Items)
	return ranking
}

// through notes by which code of the program's own a path came.
func (r *row) through(path *compare.Path) {
	grow := perrun.Growth(path.A, path.B)
	if path.Kind == compare.Runnable {
		r.where[path.WakerComm] += grow
		return
	}
	if at := code.Innermost(path.Frames); at >= 0 {
		place := path.Frames[at].Name
		if code.IsEntry(path.Frames[at]) {
			place = "" // everything is below it
		}
		r.where[place] += grow
	}
	if n := len(path.Frames); r.signal == SignalCode && n > 0 {
		r.frame = names.KeyOf(path.Frames[n-1])
		r.callers[callerOf(path.Frames)] += stat.Average(path.A) + stat.Average(path.B)
	}
}

// beside adds what has no seconds of the metric: counts and, for CPU time, waits.
func (r *ranker) beside() {
	if r.result.Metric == compare.MetricCPU {
		for i := range r.result.Waits {
			path := &r.result.Waits[i].Path
			r.add(ownerOf(path), r.result.Unit, path.A, path.B).through(path)
		}
	}
	for i := range r.result.Counts {
		counted := &r.result.Counts[i]
		if besides(counted) && r.isCounted(counted) {
			unit := strings.TrimSuffix(counted.Unit, units.PerRecording)
			r.add(item{SignalCounted, countName(counted)}, unit, counted.A, counted.B)
		}
	}
}

func (r *ranker) ranking() *Ranking {
	per := r.work.Typical()
	scaled := func(values []float64) []float64 {
		list := slices.Clone(values)
		for i := range list {
			list[i] *= 1 / per
		}
		return list
	}
	ranking := &Ranking{Metric: r.result.Metric, Unit: r.result.Unit, Per: r.work,
		A: scaled(r.result.A), B: scaled(r.result.B), Known: len(r.result.A) > 1 && len(r.result.B) > 1}
	ranking.AbsoluteA, ranking.AbsoluteB = r.absolute(r.result.A, r.result.B)
	ranking.Change = perrun.Change(ranking.A, ranking.B, r.confidence)
	ranking.Smallest = r.smallest(ranking.A, ranking.B)
	return ranking
}

func (r *ranker) smallest(a, b []float64) float64 {
	smallest, _ := stat.SmallestDifference(a, b, r.confidence, power) // 0 where no spread is known
	return smallest
}

// absolute are the values of each side without the division by work.
func (r *ranker) absolute(a, b []float64) (absoluteA, absoluteB []float64) {
	values := slices.Concat(a, b)
	for i := range values {
		values[i] /= r.scales[i]
	}
	return perrun.Sides{A: len(a), B: len(b)}.Split(values)
}

// finish works out what can be told of the rows of one family, the largest change first; it may
// divide the seconds of the metric.
func (r *ranker) finish(rows []*row, seconds bool) []Item {
	least := perrun.TooSmall * (stat.Average(r.result.A) + stat.Average(r.result.B))
	var tested []*row
	for _, row := range rows {
		row.p = 1
		if !row.moved && (row.signal == SignalCounted || stat.Average(row.a)+stat.Average(row.b) >= least) {
			tested = append(tested, row)
		}
	}
	decide(tested, r.confidence)
	items := make([]Item, 0, len(rows))
	for _, row := range rows {
		if !row.moved {
			items = append(items, r.item(row, seconds))
		}
	}
	bySize(items)
	return items
}

func (r *ranker) item(row *row, seconds bool) Item {
	per := r.work.Typical()
	absoluteA, absoluteB := r.absolute(row.a, row.b)
	change := perrun.Change(row.a, row.b, r.confidence)
	item := Item{Signal: row.signal, Name: row.name, Where: row.mostChanged(), Merged: row.merged,
		Unit: row.unit, A: stat.Average(row.a) / per, B: stat.Average(row.b) / per,
		AbsoluteA: stat.Average(absoluteA), AbsoluteB: stat.Average(absoluteB), Change: change.Over(per),
		P: row.p, Decided: row.decided, Smallest: r.smallest(row.a, row.b) / per}
	if seconds {
		item.Share, item.ShareKnown = perrun.Share(row.a, row.b, r.result.A, r.result.B, r.confidence)
		if whole := stat.Average(r.result.A); whole > 0 {
			item.OfA = change.Value / whole
		}
	} else if item.A > 0 {
		item.OfA = item.Change.Value / item.A
	}
	return item
}

// bySize puts the largest change first: seconds by size, counts by how many times as often.
func bySize(items []Item) {
	size := func(item *Item) float64 {
		if item.Signal == SignalCounted {
			return math.Abs(math.Log((item.B + 1) / (item.A + 1)))
		}
		return math.Abs(item.Change.Value)
	}
	sort.SliceStable(items, func(i, j int) bool {
		x, y := &items[i], &items[j]
		if x.Signal == SignalCounted && x.Decided != y.Decided {
			return x.Decided
		}
		if size(x) != size(y) {
			return size(x) > size(y)
		}
		return x.Signal+x.Name < y.Signal+y.Name
	})
}
