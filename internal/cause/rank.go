package cause

import (
	"cmp"
	"fmt"
	"slices"

	"culprit/internal/compare"
)

const (
	// leastShare is the part of the change that a first suspect accounts for: none is better than a
	// wrong one. Promised by the guide.
	leastShare = 0.2
	// listedShare is the part of the change below which a suspect is not listed. Chosen: what noise
	// between runs leaves.
	listedShare = 0.05
)

// ranked is a suspect on its way to its place.
type ranked struct {
	*claim
	suspect Suspect
	known   bool // its interval is
	library bool // a place in code that leads to no function of the program's own
}

func (r *ranked) share() compare.Interval { return r.suspect.Share }

// ranking is the suspects in order, and what put them there.
type ranking struct {
	*ledger
	told    []*ranked
	moves   []Move
	leftOut []LeftOut
	pairs   [][2]*ranked // of the moves: the first stands before the second
}

// rankRule moves some suspects before others.
type rankRule struct {
	rule    Rule
	because string
	apply   func(*ranking, rankRule)
}

// rankRules are made in this order, on suspects that stand in the order of what they surely account
// for.
var rankRules = []rankRule{
	{"code before its consequences", "garbage and compiling follow from code that does more", (*ranking).behindCode},
	{"setting before what is done for it", "the same program does more of it under that setting",
		(*ranking).behindSetting},
	{"known cause before code", "the runs cannot tell which is larger, and code that waits for pages, locks or a " +
		"collector is often slowed by them as well", (*ranking).preferKnown},
	{"own code before a library's", "what a library's threads do more of, somebody asked them for, and it is there that " +
		"it can be changed", (*ranking).preferOwn},
	{"the program before the host", "of one recording, waiting for CPUs that strangers had says nothing of the program",
		(*ranking).preferProgram},
}

// rankOf tells the claims of a ledger and orders what is told. Nothing is told where no suspect may
// be named.
func rankOf(l *ledger) *ranking {
	r := &ranking{ledger: l}
	for _, c := range l.claims {
		one := &ranked{claim: c, library: c.cause.is(isCode) && c.inLibrary()}
		one.suspect, one.known = l.suspect(c)
		switch {
		case c.silent != "":
			r.leave(c, c.silent)
		case one.share().Value < listedShare:
			r.leave(c, fmt.Sprintf("it accounts for less than %.0f %%", 100*listedShare))
		default:
			r.told = append(r.told, one)
		}
	}
	r.order()
	return r
}

func (r *ranking) leave(c *claim, because string) {
	r.leftOut = append(r.leftOut, LeftOut{Cause: c.cause, Place: c.best(), Because: because})
}

// order puts what is told in order, and takes out what must not be said.
func (r *ranking) order() {
	slices.SortStableFunc(r.told, func(x, y *ranked) int { return cmp.Compare(y.surely(), x.surely()) })
	for _, rule := range rankRules {
		rule.apply(r, rule)
	}
	r.leaveOut()
	r.cut()
}

// withoutInterval puts shares without an interval, or with one that begins below zero, behind those
// with one: ten times the change is more than any share.
const withoutInterval = 10

// surely is what a suspect is ordered by: what it accounts for at least. An interval that begins
// below nothing puts nobody before the others, nor does one around next to nothing.
func (r *ranked) surely() float64 {
	if share := r.share(); !r.known || share.Low <= 0 || share.Value < leastShare {
		return share.Value - withoutInterval
	}
	return r.share().Low
}

// leaveOut drops what must not be said: all where nothing may be named, and what is as likely
// nothing, or less, beside the first suspect.
func (r *ranking) leaveOut() {
	named := false
	var kept []*ranked
	for at, one := range r.told {
		share := one.share()
		if at > 0 && one.known && share.Low < -share.Value {
			r.leave(one.claim, "its interval reaches further below zero than its share is above")
			continue
		}
		named = named || share.Value >= leastShare && (share.Low > 0 || !one.known)
		kept = append(kept, one)
	}
	if r.told = kept; named {
		return
	}
	because := fmt.Sprintf("no claim whose interval is above zero accounts for %.0f %% or more",
		100*leastShare)
	for _, one := range r.told {
		r.leave(one.claim, because)
	}
	r.told = nil
}

// cut keeps the sum of shares at 1: where other parts got cheaper, the suspects account for more
// than the net change.
func (r *ranking) cut() {
	total := 0.0
	for _, one := range r.told {
		total += one.share().Value
	}
	for _, one := range r.told {
		suspect := &one.suspect
		if total > 1.1 {
			suspect.Doubts = append(suspect.Doubts, Doubt{DoubtCheaper, fmt.Sprintf("other parts got cheaper, so that the "+
				"suspects add up to %.0f %% of the net change; shares are cut to match", 100*total)})
		}
		if scale := 1 / total; total > 1 {
			suspect.Share = compare.Interval{Value: suspect.Share.Value * scale, Low: suspect.Share.Low * scale,
				High: suspect.Share.High * scale}
		}
		suspect.Share.High = max(suspect.Share.Value, min(suspect.Share.High, 1))
	}
}

