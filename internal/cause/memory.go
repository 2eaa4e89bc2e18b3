package cause

import (
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/recording"
)

const (
	// fewestMaps is how many more calls a run tell of memory that is mapped, touched and returned
	// again.
	fewestMaps = 100
)

// findFaults claims page faults and mapping calls when memory is returned and taken again, written
// for the first time after a fork, or when they are most of the growth. Fewer faults, of code that
// uses more memory and does more with it, belong to that code.
func findFaults(s *scene) []finding {
	calls := s.callCount("munmap").plus(s.callCount("madvise")).plus(s.callCount("brk"))
	pages := s.changedPages()
	_, forked := s.writtenAgain()
	returned := calls.grew(manyTimes, fewestMaps) || calls.more() > 0 && s.touchedAgain()
	if !returned && len(pages) == 0 && !forked && !s.mostlyFaults() {
		return nil
	}
	return []finding{{cause: MemoryFaults,
		match: func(i int) bool {
			return s.traits[i].fault || mapCalls[s.traits[i].call] && s.paths[i].Kind == compare.Running
		},
		tell: func(c *claim) { s.tellFaults(c, calls, returned, pages) }}}
}

func (s *scene) tellFaults(c *claim, calls sides, returned bool, pages []compare.FactChange) {
	s.locate(c, "")
	if shared, forked := s.writtenAgain(); forked {
		c.at(inCode(callerInKernel(s.paths, copyMapNames...)).as(ForkedIn))
		c.add("cpu", "of it in writes to pages that a fork had left shared", shared, "s/run")
		c.claim, c.remedy = forkedClaim, forkedMapping
	} else if !returned && len(pages) == 0 {
		c.claim, c.remedy = touchedClaim, touchLess
	}
	if place := s.mapPlace(); returned && place != "" && !slices.Contains(c.places, inCode(place)) {
		c.at(inCode(place).as(MappedIn))
	}
	c.add("syscalls", "calls that return memory to the kernel", calls, "calls/run")
	if faults := s.countOf(minorFaults); faults.b > 0 {
		c.add("counts", "minor page faults", faults, "faults/run")
		c.predict("first touch of a page", faults.more(), s.in.Costs.Fault)
	}
	if c.tellSettings(pages); len(pages) > 0 {
		c.remedy = "let the program have huge pages as on the other side (THP_enabled, thp.enabled, madvise)"
	}
}

// What is told where memory is touched for the first time and not seen to be returned.
const (
	touchedClaim = "more memory is touched for the first time, and the page faults of it cost more than " +
		"what is done with it"
	touchLess = "keep and reuse the memory, ask for less of it, or let it have huge pages"
)

// timesTaken is how many times what a program holds more it touches more for the first time, for
// the memory to be taken in another way. Chosen: what is held in the end is touched once.
const timesTaken = 2

// mostlyFaults reports whether page faults, of which there are many more than for what is held
// more, are most of the growth.
func (s *scene) mostlyFaults() bool {
	held := s.countOf(memoryHeld)
	return s.manyFaults() && held.b > 0 && s.countOf(minorFaults).more()*pageBytes >= timesTaken*held.more() &&
		s.grew(s.faulting()) >= majority*s.growth
}

// mapPlace names the function that maps memory or returns it most: what is to be mended is there,
// not where the memory is touched. "" where no such call was seen.
func (s *scene) mapPlace() string {
	return callerOf(s.paths, func(frame recording.Frame) bool {
		return frame.Kind == recording.KindKernel && mapCalls[code.SyscallOf(frame.Name)]
	})
}

const (
	pageBytes = 4096
	// timesHeld is how many times what a program held at most it touched for the first time, for it
	// to have returned memory and taken it again.
	timesHeld = 3
)

// touchedAgain reports whether the dearer side touched for the first time several times as much
// memory as the processes whose faults grew can have held, the largest of which is known: it was
// returned and taken again, be it by few calls for much each.
func (s *scene) touchedAgain() bool {
	held := s.countOf(memoryHeld).b
	if !s.manyFaults() || held <= 0 {
		return false
	}
	faulting, processes := s.faulting(), 1.0
	if len(faulting.members) > 0 {
		processes = max(1, s.count(counts.Processes, s.busiestProcess(faulting.members)).b)
	}
	return s.countOf(minorFaults).b*pageBytes >= timesHeld*held*processes
}

func (s *scene) faulting() *claim { return s.all(func(i int) bool { return s.traits[i].fault }) }

// What trials count of each run.
const (
	minorFaults = "metric.minor_faults"
	memoryHeld  = "metric.memory"
)

// fewestFaults is how many more page faults a run are many.
const fewestFaults = 1000

func (s *scene) manyFaults() bool { return s.countOf(minorFaults).grew(manyTimes, fewestFaults) }

// changedPages are the settings of huge pages that differ, where many more page faults came with
// them: the same memory is then touched page by page.
func (s *scene) changedPages() []compare.FactChange {
	if !s.manyFaults() {
		return nil
	}
	return s.changed("target.thp", "thp.enabled", "thp.defrag")
}

// findSync claims forcing data to disk: the calls, and the waits inside them.
func findSync(s *scene) []finding {
	return []finding{{cause: FileSync, match: func(i int) bool { return s.traits[i].sync }, tell: s.tellSync}}
}

func (s *scene) tellSync(c *claim) {
	call := first(s.callsOf(c))
	if !syncCalls[call] {
		call = ""
	}
	s.locate(c, call)
	for call := range syncCalls {
		c.add("syscalls", call+" calls", s.count(counts.Call(call, "count"), ""), "calls/run")
	}
	sortEvidence(c.evidence)
}
