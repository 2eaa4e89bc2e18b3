package cause

import (
	"fmt"
	"slices"
)

// ledger says which claim owns each path of a scene. A path has one owner at most, so that no
// second is given twice, and each change of owner is entered with the rule that made it.
type ledger struct {
	*scene
	owner   []*claim // by path; nil: nobody's
	claims  []*claim // that own something, in the order in which they were made
	entries []Entry
	// explained is set where what is left was given away as a whole: it needs no place in code.
	explained bool
}

// Action is what an entry of the ledger did.
type Action string

// The actions.
const (
	Gave     Action = "gave"      // paths that nobody owned
	Moved    Action = "moved"     // paths, from nobody or from other claims, to a claim that exists
	TookBack Action = "took back" // what a finding had got, because it is none after all
	Passed   Action = "passed"    // recognised, and worth no claim
	Told     Action = "told"      // a claim on code as what it is
)

// Entry is one line of the ledger.
type Entry struct {
	Rule    Rule    `json:"rule"`
	Action  Action  `json:"action"`
	Cause   ID      `json:"cause"`
	Place   string  `json:"place,omitempty"` // Gave, Moved: the claim's best, in words
	From    []ID    `json:"from,omitempty"`  // Moved: whose it was, where it was somebody's
	Seconds float64 `json:"seconds"`         // of the growth, per run
	Because string  `json:"because,omitempty"`
}

func newLedger(s *scene) *ledger { return &ledger{scene: s, owner: make([]*claim, len(s.paths))} }

func (l *ledger) enter(rule Rule, action Action, c *claim, seconds float64, because string,
	from ...ID) {
	l.entries = append(l.entries, Entry{Rule: rule, Action: action, Cause: c.cause, Place: c.best(),
		From: from, Seconds: seconds, Because: because})
}

// free reports whether nobody owns a path.
func (l *ledger) free(path int) bool { return l.owner[path] == nil }

// smallest is the part of the metric's growth below which a cause is not worth a claim. Chosen:
// half of what is listed would still be noise between runs.
const smallest = 0.05

// claim gives a finding the paths that it matches and that nobody owns. nil where they do not
// account for a growth worth naming, or where the finding does not stand.
func (l *ledger) claim(rule Rule, found finding) *claim {
	c := &claim{cause: found.cause, rule: rule}
	for i := range l.paths {
		if l.free(i) && found.match(i) {
			c.members = append(c.members, i)
		}
	}
	grown := l.grew(c)
	if grown < smallest*l.growth {
		if len(c.members) > 0 {
			l.enter(rule, Passed, c, grown, fmt.Sprintf("less than %.0f %% of the growth", 100*smallest))
		}
		return nil
	}
	if found.stands != nil {
		if why := found.stands(c); why != "" {
			l.enter(rule, TookBack, c, grown, why)
			return nil
		}
	}
	for _, i := range c.members {
		l.owner[i] = c
	}
	l.claims = append(l.claims, c)
	at := len(l.entries)
	l.enter(rule, Gave, c, grown, "")
	if found.tell != nil {
		found.tell(c) // it says where the claim is, may find another cause, and may move members on
		l.entries[at].Cause, l.entries[at].Place = c.cause, c.best()
	}
	return c
}

// move gives paths to a claim that exists, whosever they are.
func (l *ledger) move(rule Rule, to *claim, paths []int, because string) {
	if len(paths) == 0 {
		return
	}
	var from []ID
	seconds, lost := 0.0, map[*claim]bool{}
	for _, i := range paths {
		if was := l.owner[i]; was == to {
			continue
		} else if was != nil && !lost[was] {
			lost[was], from = true, append(from, was.cause)
		}
		seconds += l.grown(i)
		l.owner[i] = to
		to.members = append(to.members, i)
	}
	for _, c := range l.claims {
		if lost[c] {
			lostOne := func(i int) bool { return l.owner[i] != c }
			c.members = slices.DeleteFunc(slices.Clone(c.members), lostOne)
		}
	}
	l.claims = slices.DeleteFunc(l.claims, func(c *claim) bool { return len(c.members) == 0 })
	l.enter(rule, Moved, to, seconds, because, from...)
}

// of is the first claim on a cause, nil where there is none.
func (l *ledger) of(cause ID) *claim {
	for _, c := range l.claims {
		if c.cause == cause {
			return c
		}
	}
	return nil
}
