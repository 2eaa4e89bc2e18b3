package count

import (
	"fmt"
	"slices"
	"strings"

	"culprit/internal/probe/counters/event"
	"culprit/internal/stat"
)

// Derived is a ratio of two events that were counted at the same times, or what a formula makes of
// several of them.
type Derived struct {
	stat.Interval
	Of string `json:"of"` // "instructions / cycles"
}

// slots are what the pipeline could have issued: the whole of the top-down method.
var slots = []string{"slots", "topdown-total-slots"}

// ratios are the derived numbers, each of two events, which may have several names.
var ratios = []struct {
	name         string
	above, below []string
}{
	{"ipc", []string{"instructions"}, []string{"cycles", "cpu-cycles"}},
	{"cpi", []string{"cycles", "cpu-cycles"}, []string{"instructions"}},
	{"cache-miss-rate", []string{"cache-misses"}, []string{"cache-references"}},
	{"branch-miss-rate", []string{"branch-misses"}, []string{"branches", "branch-instructions"}},
	{"l1d-miss-rate", []string{"L1-dcache-load-misses"}, []string{"L1-dcache-loads"}},
	{"llc-miss-rate", []string{"LLC-load-misses"}, []string{"LLC-loads"}},
	{"dtlb-miss-rate", []string{"dTLB-load-misses"}, []string{"dTLB-loads"}},
	{"frontend-stalled", []string{"stalled-cycles-frontend"}, []string{"cycles", "cpu-cycles"}},
	{"backend-stalled", []string{"stalled-cycles-backend"}, []string{"cycles", "cpu-cycles"}},
	{"retiring", []string{"topdown-retiring", "topdown-slots-retired"}, slots},
	{"bad-speculation", []string{"topdown-bad-spec"}, slots},
	{"frontend-bound", []string{"topdown-fe-bound", "topdown-fetch-bubbles"}, slots},
	{"backend-bound", []string{"topdown-be-bound"}, slots},
	{"heavy-operations", []string{"topdown-heavy-ops"}, slots},
	{"branch-mispredicts", []string{"topdown-br-mispredict"}, slots},
	{"fetch-latency", []string{"topdown-fetch-lat"}, slots},
	{"memory-bound", []string{"topdown-mem-bound"}, slots},
	{"machine-clears-per-instruction", []string{"machine_clears.count"}, []string{"instructions"}},
	{"cache-misses-per-instruction", []string{"cache-misses"}, []string{"instructions"}},
}

// derive makes the ratios that the events of a row allow.
func derive(list event.List, row *Row, turn float64) map[string]Derived {
	found := map[string]Derived{}
	for _, ratio := range ratios {
		above, below := pair(list, ratio.above, ratio.below)
		if above < 0 {
			continue
		}
		interval, err := stat.ExtrapolateRatio(row.windows[above], row.windows[below], turn, confidence)
		if err != nil {
			continue // of other times, which notTogether tells once, or nothing was counted
		}
		found[ratio.name] = Derived{interval, list[above].Name + " / " + list[below].Name}
	}
	for leader := range list {
		for _, share := range list[leader].Shares {
			if interval, err := shareOf(&share, list, leader, row, turn); err == nil {
				found[share.Name] = Derived{interval, share.Text}
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

// shareOf computes a part of the pipeline's slots of the events in the leader's group.
func shareOf(share *event.Share, list event.List, leader int, row *Row, turn float64) (stat.Interval, error) {
	counters := make([][]stat.Observed, len(share.Events))
	for i, name := range share.Events {
		at := slices.IndexFunc(list, func(e event.Event) bool {
			its, _, _ := strings.Cut(e.Name, "#") // copies have numbers
			return e.Group == list[leader].Group && its == name
		})
		if at < 0 {
			return stat.Interval{}, fmt.Errorf("%s was not counted", name)
		}
		counters[i] = row.windows[at]
	}
	return stat.ExtrapolateFunction(share.Value, counters, turn, confidence)
}

// derivedNames are all of them, in their order.
func derivedNames() []string {
	var names []string
	for _, ratio := range ratios {
		names = append(names, ratio.name)
	}
	return append(names, event.SMTContention)
}

// pair finds two events by their names, with the same modifiers; -1 where one is missing.
func pair(list event.List, above, below []string) (int, int) {
	for i := range list {
		for j := range list {
			name, modifiers, _ := strings.Cut(list[i].Name, ":")
			other, others, _ := strings.Cut(list[j].Name, ":")
			if modifiers == others && slices.Contains(above, name) && slices.Contains(below, other) {
				return i, j
			}
		}
	}
	return -1, -1
}

// Apart names the pairs of events whose ratio was asked for by naming both, and that cannot be
// formed because the two take turns at the counters: they are to be put in one group.
func Apart(list event.List, multiplexed []string) []string {
	var apart []string
	for _, ratio := range ratios {
		above, below := pair(list, ratio.above, ratio.below)
		if above < 0 || list[above].Group >= 0 && list[above].Group == list[below].Group {
			continue
		}
		if slices.Contains(multiplexed, list[above].Name) || slices.Contains(multiplexed, list[below].Name) {
			apart = append(apart, list[above].Name+" / "+list[below].Name)
		}
	}
	return apart
}
