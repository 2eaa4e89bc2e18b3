package tail

import (
	"cmp"
	"fmt"
	"slices"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/recording"
)

// rank gives each cause its share of the time that slow requests took more.
func (r *Result) rank(reader *reader, groups []*group) {
	found := rankOf(groups, newBlocks(reader), func(c *claim, share compare.Interval, extra float64) cause.Suspect {
		return c.suspect(share, interval(c.extra, share.Low*extra, share.High*extra))
	})
	r.Extra, r.Suspects, r.Stalls, r.Why = found.extra, found.suspects, found.stalls, found.why
	r.Same = sameClasses(groups)
}

// ranked are the causes of what slow requests took more.
type ranked struct {
	extra    float64 // seconds, of all of them
	suspects []cause.Suspect
	stalls   []int  // of each
	why      string // there is none
}

// rankOf ranks the causes; tell makes a suspect of one with its share, of so much extra time.
func rankOf(groups []*group, blocks *blocks,
	tell func(c *claim, share compare.Interval, extra float64) cause.Suspect) ranked {
	found := ranked{suspects: []cause.Suspect{}, stalls: []int{}}
	for _, g := range groups {
		for _, a := range g.slow {
			found.extra += a.weight * g.extra(a)
			blocks.add(a, g)
		}
	}
	for _, c := range claimsOf(groups) {
		share := blocks.share(c.cause)
		if share.Value < listedShare || c.cause == "" {
			continue
		}
		found.suspects = append(found.suspects, tell(c, share, found.extra))
		found.stalls = append(found.stalls, c.stalls())
	}
	if len(found.suspects) > 0 && found.suspects[0].Share.Low >= leastShare {
		return found
	}
	found.why = "no cause accounts for a fifth of what slow requests took more"
	if len(found.suspects) > 0 {
		first := found.suspects[0]
		found.why += fmt.Sprintf(": %s has %.0f %%, between %.0f and %.0f", first.Cause, 100*first.Share.Value,
			100*first.Share.Low, 100*first.Share.High)
	}
	found.suspects, found.stalls = []cause.Suspect{}, []int{}
	return found
}

// claim is what one cause has of the extra time.
type claim struct {
	cause  cause.ID
	extra  float64
	places map[bucket]float64
	usual  float64 // of one that is not slow
	parts  []held
}

// held is a stretch with what tells who held it up.
type held struct {
	*recording.RequestPart
	reader *reader
	of     *asked
}

// claimsOf adds up the extra time by cause, the largest first.
func claimsOf(groups []*group) []*claim {
	at := map[cause.ID]*claim{}
	for _, g := range groups {
		n := 0.0
		for _, a := range g.slow {
			n += a.weight
			for b, spent := range a.spent {
				claimAt(at, b.cause).places[b] += a.weight * spent
			}
		}
		for b, usual := range g.spent {
			c := claimAt(at, b.cause)
			c.places[b] -= usual * n
			c.usual += usual
		}
	}
	var claims []*claim
	for _, c := range at {
		for _, extra := range c.places {
			c.extra += extra
		}
		claims = append(claims, c)
	}
	collectParts(at, groups)
	slices.SortFunc(claims, func(a, b *claim) int {
		return cmp.Or(cmp.Compare(b.extra, a.extra), cmp.Compare(a.cause, b.cause))
	})
	return claims
}

func claimAt(at map[cause.ID]*claim, id cause.ID) *claim {
	if at[id] == nil {
		at[id] = &claim{cause: id, places: map[bucket]float64{}}
	}
	return at[id]
}

// interval makes a share.
func interval(value, low, high float64) compare.Interval {
	return compare.Interval{Value: value, Low: low, High: high}
}
