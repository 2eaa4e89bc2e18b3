package compare

import (
	"math"
	"strings"

	"culprit/internal/code"
	"culprit/internal/stat"
	"culprit/recording"
)

// power is the chance with which a change of the size called smallest would have been seen.
const power = 0.8

// Ranking is the change of a metric with everything that carries a part of it, the largest first, per unit of work.
type Ranking struct {
	Metric string    `json:"metric"` // wall or cpu
	Unit   string    `json:"unit"`   // "s"
	Per    Work      `json:"per"`
	A      []float64 `json:"a"` // the metric of each recording, per unit of work
	B      []float64 `json:"b"`
	// AbsoluteA and B are the same without the division.
	AbsoluteA []float64 `json:"absolute_a"`
	AbsoluteB []float64 `json:"absolute_b"`
	Change    Interval  `json:"change"` // of the metric
	// Known is false with one recording on a side: no interval here is more than the size of the values.
	Known bool `json:"known"`
	// Smallest is the change of the metric that would have been seen with a chance of 80 %; 0 where not Known.
	Smallest float64 `json:"smallest"`
	// Items divide the metric among them: their changes add up to its change.
	Items []Ranked `json:"items"`
	// Beside are what has no seconds of the metric: counts and, of CPU time, all waits of all threads.
	Beside []Ranked `json:"beside"`
}

// Ranked is one item of a ranking.
type Ranked struct {
	Signal string   `json:"signal"`
	Name   string   `json:"name"`
	Where  string   `json:"where"`            // the program's own code, or who had the CPU, for most of the change
	Merged []string `json:"merged,omitempty"` // functions of one side whose time moved in or out of it, counted here
	Unit   string   `json:"unit"`             // of one unit of work: "s", "calls"
	A      float64  `json:"a"`                // mean per unit of work
	B      float64  `json:"b"`
	// AbsoluteA and B are means per recording.
	AbsoluteA float64  `json:"absolute_a"`
	AbsoluteB float64  `json:"absolute_b"`
	Change    Interval `json:"change"`
	Share     Interval `json:"share"` // of the metric's change
	// ShareKnown is false where the metric's own change cannot be told from zero.
	ShareKnown bool    `json:"share_known"`
	OfA        float64 `json:"of_a"` // the change as a part of the metric in A
	P          float64 `json:"p"`    // of no change, for this item alone
	Decided    bool    `json:"decided"`
	Smallest   float64 `json:"smallest"` // the change that would have been seen with a chance of 80 %; 0: not known
	Calls      *Calls  `json:"calls,omitempty"`
}

// Gone and New tell items that one side alone has.
func (r *Ranked) Gone() bool { return r.A > 0 && r.B == 0 }

// New tells an item that only B has.
func (r *Ranked) New() bool { return r.A == 0 && r.B > 0 }

// ranker collects items with one value for each recording.
type ranker struct {
	result     *Result
	work       Work
	confidence float64
	keys       map[itemKey]int
	rows       []rankRow
	families   map[string]sides // how much each family of counts has; nil until asked
}

// sides are two amounts.
type sides struct{ a, b float64 }

type rankRow struct {
	item    Ranked
	a, b    []float64
	where   map[string]float64 // change by the program's own code
	callers map[frameKey]rankCaller
	frame   frameKey
	moved   bool
}

// Rank puts all that a result holds into one order. Work is what the result was compared by.
func Rank(result *Result, work Work, confidence float64) *Ranking {
	r := &ranker{result: result, work: work, confidence: confidence, keys: map[itemKey]int{}}
	for i, key := range owners(result.Paths) {
		path := &result.Paths[i]
		r.add(key, result.Unit, path.A, path.B).through(path)
	}
	r.mergeMoves()
	seconds := len(r.rows)
	r.beside()
	ranking := r.ranking()
	items := r.finish(seconds)
	r.split(items[:seconds])
	ranking.Items, ranking.Beside = kept(items[:seconds], r.rows[:seconds]), items[seconds:]
	bySize(ranking.Items)
	bySize(ranking.Beside)
	return ranking
}

func (r *ranker) add(key itemKey, unit string, a, b []float64) *rankRow {
	at, known := r.keys[key]
	if !known {
		at = len(r.rows)
		r.keys[key] = at
		r.rows = append(r.rows, rankRow{item: Ranked{Signal: key.signal, Name: key.name, Unit: unit},
			a: make([]float64, len(a)), b: make([]float64, len(b)), where: map[string]float64{},
			callers: map[frameKey]rankCaller{}})
	}
	row := &r.rows[at]
	plus(row.a, a)
	plus(row.b, b)
	return row
}

func plus(sum, more []float64) {
	for i := range more {
		sum[i] += more[i]
	}
}

