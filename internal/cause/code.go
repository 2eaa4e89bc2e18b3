package cause

import (
	"path/filepath"
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/blame"
	"culprit/recording"
)

// codeSuspects is how many places in code are named at most.
const codeSuspects = 3

// giveCode claims what nobody owns for the functions that it was spent in, the one that explains
// most first.
func (l *ledger) giveCode(transfer) {
	if l.explained {
		return
	}
	beside := false // a place is named, or a runtime that naps
	for range codeSuspects {
		blamed := l.blamed()
		if blamed == nil {
			return
		}
		came := l.cameWith(blamed)
		found := codeCause(blamed)
		if came != "" {
			found = CodeAdded
		}
		c := l.claim(ruleCode, finding{cause: found, match: inList(blamed.Members),
			tell: func(c *claim) { c.came = came; l.tellCode(c, blamed, beside) }})
		if c == nil {
			return
		}
		if c.silent == "" {
			l.withServants(c, blamed)
		}
		beside = beside || c.silent == "" || c.silent == silentNaps
	}
}

// blamed is the function that explains most of what nobody owns. Where that took no longer as a
// whole, it is the one that ran longer by most of the change: threads that run instead of sleeping
// sleep less, and end later all the same.
func (l *ledger) blamed() *blame.Blame {
	if found := l.tree.Find(l.free); found != nil {
		return found
	}
	if l.metric != compare.MetricWall || l.oneSided || l.grew(l.all(l.free)) > 0 {
		return nil
	}
	ran := l.tree.Find(func(i int) bool { return l.free(i) && isRunning(&l.paths[i]) })
	if ran == nil || l.grew(&claim{members: ran.Members}) < majority*l.growth {
		return nil
	}
	return ran
}

// Why a claim on code is not told.
const (
	silentQueued       = "nothing of it but waiting for a CPU grew, and who had that is not known, or no competitor"
	silentNaps         = "nothing of it but a runtime without work grew, which waits for something else"
	silentHousekeeping = "a runtime's own scheduling, which follows from how long and how busily the program runs"
	silentJoined       = "its time went to the lock that is held in it"
)

// tellCode says where a claim on code is, or why it is not told: its seconds are nobody else's all
// the same.
func (l *ledger) tellCode(c *claim, blamed *blame.Blame, beside bool) {
	switch {
	case l.nothingBut(c, func(i int) bool { return l.paths[i].Kind == compare.Runnable }):
		c.silent = silentQueued
		return
	case l.nothingBut(c, func(i int) bool { return l.paths[i].Nap || l.looksForWork(i) }):
		c.silent = silentNaps
		return
	}
	l.describeCode(c, blamed, l.paths)
	switch {
	case l.serialised(c, blamed) && l.suspectLock(c, blamed):
		c.silent = silentJoined
	case beside && l.housekeeping(c):
		c.silent = silentHousekeeping
	}
}

// joinFunctions makes one claim of those on code that lead to the same function.
func (l *ledger) joinFunctions(rule transfer) {
	first := map[string]*claim{}
	for _, c := range slices.Clone(l.claims) {
		if !c.cause.is(isCode) || c.silent != "" || len(c.place) == 0 {
			continue
		}
		way := string(c.cause) + " " + route(c.place)
		if into := first[way]; into == nil {
			first[way] = c
		} else {
			l.move(rule.rule, into, slices.Clone(c.members), rule.because)
			into.evidence = append(into.evidence, c.evidence...)
		}
	}
}

func inList(members []int) func(int) bool {
	is := map[int]bool{}
	for _, i := range members {
		is[i] = true
	}
	return func(i int) bool { return is[i] }
}

// nothingElse is the part of a growth that makes all of it one thing.
const nothingElse = 0.9

// nothingBut reports whether a claim grew by the accepted members alone.
func (s *scene) nothingBut(c *claim, accept func(i int) bool) bool {
	accepted, all := s.parted(c, accept)
	return accepted >= nothingElse*all
}

// housekeeping reports whether a claim is on a run time's own scheduling alone, with no code of the
// program above it.
func (s *scene) housekeeping(c *claim) bool {
	return !slices.ContainsFunc(c.members, func(i int) bool {
		return !s.traits[i].scheduler || s.traits[i].place >= 0
	})
}

// cameWithPart of a function's growth must lie in a dependency that the other side never ran for
// that to be what was added. Chosen.
const cameWithPart = 0.8

