package cause

import "fmt"

// Why says how a judgement came about. It marshals to the "why" of a case.
type Why struct {
	// Growth is what the ledger divides: seconds per run that the dearer side takes longer, or, of one recording, all.
	Growth float64 `json:"growth"`
	// Nobody is what of it no claim got. It is below zero where parts that nobody owns got cheaper.
	Nobody  float64 `json:"nobody"`
	Entries []Entry `json:"entries"` // in the order in which they were made
	Moves   []Move  `json:"moves"`   // what changed the order of shares, in the order in which they were made
	// Second is what came second, and what would have made it first; nil with fewer than two suspects.
	Second *Second `json:"second,omitempty"`
}

// Second is the runner-up.
type Second struct {
	Cause ID     `json:"cause"`
	Needs string `json:"needs"` // what would have made it first
}

// Len is the number of lines that a reader would see; zero where nothing was judged.
func (w *Why) Len() int { return len(w.Entries) + len(w.Moves) }

func whyOf(l *ledger, r *ranking) Why {
	why := Why{Growth: l.growth, Entries: l.entries, Moves: r.moves}
	for i := range l.paths {
		if l.free(i) {
			why.Nobody += l.grown(i)
		}
	}
	if len(r.told) > 1 {
		why.Second = &Second{Cause: r.told[1].cause, Needs: r.needs()}
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
	switch {
	case second.surely() < 0 && first.surely() >= 0 && second.share().Low <= 0:
		return "its interval would have to lie above zero: more, or more equal, runs"
	case second.surely() < 0 && first.surely() >= 0:
		return fmt.Sprintf("it would have to account for %.0f %% at least, and surely for more than the first, %.0f %%",
			100*leastShare, 100*first.surely())
	case first.surely() < 0:
		return fmt.Sprintf("it would have to account for more than %.0f %%", 100*first.share().Value)
	}
	return fmt.Sprintf("it would surely have to account for more than %.0f %%: for now that is %.0f %%",
		100*first.surely(), 100*second.surely())
}
