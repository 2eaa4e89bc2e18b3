package cause

import (
	"path/filepath"
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
)

// ofCode are causes that a function brings about by what it does, so that it may be named for all of them together. The
// others are told whatever code they meet: a host, a quota, a tracer.
var ofCode = map[string]bool{"code.grew": true, "code.added": true, "syscall.chatty": true, "lock.contended": true,
	"memory.faults": true, "clock.read-often": true, "net.reconnect": true, "process.short-lived": true,
	"file.sync": true}

// inOnePlace claims a change whose parts belong to several causes, none of them enough to be a suspect, for the place
// in the program's own code that they are below: a function that hands each small step to another thread costs a little
// in locks, a little in calls and a little in a dozen functions of libraries. nil where no place accounts for enough.
func (s *scene) inOnePlace(claims []*claim) *claim {
	free := func(i int) bool {
		owner := s.owner[i]
		if s.paths[i].Kind == compare.Runnable || s.paths[i].Nap || s.looksForWork(i) {
			return false // who had the CPU, or why there is no work, is not known: but it is not this code
		}
		return owner == nil || ofCode[owner.id] || owner.consequence
	}
	for _, use := range []func(int) bool{free, func(i int) bool { return free(i) && s.traits[i].place >= 0 }} {
		blame := compare.FindBlame(s.paths, use)
		if blame == nil || code.Innermost(blame.Stack) != len(blame.Stack)-1 || code.IsEntry(blame.Frame()) {
			continue
		}
		servants, library := s.servants(blame, free)
		c := &claim{id: codeCause(blame), members: slices.Concat(blame.Members, servants)}
		share, known := s.shareOf(c)
		if !known || share.Low <= 0 || share.Value < leastShare {
			continue
		}
		s.describeCode(c, blame, s.paths)
		c.partOf(s, servantsOf(library), servants)
		s.takeOver(c, claims)
		return c
	}
	return nil
}

// withServants gives a claim on code the threads of a library that work for its place, also where such a thread has
// been taken for a place already; it returns the claims that are left of those made before.
func (s *scene) withServants(c *claim, blame *compare.Blame, before []*claim) []*claim {
	if c.inLibrary() {
		return before
	}
	servants, library := s.servants(blame, func(i int) bool {
		owner := s.owner[i]
		return owner == nil || owner != c && isCode(owner.id) && owner.inLibrary()
	})
	if len(servants) == 0 {
		return before
	}
	c.members = append(c.members, servants...)
	c.partOf(s, servantsOf(library), servants)
	s.takeOver(c, before)
	return slices.DeleteFunc(before, func(other *claim) bool { return len(other.members) == 0 })
}

func servantsOf(library string) string { return library + "'s own threads, which work for it" }

// shareOf is the part of the change that a claim's members account for.
func (s *scene) shareOf(c *claim) (share compare.Interval, known bool) {
	a, b := s.seconds(c)
	return compare.Share(a, b, s.metricA, s.metricB, s.confidence)
}

// takeOver gives a claim its members, whosever they are, and tells which causes they were of.
func (s *scene) takeOver(c *claim, claims []*claim) {
	mine := map[int]bool{}
	for _, i := range c.members {
		mine[i], s.owner[i] = true, c
	}
	for _, other := range claims {
		var lost, kept []int
		for _, i := range other.members {
			if mine[i] {
				lost = append(lost, i)
			} else {
				kept = append(kept, i)
			}
		}
		other.members = kept
		if !isCode(other.id) {
			c.partOf(s, other.id, lost)
		}
	}
}

// partOf tells what a part of a claim took, where it grew by enough to be listed.
func (c *claim) partOf(s *scene, name string, part []int) {
	var sum sides
	for _, i := range part {
		sum = sum.plus(mean(s.paths[i].A), mean(s.paths[i].B))
	}
	if sum.b-sum.a >= listedShare*s.grew(c) {
		c.add("cpu", "of it "+name, sum.a, sum.b, "s/run")
	}
}

// servants are the paths, of those that use selects, of threads of a library that work for a place: those of its
// process that come to no function of the program's own, and begin in a part of the library that the place calls into
// as well, but does not run on itself. It names that part.
func (s *scene) servants(blame *compare.Blame, use func(int) bool) (servants []int, library string) {
	called, runsOn, processes := map[string]bool{}, map[string]bool{}, map[string]bool{}
	place := blame.Frame()
	for _, i := range blame.Members {
		frames := s.paths[i].Frames
		at := depthOf(place, frames)
		if at < 0 || s.grown(i) <= 0 {
			continue
		}
		processes[s.paths[i].Process], runsOn[code.BeginsIn(frames)] = true, true
		for _, frame := range frames[at+1:] {
			called[code.PartOfLibrary(frame)] = true
		}
	}
	grown := map[string]float64{}
	for i := range s.paths {
		library := code.BeginsIn(s.paths[i].Frames)
		if library == "" || !called[library] || runsOn[library] || s.traits[i].place >= 0 ||
			!processes[s.paths[i].Process] || !use(i) {
			continue
		}
		servants = append(servants, i)
		grown[library] += s.grown(i)
	}
	if len(grown) > 0 {
		library = byValue(grown)[0]
	}
	if folder, file := filepath.Split(library); filepath.IsAbs(library) {
		library = filepath.Join(filepath.Base(folder), file) // futures/thread.py
	}
	return servants, library
}