// cameWith is the dependency below a blamed function that accounts for its growth, where the other
// side never ran it: the function has the work done by new code. "" where there is none.
func (s *scene) cameWith(blamed *blame.Blame) string {
	grown, ran, all := map[string]float64{}, map[string]bool{}, 0.0
	for i := range s.paths {
		seen := map[string]bool{}
		for at := range s.paths[i].Frames {
			label := s.paths[i].Frames[at].Changed
			if label == "" || seen[label] {
				continue
			}
			seen[label] = true
			ran[label] = ran[label] || mean(s.paths[i].A) > 0
		}
		if _, found := slices.BinarySearch(blamed.Members, i); found {
			all += s.grown(i)
			for label := range seen {
				grown[label] += s.grown(i)
			}
		}
	}
	best := ""
	for label, seconds := range grown {
		if !ran[label] && seconds >= cameWithPart*all && label != blamed.Frame().Changed &&
			(best == "" || seconds > grown[best] || seconds == grown[best] && label < best) {
			best = label
		}
	}
	return best
}

// codeCause tells a function that grew from one that side A never ran. What took the place of
// another is growth.
func codeCause(blamed *blame.Blame) ID {
	if blamed.Added && len(blamed.Replaced) == 0 {
		return CodeAdded
	}
	return CodeGrew
}

// busiestProcess is the one that paths grew most in.
func (s *scene) busiestProcess(members []int) string {
	return first(byValue(s.tally(members, func(i int) string { return s.paths[i].Process })))
}

// takesLock tells a function that takes or gives back a lock.
func takesLock(frame recording.Frame) bool { return code.IsLockFunction(frame.Name) }

// inLibrary reports whether a claim's place leads to no function of the program's own: a library's
// thread, say.
func (c *claim) inLibrary() bool {
	at := code.Innermost(c.place)
	return len(c.place) > 0 && (at < 0 || code.IsEntry(c.place[at]))
}

// describeCode fills in the place and the evidence of a claim on code.
func (s *scene) describeCode(c *claim, blamed *blame.Blame, paths []compare.Path) {
	frame := blamed.Frame()
	c.place = blamed.Stack
	if blamed.Stack[0].Kind == recording.KindKernel {
		// Stacks that broke in user space, as of a run time that came up while the host was busy:
		// only whose it is.
		c.at(Place{Kind: InProcess, Name: s.busiestProcess(blamed.Members)})
		c.doubt(DoubtUnseen, "who called is not known: these stacks have no part in user space")
	}
	c.at(inCode(route(blamed.Stack)))
	for _, below := range []string{blamed.Through, blamed.Below} {
		if below != "" {
			c.at(inCode(route(blamed.Stack) + ";…;" + below))
		}
	}
	inclusive := sum(paths, blamed.Members, everything)
	queued := sum(paths, blamed.Members, func(i int) bool { return paths[i].Kind == compare.Runnable })
	locks := sum(paths, blamed.Members, func(i int) bool {
		return isRunning(&paths[i]) && slices.ContainsFunc(paths[i].Frames, takesLock)
	})
	c.add("cpu", "inclusive time of "+frame.Name, inclusive, "s/run")
	if queued.more() >= leastShare*inclusive.more() {
		c.add("offcpu", "of it waiting for a CPU", queued, "s/run")
	}
	c.add("cpu", "own time of "+frame.Name, sides{blamed.SelfA, blamed.SelfB}, "s/run")
	if locks.more() >= leastShare*inclusive.more() {
		c.add("cpu", "of it taking and giving back locks, for which nobody waits longer", locks, "s/run")
	}
	s.tellTimer(c, blamed.Members, paths)
	for _, replaced := range blamed.Replaced {
		c.note("cpu", "it took over what "+replaced+" did on the other side")
	}
	if blamed.Through != "" {
		c.note("cpu", "most of the change under it comes through "+blamed.Through)
	}
	if blamed.Below != "" {
		c.note("cpu", "the largest part of the change under it is in "+blamed.Below+" itself")
	}
	c.at(Place{Kind: InFile, Name: frame.File})
	if code.ByAddress(frame) {
		c.doubt(DoubtSymbols, filepath.Base(frame.Module)+" has no symbols, so that its functions are told by where "+
			"they begin: its debug symbols (Debian: the package that ends in -dbgsym) would name them")
	}
}
