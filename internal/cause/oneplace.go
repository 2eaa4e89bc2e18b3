package cause

import (
	"path/filepath"
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/blame"
)

// inOnePlace claims a change whose parts belong to several causes, none of them enough to be a
// suspect, for the place in the program's own code that they are below: a function that hands each
// small step to another thread costs a little in locks, a little in calls and a little in a dozen
// functions of libraries. It reports whether one accounts for enough.
func (l *ledger) inOnePlace() bool {
	free := func(i int) bool {
		owner := l.owner[i]
		if l.paths[i].Kind == compare.Runnable || l.paths[i].Nap || l.looksForWork(i) {
			return false // who had the CPU, or why there is no work, is not known: but it is not this code
		}
		return owner == nil || owner.cause.is(ofCode) || owner.consequence
	}
	for _, use := range []func(int) bool{free, func(i int) bool { return free(i) && l.traits[i].place >= 0 }} {
		blamed := l.tree.Find(use)
		if blamed == nil || code.Innermost(blamed.Stack) != len(blamed.Stack)-1 || code.IsEntry(blamed.Frame()) {
			continue
		}
		servants, library := l.servants(blamed, free)
		members := slices.Concat(blamed.Members, servants)
		share, known := l.shareOf(&claim{members: members})
		if !known || share.Low <= 0 || share.Value < leastShare {
			continue
		}
		c := &claim{cause: codeCause(blamed), rule: ruleOnePlace}
		l.claims = append(l.claims, c)
		l.describeCode(c, blamed, l.paths)
		c.partOf(l.scene, servantsOf(library), servants)
		l.takeOver(c, members, "each of its parts is too small to be a suspect, and all are below one place")
		return true
	}
	return false
}

// withServants gives a claim on code the threads of a library that work for its place, also where
// such a thread has been taken for a place already.
func (l *ledger) withServants(c *claim, blamed *blame.Blame) {
	if c.inLibrary() {
		return
	}
	servants, library := l.servants(blamed, func(i int) bool {
		owner := l.owner[i]
		return owner == nil || owner != c && owner.silent == "" && owner.cause.is(isCode) && owner.inLibrary()
	})
	if len(servants) == 0 {
		return
	}
	c.partOf(l.scene, servantsOf(library), servants)
	l.takeOver(c, servants, "a library's threads that do what this place gives them")
}

func servantsOf(library string) string { return library + "'s own threads, which work for it" }

// takeOver gives a claim members, whosever they are, and tells which causes they were of.
func (l *ledger) takeOver(c *claim, members []int, because string) {
	lost := map[*claim][]int{}
	for _, i := range members {
		if was := l.owner[i]; was != nil && was != c && !was.cause.is(isCode) {
			lost[was] = append(lost[was], i)
		}
	}
	before := slices.Clone(l.claims)
	l.move(c.rule, c, members, because)
	for _, other := range before {
		c.partOf(l.scene, string(other.cause), lost[other])
	}
}

// partOf tells what a part of a claim took, where it grew by enough to be listed.
func (c *claim) partOf(s *scene, name string, part []int) {
	if took := sum(s.paths, part, everything); took.more() >= listedShare*s.grew(c) {
		c.add("cpu", "of it "+name, took, "s/run")
	}
}

// servants are the paths, of those that use selects, of threads of a library that work for a place:
// those of its process that come to no function of the program's own, and begin in a part of the
// library that the place calls into as well, but does not run on itself. It names that part.
func (s *scene) servants(blamed *blame.Blame, use func(int) bool) (servants []int, library string) {
	called, runsOn, processes := map[string]bool{}, map[string]bool{}, map[string]bool{}
	place := blamed.Frame()
	for _, i := range blamed.Members {
		frames := s.paths[i].Frames
		at := depthOf(place, frames)
		if at < 0 || s.grown(i) <= 0 {
			continue
		}
		processes[s.paths[i].Process], runsOn[s.code.BeginsIn(frames)] = true, true
		for _, frame := range frames[at+1:] {
			called[code.PartOfLibrary(frame)] = true
		}
	}
	grown := map[string]float64{}
	for i := range s.paths {
		if s.traits[i].place >= 0 || !processes[s.paths[i].Process] || !use(i) {
			continue
		}
		library := s.code.BeginsIn(s.paths[i].Frames)
		if library != "" && called[library] && !runsOn[library] {
			servants = append(servants, i)
			grown[library] += s.grown(i)
		}
	}
	if len(grown) > 0 {
		library = byValue(grown)[0]
	}
	if folder, file := filepath.Split(library); filepath.IsAbs(library) {
		library = filepath.Join(filepath.Base(folder), file) // futures/thread.py
	}
	return servants, library
}