// through notes by which code of the program's own a path came.
func (row *rankRow) through(path *Path) {
	grow := mean(path.B) - mean(path.A)
	if path.Kind == Runnable {
		row.where[path.WakerComm] += grow
		return
	}
	if at := code.Innermost(path.Frames); at >= 0 {
		row.where[path.Frames[at].Name] += grow
	}
	if n := len(path.Frames); row.item.Signal == SignalCode && n > 0 {
		row.frame = frameKey{path.Frames[n-1].Name, path.Frames[n-1].Kind}
		above := callerOf(path.Frames)
		caller := row.callers[above]
		caller.a, caller.b = caller.a+mean(path.A), caller.b+mean(path.B)
		row.callers[above] = caller
	}
}

// callerOf is the nearest frame above the last one that is another function.
func callerOf(frames []recording.Frame) frameKey {
	last := frames[len(frames)-1]
	for i := len(frames) - 2; i >= 0; i-- {
		if frames[i].Name != last.Name {
			return frameKey{frames[i].Name, frames[i].Kind}
		}
	}
	return frameKey{}
}

// beside adds what has no seconds of the metric: how often things happened and, of CPU time, what was waited for.
func (r *ranker) beside() {
	if r.result.Metric == MetricCPU {
		for i := range r.result.Waits {
			path := &r.result.Waits[i].Path
			r.add(ownerOf(path), r.result.Unit, path.A, path.B).through(path)
		}
	}
	for i := range r.result.Counts {
		count := &r.result.Counts[i]
		if besides(count) && !r.uncounted(count) {
			r.add(itemKey{SignalCounted, countName(count)}, strings.TrimSuffix(count.Unit, "/run"), count.A, count.B)
		}
	}
}

func (r *ranker) ranking() *Ranking {
	per := r.work.typical()
	ranking := &Ranking{Metric: r.result.Metric, Unit: r.result.Unit, Per: r.work,
		A: scaled(r.result.A, 1/per), B: scaled(r.result.B, 1/per),
		Known:     len(r.result.A) > 1 && len(r.result.B) > 1,
		AbsoluteA: make([]float64, len(r.result.A)), AbsoluteB: make([]float64, len(r.result.B))}
	for i, value := range r.result.A {
		ranking.AbsoluteA[i] = value / r.work.scale(A, i)
	}
	for i, value := range r.result.B {
		ranking.AbsoluteB[i] = value / r.work.scale(B, i)
	}
	ranking.Change = Change(ranking.A, ranking.B, r.confidence)
	if smallest, err := stat.SmallestDifference(ranking.A, ranking.B, r.confidence, power); err == nil {
		ranking.Smallest = smallest
	}
	return ranking
}

func scaled(values []float64, by float64) []float64 {
	list := make([]float64, len(values))
	for i, value := range values {
		list[i] = value * by
	}
	return list
}

// finish works out what can be told of every item; the first of them, so many, have seconds of the metric.
func (r *ranker) finish(seconds int) []Ranked {
	p, decided := r.decide(r.rows[:seconds])
	more, alsoDecided := r.decide(r.rows[seconds:])
	p, decided = append(p, more...), append(decided, alsoDecided...)
	per := r.work.typical()
	items := make([]Ranked, len(r.rows))
	for i := range r.rows {
		row := &r.rows[i]
		item := row.item
		item.P, item.Decided = p[i], decided[i]
		item.A, item.B = mean(row.a)/per, mean(row.b)/per
		item.AbsoluteA, item.AbsoluteB = r.absolute(A, row.a), r.absolute(B, row.b)
		change := Change(row.a, row.b, r.confidence)
		item.Change = Interval{Value: change.Value / per, Low: change.Low / per, High: change.High / per}
		if smallest, err := stat.SmallestDifference(row.a, row.b, r.confidence, power); err == nil {
			item.Smallest = smallest / per
		}
		if i < seconds {
			item.Share, item.ShareKnown = Share(row.a, row.b, r.result.A, r.result.B, r.confidence)
			if whole := mean(r.result.A); whole > 0 {
				item.OfA = change.Value / whole
			}
		} else if item.A > 0 {
			item.OfA = item.Change.Value / item.A
		}
		item.Where = mostChanged(row.where, item.Name)
		items[i] = item
	}
	return items
}

// absolute is the mean of one side without the division by work.
func (r *ranker) absolute(side Side, values []float64) float64 {
	sum := 0.0
	for i, value := range values {
		sum += value / r.work.scale(side, i)
	}
	return sum / math.Max(1, float64(len(values)))
}

// mostChanged is the code through which most of a change came, "" where that is the item itself.
func mostChanged(where map[string]float64, name string) string {
	best, most := "", 0.0
	for place, grow := range where {
		if size := math.Abs(grow); size > most || size == most && place < best {
			best, most = place, size
		}
	}
	if best == name {
		return ""
	}
	return best
}
