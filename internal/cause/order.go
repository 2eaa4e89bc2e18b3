package cause

import (
	"fmt"
	"sort"

	"culprit/internal/compare"
)

// rank is what else decides the order of a suspect.
type rank struct {
	known, consequence, ofSetting bool
	library                       bool // a place in code that leads to no function of the program's own
}

// choose orders the suspects and cuts off what must not be said.
func (s *scene) choose(suspects []Suspect, ranks []rank) []Suspect {
	order := make([]int, len(suspects))
	for i := range suspects {
		order[i] = i
	}
	score := func(i int) float64 {
		value := suspects[i].Share.Low
		// An interval that begins below nothing puts nobody before the others, nor does one around next to nothing.
		if !ranks[i].known || value <= 0 || suspects[i].Share.Value < leastShare {
			value = suspects[i].Share.Value - compareLimit
		}
		return value
	}
	sort.SliceStable(order, func(x, y int) bool { return score(order[x]) > score(order[y]) })
	behindCode(order, suspects, ranks)
	behindSetting(order, suspects, ranks)
	preferKnown(order, suspects, ranks)
	preferOwn(order, suspects, ranks)
	sorted := make([]Suspect, 0, len(order))
	named, total := false, 0.0
	for at, i := range order {
		share := suspects[i].Share
		if at > 0 && ranks[i].known && share.Low < -share.Value {
			continue // as likely nothing, or less: a list of noise beside the first suspect helps nobody
		}
		named = named || share.Value >= leastShare && (share.Low > 0 || !ranks[i].known)
		total += share.Value
		sorted = append(sorted, suspects[i])
	}
	if !named {
		return nil
	}
	s.cut(sorted, total)
	return sorted
}

func isCode(cause string) bool { return cause == "code.grew" || cause == "code.added" }

// behindCode moves what follows from code that does more behind the last code that surely does: one place that is large
// enough, or several that are together and beside it. What new methods make the compiler do is no answer beside them.
func behindCode(order []int, suspects []Suspect, ranks []rank) {
	last, largest, surely, sum := -1, 0.0, 0.0, 0.0
	for at, i := range order {
		if share := suspects[i].Share; isCode(suspects[i].Cause) && share.Low > 0 {
			last, largest, surely, sum = at, max(largest, share.Low), surely+share.Low, sum+share.Value
		}
	}
	moveBehind(order, last, func(i int) bool {
		return ranks[i].consequence &&
			(largest >= leastShare || surely >= leastShare && sum >= mostOf*suspects[i].Share.Value)
	})
}

// behindSetting moves what the same program does more of under a setting behind that setting, where the setting's own
// part is beside it: that a debugging option looks at files is no answer beside the option.
func behindSetting(order []int, suspects []Suspect, ranks []rank) {
	for at, i := range order {
		if suspects[i].Cause != "config.differs" {
			continue
		}
		low := suspects[i].Share.Low
		moveBehind(order, at, func(j int) bool {
			return ranks[j].ofSetting && low >= max(leastShare, mostOf*suspects[j].Share.Value)
		})
		return
	}
}

// moveBehind moves those of the first that are told by move behind the one at last.
func moveBehind(order []int, last int, move func(i int) bool) {
	var first, after []int
	for at, i := range order[:last+1] {
		if at < last && move(i) {
			after = append(after, i)
		} else {
			first = append(first, i)
		}
	}
	copy(order, append(first, after...))
}

// unspecific causes are those that say less than a function that grew, or that a busy host brings by itself.
var unspecific = map[string]bool{"code.grew": true, "code.added": true, "config.differs": true, "cpu.starved": true}

// preferKnown moves a cause before the function that grew where the runs cannot tell which of the two is larger: what
// grew is what no cause explains, and code that waits for pages, locks or a collector is often slowed by them as well.
func preferKnown(order []int, suspects []Suspect, ranks []rank) {
	if len(order) == 0 || suspects[order[0]].Cause != "code.grew" {
		return
	}
	first := suspects[order[0]].Share
	for at, i := range order {
		share := suspects[i].Share
		if unspecific[suspects[i].Cause] || !ranks[i].known || ranks[i].consequence || share.Low < leastShare ||
			share.Value < first.Low {
			continue
		}
		copy(order[1:], order[:at])
		order[0] = i
		return
	}
}

// preferOwn moves a place in the program's own code before one in a library's own threads, of which it is a good part:
// what those do more of, somebody asked them for, and it is there that it can be changed.
func preferOwn(order []int, suspects []Suspect, ranks []rank) {
	if len(order) == 0 || !ranks[order[0]].library {
		return
	}
	least := max(leastShare, mostOf*suspects[order[0]].Share.Value)
	for at, i := range order {
		if isCode(suspects[i].Cause) && ranks[i].known && !ranks[i].library && suspects[i].Share.Low >= least {
			copy(order[1:], order[:at])
			order[0] = i
			return
		}
	}
}

// compareLimit puts shares without an interval, or with one that begins below zero, behind those with one.
const compareLimit = 10

// cut keeps the sum of shares at 1: where other parts got cheaper, the suspects
// account for more than the net change.
func (s *scene) cut(suspects []Suspect, total float64) {
	for i := range suspects {
		suspect := &suspects[i]
		if total > 1.1 {
			suspect.Against = append(suspect.Against, fmt.Sprintf(
				"other parts got cheaper, so that the suspects add up to %.0f %% of the net change; shares are cut to match",
				100*total))
		}
		if total > 1 {
			scale := 1 / total
			suspect.Share = compare.Interval{Value: suspect.Share.Value * scale, Low: suspect.Share.Low * scale,
				High: suspect.Share.High * scale}
		}
		suspect.Share.High = max(suspect.Share.Value, min(suspect.Share.High, 1))
	}
}
