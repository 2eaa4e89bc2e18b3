package cause

import (
	"fmt"

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
		if a, b := s.count(counts.Processes, name); more(a, b, timesProcesses, fewestProcesses) {
			started[name] = b - a
		}
	}
	allA, allB := s.count(counts.Processes, "")
	// The same number under another name is a replacement, not a growth.
	if len(started) == 0 || !more(allA, allB, timesProcesses, fewestProcesses) {
		return nil
	}
	return []finding{{cause: ProcessShortLived,
		match: func(i int) bool {
			path := &s.paths[i]
			if path.Kind == compare.Blocked && path.WakerKind == recording.WakerTimer && sleepCalls[path.Syscall] {
				return false // what the process sleeps on purpose, it would sleep inside its parent as well
			}
			return path.Short || s.traits[i].spawn ||
				started[path.Process] > 0 && path.Parent != "" && s.onlyChild(path)
		},
		tell: func(c *claim) { s.tellShortLived(c, started, allB-allA) }}}
}

func (s *scene) tellShortLived(c *claim, started map[string]float64, all float64) {
	c.absorbs = callsAround
	s.locateParent(c, started)
	parents := s.parents()
	for _, name := range most(started, 3) {
		a, b := s.count(counts.Processes, name)
		text := fmt.Sprintf("processes started: %s", name)
		if parents[name] != "" {
			text += " by " + parents[name]
			c.at(Place{Kind: InProcess, Name: parents[name], Starts: name})
		} else {
			c.at(Place{Kind: InProcess, Name: name})
		}
		c.add("processes", text, a, b, "processes/run")
		cpuA, cpuB := s.count("process.cpu", name)
		c.add("processes", "CPU time of "+name, cpuA, cpuB, "s/run")
	}
	a, b := s.seconds(c)
	c.add("processes", "cost of each process more", 0, (mean(b)-mean(a))/all*1e3, "ms")
	c.predictAtLeast("start of a trivial program", all, s.in.Costs.Spawn)
	if s.oneSided {
		s.theirOwnWork(c, (mean(b)-mean(a))/all)
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
	grown := s.tallyWaits(true, func(wait *compare.Wait) string {
		if wait.Short || started[wait.Process] > 0 || !wait.WakerOwn ||
			!spawnCalls[wait.Syscall] && started[wait.WakerComm] <= 0 {
			return ""
		}
		return s.ownWay(wait.Frames)
	})
	if names := byValue(grown); len(names) > 0 && grown[names[0]] >= fewestProcesses {
		parent.at(inCode(names[0]))
	}
	for _, place := range parent.places {
		c.at(place)
	}
}
