package tail

import (
	"cmp"
	"slices"

	"culprit/recording"
)

// Kept is a request that was recorded in full, with all of its stretches.
type Kept struct {
	Line
	Protocol string
	Slow     bool  // as Explain has it with the same options
	Weight   int64 // it stands for so many
}

// KeptRequests gives the requests of a recording that are known in full, as they began. Those of
// which the recorder itself took the CPU are left out, as Explain does.
func KeptRequests(rec *recording.Recording, options Options) []Kept {
	if options.Worst == 0 {
		options.Worst = worstDefault
	}
	reader := newReader(rec)
	var kept []Kept
	for _, g := range groupsOf(rec, reader, options) {
		for _, all := range [][]*asked{g.slow, g.ordinary} {
			for _, a := range all {
				line := lineOf(a, reader, (*Stretch).continues)
				kept = append(kept, Kept{Line: line, Protocol: a.row.Protocol, Slow: g.over > 0 && line.Seconds >= g.over,
					Weight: max(1, a.row.Weight)})
			}
		}
	}
	slices.SortStableFunc(kept, func(a, b Kept) int { return cmp.Compare(a.Started, b.Started) })
	return kept
}

// continues tells that a stretch is the same in all as the one before it.
func (s *Stretch) continues(next *Stretch) bool {
	return s.joins(next) && s.Stack == next.Stack && s.HolderStack == next.HolderStack
}

// holderStack is where the one was who held a request up.
func (r *reader) holderStack(part *recording.RequestPart) int32 {
	return r.holding(part).stack
}