func (r *ranking) suspects() (list []Suspect) {
	for _, one := range r.told {
		one.suspect.InWords()
		list = append(list, one.suspect)
	}
	return list
}

// besidePart is the part of something that what is to stand before it must be: several places in
// code beside what follows from them, a setting beside what is done for it, the program's own code
// beside a library's threads. Chosen: what is less than half of it does not bring it about.
const besidePart = 0.5

// behindCode moves what follows from code that does more behind the last code that surely does: one
// place that is large enough, or several that are together and beside it. What new methods make the
// compiler do is no answer beside them. Code of a dependency that changed counts with its whole
// share, and with that of the garbage and the compiling that it alone brings.
func (r *ranking) behindCode(rule rankRule) {
	last, largest, surely, sum := -1, 0.0, 0.0, 0.0
	for at, one := range r.told {
		share := one.share()
		least := share.Low
		if one.changed != "" { // that it is another version is no matter of how far the runs scatter
			least = share.Value + r.broughtBy(one)
		}
		if one.cause.is(isCode) && least > 0 {
			last, largest, surely, sum = at, max(largest, least), surely+least, sum+share.Value
		}
	}
	r.behind(rule, last, func(one *ranked) bool {
		return one.consequence &&
			(largest >= leastShare || surely >= leastShare && sum >= besidePart*one.share().Value)
	})
}

// broughtBy is the share of what follows from code of a dependency that changed: at that code, or
// on threads of a run time's own, which have no code above them to tell whose garbage it is. It
// counts from a notable share of that code's own on.
func (r *ranking) broughtBy(code *ranked) (brought float64) {
	if code.share().Value < notable {
		return 0
	}
	for _, one := range r.told {
		if one.consequence && (one.changed == code.changed || one.inLibrary()) {
			brought += one.share().Value
		}
	}
	return brought
}

// behindSetting moves what the same program does more of under a setting behind that setting, where
// the setting's own part is beside it: that a debugging option looks at files is no answer beside
// the option. Behind a setting that is the only difference stands all that threads do to each
// other.
func (r *ranking) behindSetting(rule rankRule) {
	at := slices.IndexFunc(r.told, func(one *ranked) bool { return one.cause == ConfigDiffers })
	if at < 0 {
		return
	}
	low := r.told[at].share().Low
	r.behind(rule, at, func(one *ranked) bool {
		return one.onlySetting && low > 0 ||
			one.ofSetting && low >= max(leastShare, besidePart*one.share().Value)
	})
}

// preferKnown moves a cause before the function that grew where the runs cannot tell which of the
// two is larger: what grew is what no cause explains.
func (r *ranking) preferKnown(rule rankRule) {
	if len(r.told) == 0 || r.told[0].cause != CodeGrew {
		return
	}
	low := r.told[0].share().Low
	at := slices.IndexFunc(r.told, func(one *ranked) bool {
		behind := slices.ContainsFunc(r.pairs, func(pair [2]*ranked) bool { return pair[1] == one })
		return !one.cause.is(unspecific) && one.known && !one.consequence && one.share().Low >= leastShare &&
			one.share().Value >= low && !behind
	})
	if at > 0 {
		r.first(rule, at)
	}
}

// preferOwn moves a place in the program's own code before one in a library's own threads, of which
// it is a good part.
func (r *ranking) preferOwn(rule rankRule) {
	if len(r.told) == 0 || !r.told[0].library {
		return
	}
	least := max(leastShare, besidePart*r.told[0].share().Value)
	at := slices.IndexFunc(r.told, func(one *ranked) bool {
		return one.cause.is(isCode) && one.known && !one.library && one.share().Low >= least
	})
	if at > 0 {
		r.first(rule, at)
	}
}

// preferProgram puts what the program does itself before its waiting for CPUs that strangers had,
// where it would be a suspect without that waiting; where there is none, the waiting stays the
// answer.
func (r *ranking) preferProgram(rule rankRule) {
	if !r.oneSided || len(r.told) == 0 || r.told[0].cause != CPUStarved || !r.byStrangers(r.told[0].claim) {
		return
	}
	least, last := leastShare*(1-r.told[0].share().Value), 0
	for last+1 < len(r.told) && r.told[last+1].share().Value >= least {
		last++
	}
	r.behind(rule, last, func(one *ranked) bool { return one == r.told[0] })
}

// byStrangers reports whether most of the waiting for a CPU was for others than the program.
func (s *scene) byStrangers(c *claim) bool {
	return s.mostly(c, func(i int) bool { return !s.paths[i].WakerOwn })
}
