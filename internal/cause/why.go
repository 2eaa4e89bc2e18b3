package cause

import (
	"fmt"
)

// Why says how a judgement came about. It marshals to the "why" of a case.
type Why struct {
	// Growth is what the ledger divides: seconds per run that the dearer side takes longer, or, of
	// one recording, all.
	Growth float64 `json:"growth"`
	// Nobody is what of it no claim got. It is below zero where parts that nobody owns got cheaper.
	Nobody  float64 `json:"nobody"`
	Entries []Entry `json:"entries"` // in the order in which they were made
	Moves   []Move  `json:"moves"`   // what changed the order of shares, in the order in which they were made
	// LeftOut are the claims that became no suspect.
	LeftOut []LeftOut `json:"left_out,omitempty"`
	// Second is what came second, and what would have made it first; nil with fewer than two
	// suspects.
	Second *Second `json:"second,omitempty"`
}

// Second is the runner-up.
type Second struct {
	Cause ID     `json:"cause"`
	Place string `json:"place,omitempty"`
	Needs string `json:"needs"` // what would have made it first
}

func whyOf(r *ranking) Why {
	why := Why{Growth: r.growth, Entries: r.entries, Moves: r.moves, LeftOut: r.leftOut}
	for i := range r.paths {
		if r.free(i) {
			why.Nobody += r.grown(i)
		}
	}
	if len(r.told) > 1 {
		why.Second = &Second{Cause: r.told[1].cause, Place: r.told[1].best(), Needs: r.needs()}
	}
	return why
}

// needs says what would have made the second suspect the first.
func (r *ranking) needs() string {
	first, second := r.told[0], r.told[1]
	for at, pair := range r.pairs {
		if pair[0] == first && pair[1] == second {
			return fmt.Sprintf("it would be first but for the rule %q", r.moves[at].Rule)
		}
	}
	for at, pair := range r.pairs {
		if pair[0] == first {
			return fmt.Sprintf("the first was moved there by the rule %q", r.moves[at].Rule)
		}
	}
	if first.surely() < 0 {
		return fmt.Sprintf("it would have to account for more than the first, %.0f %%",
			100*first.share().Value)
	}
	needs := fmt.Sprintf("its interval would have to begin above that of the first, at %.0f %%",
		100*first.surely())
	switch low := second.share().Low; {
	case second.surely() >= 0:
		return fmt.Sprintf("%s; it begins at %.0f %%", needs, 100*low)
	case low <= 0:
		return needs + "; it begins below zero, and more runs, or more equal ones, narrow it"
	}
	return fmt.Sprintf("%s, and its share be %.0f %% at least", needs, 100*leastShare)
}
