package cause

import (
	"fmt"
	"math"
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/recording"
)

const (
	// So many more processes a run, and so many times as many, are worth a suspicion.
	fewestProcesses = 3
	timesProcesses  = 1.3
)

// findShortLived claims everything that many short-lived processes cost: their
// own time with the loader's, and what their parents spend on starting and awaiting them.
func findShortLived(s *scene) []finding {
	started := map[string]float64{}
	for _, name := range s.keys(counts.Processes) {
		if some := s.count(counts.Processes, name); some.grew(timesProcesses, fewestProcesses) {
			started[name] = some.more()
		}
	}
	all := s.countOf(counts.Processes)
	// The same number under another name is a replacement, not a growth.
	if len(started) == 0 || !all.grew(timesProcesses, fewestProcesses) {
		return nil
	}
	elsewhere := s.movedWork()
	return []finding{{cause: ProcessShortLived,
		match: func(i int) bool {
			path := &s.paths[i]
			if path.Kind == compare.Blocked && path.WakerKind == recording.WakerTimer && sleepsIn(path.Syscall) {
				return false // what the process sleeps on purpose, it would sleep inside its parent as well
			}
			if at, runs := s.workAt(i); runs && elsewhere[at] {
				return false
			}
			return path.Short || s.traits[i].spawn ||
				started[path.Process] > 0 && path.Parent != "" && s.onlyChild(path)
		},
		tell: func(c *claim) { s.tellShortLived(c, started, all.more()) }}}
}

// movedLeast is by how much long-lived processes run a function for longer, or for less, against
// the short-lived ones of their name, where these share its work: one worker in ten. Chosen.
const movedLeast = 0.1

// workIn is a function of the program's own in the processes of a name.
type workIn struct{ process, function string }

// workAt is where a path runs the program's own code.
func (s *scene) workAt(i int) (at workIn, runs bool) {
	path, place := &s.paths[i], s.traits[i].place
	if !isRunning(path) || place < 0 || s.traits[i].spawn {
		return at, false
	}
	return workIn{path.Process, path.Frames[place].Name}, true
}

// movedWork is the work that short-lived processes share with long-lived ones of the same program,
// which do more of it too, or have handed it over: there would be as much of it without them.
// What each process does when it starts, a long-lived one does as often as before.
func (s *scene) movedWork() map[workIn]bool {
	short, long := map[workIn]float64{}, map[workIn]float64{}
	for i := range s.paths {
		at, runs := s.workAt(i)
		if !runs {
			continue
		}
		path, of := &s.paths[i], long
		if path.Short {
			of = short
		}
		of[at] += means(path.A, path.B).more()
	}
	moved := map[workIn]bool{}
	for at, more := range short {
		moved[at] = more > 0 && math.Abs(long[at]) >= movedLeast*more
	}
	return moved
}

func (s *scene) tellShortLived(c *claim, started map[string]float64, all float64) {
	c.absorbs = callsAround
	s.locateParent(c, started)
	parents := s.parents()
	for _, name := range most(started, 3) {
		text := "processes started: " + name
		if parents[name] != "" {
			text += " by " + parents[name]
			c.at(Place{Kind: InProcess, Name: parents[name], Starts: name})
		} else {
			c.at(Place{Kind: InProcess, Name: name})
		}
		c.add("processes", text, s.count(counts.Processes, name), "processes/run")
		c.add("processes", "CPU time of "+name, s.count("process.cpu", name), "s/run")
	}
	each := s.grew(c) / all
	c.add("processes", "cost of each process more", sides{b: each * 1e3}, "ms")
	c.predictAtLeast("start of a trivial program", all, s.in.Costs.Spawn)
	if s.oneSided {
		s.theirOwnWork(c, each)
	}
}

// timesTrivial is how many times a trivial program's whole life each process takes where most of it
// may well be work of its own: a shell takes 4 times as much here, a compiler 20 times.
const timesTrivial = 8

// theirOwnWork says of one side, which has no other way of doing the same work beside it, that what
// the processes do is in the amount: only another side would show what doing it without them takes.
func (s *scene) theirOwnWork(c *claim, each float64) {
	if start := s.in.Costs.Spawn.Ns / 1e9; start > 0 && each > timesTrivial*start {
		c.doubt(DoubtOwnWork, fmt.Sprintf("each takes %.3g ms, and starting a trivial program %.2g ms here: how "+
			"much of the rest is start-up (a loader, a run time) and how much work that has to be done anyway is not told apart",
			each*1e3, start*1e3))
	}
}

// onlyChild reports whether all processes of a path's name that take part are short-lived or start
// others: a long-lived one of the same name does its own work, and so does one that forks others of
// its own name.
func (s *scene) onlyChild(path *compare.Path) bool {
	found := false
	for i := range s.paths {
		if other := &s.paths[i]; other.Process == path.Process && other.Short {
			if other.Parent == path.Process && path.Parent != path.Process {
				return false
			}
			found = true
		}
	}
	return found
}

