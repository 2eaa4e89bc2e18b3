package cause

import (
	"strconv"

	"culprit/internal/compare/counts"
)

// strangersAsBefore reports whether the waits of a claim for a CPU are for processes outside the
// program's tree, and these took as much of what the program left of the host's CPUs on both sides:
// on a host that is busy all the time a program that sleeps and wakes more often queues more often,
// for which no competitor is to blame. Where the program's own priority or CPUs differ, that is a
// reason of its own.
func (s *scene) strangersAsBefore(c *claim) bool {
	if s.oneSided || len(s.changed("target.nice", "target.policy", "target.affinity", "target.cgroup.cpu",
		"target.cpu", "command.nice", "command.chrt", "command.taskset")) > 0 {
		return false
	}
	if !s.byStrangers(c) {
		return false
	}
	a, b := s.occupied()
	return a > 0 && b < dearerQueue*a
}

// crowd is a process of the program's own that shares the CPU with it, and the CPU time that it
// used more.
type crowd struct {
	process string
	seconds float64
}

// crowding tells whether other processes of the program's own are why a claim waits longer for
// strangers who are there on both sides: what a group of processes (its cgroup; its session,
// sched_autogroup) gets of a busy CPU is shared out within it, so that each waits longer for the
// strangers where the group has more of them. They were seen to run meanwhile, and most of what the
// program used more of the CPU is theirs. nil where they are not why.
func (s *scene) crowding(c *claim) *crowd {
	behind, more := map[string]bool{}, map[string]float64{}
	for _, i := range c.members {
		behind[s.paths[i].WakerComm] = behind[s.paths[i].WakerComm] || s.paths[i].WakerOwn
	}
	seen, all := s.parted(c, func(i int) bool { return s.paths[i].WakerOwn })
	waiter := s.busiestProcess(c.members)
	for i := range s.cpu {
		if path := &s.cpu[i]; behind[path.Process] && path.Process != waiter {
			more[path.Process] += mean(path.B) - mean(path.A)
		}
	}
	names := byValue(more)
	if len(names) == 0 || seen < smallest*all || more[names[0]] < majority*s.cpuGrowth ||
		more[names[0]] < leastShare*s.growth {
		return nil
	}
	return &crowd{process: names[0], seconds: more[names[0]]}
}

// tellCrowding names the program's own process first.
func (s *scene) tellCrowding(c *claim) {
	own := s.crowding(c)
	if own == nil {
		return
	}
	c.at(Place{Kind: InProcess, Role: Competitor, Name: own.process})
	c.add("cpu", "CPU time of "+own.process+", which the program runs itself", 0, own.seconds, "s/run")
	c.doubt(DoubtCoincides, "other programs had the CPU on both sides as well: the program's own processes share "+
		"what is left to them")
}

// occupied is the part of the CPU time left by the program that others took, on both sides; 0 where
// it is not known.
func (s *scene) occupied() (a, b float64) {
	cpus, err := strconv.ParseFloat(s.factsA["cpu.count"], 64)
	wallA, wallB := s.wall()
	if err != nil || s.in.CPU == nil || wallA <= 0 || wallB <= 0 || s.factsA["cpu.count"] != s.factsB["cpu.count"] {
		return 0, 0
	}
	own := s.spent(s.in.CPU)
	othersA, othersB := s.count(counts.StrangersCPU, "")
	leftA, leftB := cpus*wallA-own.a, cpus*wallB-own.b
	if leftA <= 0 || leftB <= 0 {
		return 0, 0
	}
	return othersA / leftA, othersB / leftB
}
