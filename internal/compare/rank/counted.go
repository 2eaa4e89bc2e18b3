package rank

import (
	"slices"
	"strings"

	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/internal/compare/perrun"
	"culprit/internal/stat"
)

// splitCalls gives the items of system calls, and of waits in them, what their counts say.
func (r *ranker) splitCalls(items []Item) {
	counted := map[string]*compare.Count{}
	for i := range r.result.Counts {
		count := &r.result.Counts[i]
		if call, what := counts.CallOf(count.Name); what == "count" && count.Key == "" && r.isCounted(count) {
			counted[call] = count
		}
	}
	for i := range items {
		one := &items[i]
		call := one.Name
		switch one.Signal {
		case SignalWait:
			call = call[strings.LastIndexByte(call, ';')+1:]
		case SignalCall:
		default:
			continue
		}
		if count := counted[call]; count != nil {
			row := r.index[item{one.Signal, one.Name}]
			calls := perrun.SplitCalls(row.a, row.b, count.A, count.B, r.confidence)
			one.Calls = calls.Over(r.work.Typical())
		}
	}
}

// always are the families of counts that every program has some of: no zero of a side is one.
var always = []string{"syscall.", "switches."}

// uncounted are those that one side has no probe for: an import, a part of a recording.
func uncounted(counts []compare.Count) (families []string) {
	for _, family := range always {
		a, b := 0.0, 0.0
		for i := range counts {
			if strings.HasPrefix(counts[i].Name, family) {
				a, b = a+stat.Average(counts[i].A), b+stat.Average(counts[i].B)
			}
		}
		if a == 0 || b == 0 {
			families = append(families, family)
		}
	}
	return families
}

// isCounted reports whether both sides counted.
func (r *ranker) isCounted(counted *compare.Count) bool {
	return !slices.ContainsFunc(r.uncounted, func(family string) bool {
		return strings.HasPrefix(counted.Name, family)
	})
}

// besides tells the counts that stand beside a ranking: of the whole tree, or processes by name.
func besides(counted *compare.Count) bool {
	switch {
	case counted.Name == counts.Processes:
		return counted.Key != ""
	case counted.Unit == counts.RatioUnit:
		return false // no amount
	case counted.Key != "" || counted.Name == counts.TickInterval || counted.Unit == "s/run":
		return false
	case strings.HasPrefix(counted.Name, "metric."):
		return false // what a program said of itself: not known to be an amount
	}
	return stat.Average(counted.A) > 0 || stat.Average(counted.B) > 0
}

// countName writes a count's name for a reader.
func countName(counted *compare.Count) string {
	if call, what := counts.CallOf(counted.Name); call != "" {
		switch what {
		case "count":
			return call + " calls"
		case "errors":
			return call + " calls that failed"
		}
		return call + " " + what
	}
	switch counted.Name {
	case counts.Processes:
		return "processes " + counted.Key
	case "switches.voluntary":
		return "voluntary context switches"
	case "switches.involuntary":
		return "involuntary context switches"
	case counts.TimerWakeups:
		return "wake-ups by timers"
	case counts.Ticks:
		return "ticks at a fixed rate"
	}
	return strings.ReplaceAll(counted.Name, ".", " ")
}