func (s *scene) parents() map[string]string {
	parents := map[string]string{}
	for _, paths := range [][]compare.Path{s.paths, s.cpu} {
		for i := range paths {
			if path := &paths[i]; path.Short && path.Parent != "" && mean(path.B) > 0 {
				parents[path.Process] = path.Parent
			}
		}
	}
	return parents
}

// locateParent names the function that starts the processes: in the parents' own time, or in their
// waits.
func (s *scene) locateParent(c *claim, started map[string]float64) {
	parent := &claim{}
	for _, i := range c.members {
		if !s.paths[i].Short && s.traits[i].place >= 0 {
			parent.members = append(parent.members, i)
		}
	}
	s.locate(parent, "")
	c.place = parent.place
	grown, _ := s.waitedAt(true, func(wait *compare.Wait) []recording.Frame {
		if wait.Short || started[wait.Process] > 0 || !wait.WakerOwn ||
			!spawnCalls[wait.Syscall] && started[wait.WakerComm] <= 0 {
			return nil
		}
		return wait.Frames
	})
	if names := byValue(grown); len(names) > 0 && grown[names[0]] >= fewestProcesses {
		parent.at(inCode(names[0]))
	}
	for _, place := range parent.places {
		c.at(place)
	}
}

// The kernel's functions that copy a memory map for a fork, those that take one down at exec and
// exit, and those that only the first write goes through after it (Linux: dup_mmap, exit_mmap,
// do_wp_page).
var (
	copyMapNames  = []string{"dup_mm", "copy_page_range", "copy_p4d_range", "copy_pte_range", "copy_present_pte"}
	tearMapNames  = []string{"exit_mmap", "unmap_vmas", "free_pgtables", "exec_mmap"}
	writeAgain    = []string{"do_wp_page", "wp_page_copy", "wp_page_reuse", "do_huge_pmd_wp_page"}
	writeShared   = []string{"wp_page_shared", "do_page_mkwrite", "fault_dirty_shared_page"}
	firstTouch    = []string{"do_anonymous_page", "do_fault", "do_cow_fault", "do_huge_pmd_anonymous_page", "do_swap_page"}
	forkedClaim   = "page faults grew: memory that a fork shares with its child is copied page by page when it is written"
	forkedMapping = "start programs by posix_spawn or vfork, which copy no memory map, or fork before the memory is " +
		"filled; huge pages make the copy cheaper"
)

const (
	// leastCopied is the part of the growth that copying the memory map must be, for as many
	// processes as before to be what costs.
	leastCopied = 0.1
	// mostTornDown is how much of the time of short-lived processes that has no stack is held to be
	// the end of such copies, against the time of making them: an unwinder learns of a process too
	// late for what it does before its exec.
	mostTornDown = 2.0
)

// findForks claims what as many processes as before cost more because each start copies its
// parent's memory map: the copying itself, and what takes the copies down.
func findForks(s *scene) []finding {
	if s.countOf(counts.Processes).b < fewestProcesses {
		return nil
	}
	nameless := over(s.paths, func(path *compare.Path) bool {
		return path.Short && len(path.Frames) == 0
	}).more()
	copied := over(s.paths, copies).more()
	if copied < leastCopied*s.growth {
		return nil
	}
	return []finding{{cause: ProcessShortLived, tell: s.tellForks,
		match: func(i int) bool {
			path := &s.paths[i]
			if len(path.Frames) == 0 {
				return path.Short && path.Kind == compare.Running && nameless <= mostTornDown*copied
			}
			return copies(path) || s.traits[i].spawn && code.InKernel(path.Frames, tearMapNames...)
		}}}
}

func (s *scene) tellForks(c *claim) {
	s.locateParent(c, nil)
	started := s.countOf(counts.Processes)
	c.add("processes", "processes started, each with a copy of its parent's memory map", started, "processes/run")
	c.add("processes", "copying memory maps and taking the copies down, for each process",
		s.total(c).each(started).times(1e3), "ms")
	c.remedy = forkedMapping
}

// copies reports whether a path copies a memory map.
func copies(path *compare.Path) bool {
	return isRunning(path) && code.InKernel(path.Frames, copyMapNames...)
}

// leastForked is what copying the memory map must take, against the faults on what it left shared:
// 0.06 to 1.7 of them were seen.
const leastForked = 0.01

// writtenAgain reports whether most of the growth in page faults is of memory that a fork had left
// shared: each page is copied, or at least taken back, when it is written next. Seconds are those
// of the faults that tell. A file's page that was written out is protected in the same way: without
// a fork it is none of these.
func (s *scene) writtenAgain() (again sides, most bool) {
	is := func(names ...[]string) *claim {
		return s.all(func(i int) bool {
			return s.traits[i].fault && code.InKernel(s.paths[i].Frames, slices.Concat(names...)...)
		})
	}
	faults, shared := s.faulting(), inList(is(writeShared).members)
	again = sum(s.paths, is(writeAgain).members, func(i int) bool { return !shared(i) })
	touched := sum(s.paths, is(firstTouch, writeShared).members, func(i int) bool {
		return shared(i) || !code.InKernel(s.paths[i].Frames, writeAgain...)
	})
	return again, again.more() > 0 && again.more() > touched.more() &&
		over(s.paths, copies).b > leastForked*s.grew(faults)
}
