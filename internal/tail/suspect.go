package tail

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"culprit/internal/cause"
	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/perrun"
	"culprit/recording"
)

const placesMax = 3

// collectParts keeps the stretches of slow requests by what they speak for.
func collectParts(at map[cause.ID]*claim, groups []*group) {
	for _, g := range groups {
		for _, a := range g.slow {
			for i, part := range a.parts {
				c := claimAt(at, a.buckets[i].cause)
				c.parts = append(c.parts, held{part, a.reader, a})
			}
		}
	}
}

// suspect makes of a claim what is told.
func (c *claim) suspect(share, extra compare.Interval) cause.Suspect {
	known, _ := cause.Lookup(c.cause)
	claimed := known.Claim
	if known.Alone != "" {
		claimed = known.Alone
	}
	if c.cause == cause.CodeGrew { // its own words are of two sides
		claimed = "slow requests run this for longer than ordinary ones"
	}
	if c.cause == cause.RequestQueued && c.forGoroutines() {
		claimed = "requests wait for what another goroutine is to take up or to send, or for a timer's channel"
	}
	s := cause.Suspect{Cause: c.cause, Level: cause.Explains, Share: share, Seconds: extra, Remedy: known.Remedy,
		Claim: claimed}
	if share.Low < leastShare {
		s.Level = cause.Observed
	}
	order := c.byTime()
	if len(order) > 0 && order[0].kind == cause.InCode && 2*c.places[order[0]] < c.extra {
		if common := c.commonPlace(); common != "" {
			s.Places = append(s.Places, cause.Place{Kind: cause.InCode, Name: common, Role: roleOf(c.cause)})
		}
	}
	placed, own := c.placed(), c.own()
	for _, at := range order {
		place := cause.Place{Kind: at.kind, Name: at.place, Role: roleOf(c.cause)}
		known := c.extra
		if own[at.place] {
			known = placed
		}
		tells := at.place != "" && c.places[at] >= 0.1*known && len(s.Places) < placesMax
		if tells && !slices.Contains(s.Places, place) { // it may be of several classes
			s.Places = append(s.Places, place)
		}
	}
	if c.cause == cause.DownstreamSlow {
		if at := c.waitsIn(); at != "" {
			s.Places = append(s.Places, cause.Place{Kind: cause.InCode, Role: cause.WaitedForIn, Name: at})
		}
		c.tellPeer(&s)
	}
	if c.cause == cause.RuntimeGC {
		c.tellStop(&s)
	}
	if slices.Contains(heldCauses, c.cause) {
		if holder := holderOf(c.parts); holder != "" {
			s.Places = append(s.Places, cause.Place{Kind: cause.InCode, Role: cause.HeldIn, Name: holder})
		}
	}
	s.Evidence = []cause.Evidence{{Signal: "requests", Unit: "s", A: 0, B: c.extra,
		Text: fmt.Sprintf("%.0f ms of the extra time of slow requests in %d stretches", c.extra*1e3, len(c.parts))}}
	s.InWords()
	return s
}

// waitsIn is the function in which most of the time is waited; "" where none is known.
func (c *claim) waitsIn() string {
	times := map[string]int64{}
	for _, part := range c.parts {
		if frames := part.reader.stack(part.Stack); !code.AwaitsTasks(frames) {
			times[placeOf(frames)] += part.LengthNs
		}
	}
	delete(times, "")
	at, _ := perrun.Largest(times)
	return at
}

// heldCauses are those of which is told what those did whom requests waited for.
var heldCauses = []cause.ID{cause.LockContended, cause.RequestQueued, cause.MemoryMapLock, cause.FileInodeLock}

// forGoroutines tells that most of the time was spent by goroutines that waited for others.
func (c *claim) forGoroutines() bool {
	all, of := int64(0), int64(0)
	for _, part := range c.parts {
		all += part.LengthNs
		if part.Class == recording.PartHandover && part.Stack != recording.NoStack {
			of += part.LengthNs
		}
	}
	return 2*of > all
}

func roleOf(id cause.ID) cause.Role {
	if id == cause.CPUStarved {
		return cause.Competitor
	}
	return ""
}

// placed is the extra time whose place is known, in seconds: that of waits which were too short to
// be kept whole is not.
func (c *claim) placed() (extra float64) {
	for at, seconds := range c.places {
		if at.place != "" {
			extra += max(0, seconds)
		}
	}
	return extra
}

// own are the places that are functions of the program's own.
func (c *claim) own() map[string]bool {
	own := map[string]bool{}
	for _, part := range c.parts {
		frames := part.reader.stack(part.Stack)
		if at := code.Innermost(frames); at >= 0 {
			own[nameOf(&frames[at])] = true
		}
	}
	return own
}

// byTime gives the places with the most extra time first.
func (c *claim) byTime() []bucket {
	var order []bucket
	for at := range c.places {
		order = append(order, at)
	}
	slices.SortFunc(order, func(a, b bucket) int {
		return cmp.Or(cmp.Compare(c.places[b], c.places[a]), cmp.Compare(a.place, b.place), cmp.Compare(a.class, b.class))
	})
	return order
}

// oneStall is the time for which a loop that a request waits in may run for others, in ns, before
// its next wait counts as another. Chosen.
const oneStall = 1_000_000

// stalls counts the waits apart in time: stretches that overlap are one, and those of one request
// with hardly anything between them.
func (c *claim) stalls() int {
	parts := slices.Clone(c.parts)
	sort.Slice(parts, func(i, k int) bool { return parts[i].TimeNs < parts[k].TimeNs })
	count, until, ended := 0, int64(-1), map[*asked]int64{}
	for _, part := range parts {
		if part.LengthNs < 100_000 {
			continue
		}
		before, known := ended[part.of]
		if part.TimeNs > until && !(known && part.TimeNs-before < oneStall) {
			count++
		}
		ended[part.of] = part.TimeNs + part.LengthNs
		until = max(until, part.TimeNs+part.LengthNs)
	}
	return count
}

// sameClasses are the classes of which slow requests have about as much as ordinary ones.
func sameClasses(groups []*group) []SameClass {
	usual, slow, count := map[string]float64{}, map[string]float64{}, 0.0
	for _, g := range groups {
		n := float64(len(g.slow))
		count += n
		for b, spent := range g.spent {
			usual[b.class] += spent * n
		}
		for _, a := range g.slow {
			for b, spent := range a.spent {
				slow[b.class] += spent
			}
		}
	}
	all := 0.0
	for class := range slow {
		all += slow[class]
	}
	same := []SameClass{}
	for class, before := range usual {
		if difference := slow[class] - before; difference < 0.02*all && -difference < 0.02*all && before > 0 {
			same = append(same, SameClass{Class: class, Usual: before / count, Slow: slow[class] / count})
		}
	}
	slices.SortFunc(same, func(a, b SameClass) int {
		return cmp.Or(cmp.Compare(b.Usual, a.Usual), cmp.Compare(a.Class, b.Class))
	})
	return same
}
