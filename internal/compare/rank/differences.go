package rank

import (
	"slices"

	"culprit/internal/compare"
)

// Difference is one item as a case tells it, per unit of work.
type Difference struct {
	Signal  string // one of the signals of a ranking
	Name    string
	Where   string  // the program's own function that most of its change came through, or who had the CPU
	A, B    float64 // mean
	Unit    string
	Change  compare.Interval
	Share   compare.Interval // of the metric's change; zero for counts, whose unit is not the metric's
	Decided bool             // at a false discovery rate of 1 − confidence over all items
}

// Differences lists the items that divide the metric, then the counts: at most limit of each
// signal.
func (r *Ranking) Differences(limit int) (list []Difference) {
	of := map[string]int{}
	for _, item := range slices.Concat(r.Items, r.Beside) {
		beside := r.Metric == compare.MetricCPU && (item.Signal == SignalWait || item.Signal == SignalLock ||
			item.Signal == SignalQueue)
		if of[item.Signal]++; beside || of[item.Signal] > limit {
			continue // waits of all threads beside CPU time are no seconds of it
		}
		list = append(list, Difference{Signal: item.Signal, Name: item.Name, Where: item.Where, A: item.A, B: item.B,
			Unit: item.Unit, Change: item.Change, Share: item.Share, Decided: item.Decided})
	}
	return list
}
