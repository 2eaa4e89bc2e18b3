package cause

import (
	"strconv"

	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/internal/compare/perrun"
)

// findStarved claims waiting for a CPU that strangers, or other processes of the tree, had.
func findStarved(s *scene) []finding {
	return []finding{{cause: CPUStarved, tell: s.tellStarved,
		match: func(i int) bool {
			path := &s.paths[i]
			return path.Kind == compare.Runnable && path.WakerComm != "" && !s.isPartner(path) &&
				!(path.WakerOwn && (path.WakerComm == path.Process || path.WakerComm == path.Comm))
		},
		stands: func(c *claim) string {
			switch {
			case s.followsWork(c):
				return asMuchPerSecond
			case s.followsWakeups(c):
				return "each wake-up waits for a CPU as long as before"
			case s.strangersAsBefore(c):
				if own, _ := s.crowding(c); own == "" {
					return "strangers had as much of the host's CPUs on the other side"
				}
			}
			return ""
		}}}
}

// asMuchPerSecond is why waiting for a CPU is no cause: see followsWork.
const asMuchPerSecond = "each second of running waits for a CPU as long as before"

func (s *scene) tellStarved(c *claim) {
	others := s.tally(c.members, func(i int) string { return s.paths[i].WakerComm })
	if s.strangersAsBefore(c) {
		s.tellCrowding(c)
	}
	c.nameCompetitors(others)
	for _, setting := range s.changed("target.nice", "target.policy", "target.affinity") {
		c.addSetting(setting)
	}
	c.add("offcpu", "run-queue delay of the whole tree", s.count("runqueue.seconds", ""), "s/run")
	s.addOneSided(c)
}

// addOneSided tells what trials without the recorder say of the same: a disturbance of one side is
// what it suffers.
func (s *scene) addOneSided(c *claim) {
	for _, text := range s.in.OneSided {
		c.note("trials", text)
	}
}

// dearerQueue is how much more each second of running must wait for a CPU before
// the waiting is a cause: below, it grew because there is more to run.
const dearerQueue = 1.3

// followsWork reports whether waiting for a CPU only grew with the work that was to be run: a
// quota, a competitor or an affinity that both sides have makes each of the program's seconds wait
// as long as before.
func (s *scene) followsWork(c *claim) bool {
	return s.waitsInProportion(c, over(s.paths, isRunning))
}

// followsWakeups reports the same of wake-ups: where a host is busy on both sides, a thousand waits
// for a disk or a peer are a thousand waits for a CPU as well, and belong to what was waited for.
func (s *scene) followsWakeups(c *claim) bool {
	return s.waitsInProportion(c, s.wakeups(c))
}

// farther is how many times as many occasions the dearer side must have before the other side's
// waits are a reference only as far as the spread between its runs allows: a few waits of a short
// run say little of what hundreds take.
const farther = 3

// waitsInProportion reports whether a claim's waiting for a CPU grew no more than what gives
// occasion to it.
func (s *scene) waitsInProportion(c *claim, occasions sides) bool {
	a, b := s.seconds(c)
	usual := mean(a)
	if s.oneSided || !(occasions.a > 0) || !(usual > 0) {
		return false
	}
	if occasions.b >= farther*occasions.a {
		usual = perrun.Change(a, nil, s.confidence).High
	}
	return mean(b)/occasions.b < dearerQueue*usual/occasions.a
}

// wakeups is how often the processes of a claim went to sleep of their own accord, a run.
func (s *scene) wakeups(c *claim) (switches sides) {
	for process := range s.tally(c.members, func(i int) string { return s.paths[i].Process }) {
		switches = switches.plus(s.count("switches.voluntary", process))
	}
	return switches
}

// atQuota is the part of its quota that a program uses when the quota is what stops it.
const atQuota = 0.8

// quotaBites reports whether the dearer side used up a quota that the other side does not have. Who
// had the CPU just before the program got it back then says nothing: on a busy host somebody always
// had.
func (s *scene) quotaBites() bool {
	if s.metric == compare.MetricWall && s.countOf(counts.Throttled).more() >= leastShare*s.growth {
		return true // the kernel says so itself
	}
	limit, err := strconv.ParseFloat(s.factsB[quotaFact], 64)
	same := !s.oneSided && s.factsA[quotaFact] == s.factsB[quotaFact]
	if err != nil || limit <= 0 || same || s.in.CPU == nil || s.in.Wall == nil {
		return false
	}
	wall := s.wall().b
	return wall > 0 && s.spent(s.in.CPU).b/wall >= atQuota*limit
}

// findThrottled claims waiting for a CPU that nobody had, under a CPU quota; and all
// waiting for a CPU where the quota was used up.
func findThrottled(s *scene) []finding {
	quota, limited := s.quota()
	if !limited {
		return nil
	}
	bites := s.quotaBites()
	return []finding{{cause: CPUThrottled, stands: s.unlessFollowsWork,
		match: func(i int) bool {
			return s.paths[i].Kind == compare.Runnable && (bites || s.paths[i].WakerComm == "")
		},
		tell: func(c *claim) {
			c.at(quota)
			c.note("facts", "CPU quota: "+quota.String())
			c.add("counts", "a quota stopped the cgroups of the program, as the kernel counts it",
				s.countOf(counts.Throttled), "s/run")
			s.addOneSided(c)
		}}}
}

// unlessFollowsWork is why a claim on waiting for a CPU is none, where it only grew with what was
// to be run.
func (s *scene) unlessFollowsWork(c *claim) string {
	if s.followsWork(c) {
		return asMuchPerSecond
	}
	return ""
}

// quota is the CPU limit that the dearer side ran under.
func (s *scene) quota() (quota Place, limited bool) {
	for _, name := range []string{quotaFact, "target.cpu.limit", "target.cgroup.cpu.max",
		"target.cgroup.cpu.quota_us"} {
		value := s.factsB[name]
		if value == "" || value == "max" || len(value) > 3 && value[:4] == "max " {
			continue
		}
		if number, err := strconv.ParseFloat(value, 64); err == nil && number < 0 {
			continue
		}
		return Place{Kind: InSetting, Name: name, Value: value}, true
	}
	return Place{}, false
}

// strangersAsBefore reports whether the waits of a claim for a CPU are for processes outside the
// program's tree, and these took as much of what the program left of the host's CPUs on both sides:
// on a host that is busy all the time a program that sleeps and wakes more often queues more often,
// for which no competitor is to blame. Where the program's own priority or CPUs differ, that is a
// reason of its own.
func (s *scene) strangersAsBefore(c *claim) bool {
	if s.oneSided || !s.byStrangers(c) || len(s.changed("target.nice", "target.policy", "target.affinity",
		"target.cgroup.cpu", "target.cpu", "command.nice", "command.chrt", "command.taskset")) > 0 {
		return false
	}
	occupied := s.occupied()
	return occupied.a > 0 && occupied.b < dearerQueue*occupied.a
}

// crowding tells whether other processes of the program's own are why a claim waits longer for
// strangers who are there on both sides: what a group of processes (its cgroup; its session,
// sched_autogroup) gets of a busy CPU is shared out within it, so that each waits longer for the
// strangers where the group has more of them. They were seen to run meanwhile, and most of what the
// program used more of the CPU is theirs. It names the one that used most more, and how much; ""
// where they are not why.
func (s *scene) crowding(c *claim) (process string, seconds float64) {
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
		return "", 0
	}
	return names[0], more[names[0]]
}

// tellCrowding names the program's own process first.
func (s *scene) tellCrowding(c *claim) {
	process, seconds := s.crowding(c)
	if process == "" {
		return
	}
	c.at(Place{Kind: InProcess, Role: Competitor, Name: process})
	c.add("cpu", "CPU time of "+process+", which the program runs itself", sides{b: seconds}, "s/run")
	c.doubt(DoubtCoincides, "other programs had the CPU on both sides as well: the program's own processes share "+
		"what is left to them")
}

// occupied is the part of the CPU time left by the program that others took, on both sides; 0 where
// it is not known.
func (s *scene) occupied() sides {
	cpus, err := strconv.ParseFloat(s.factsA["cpu.count"], 64)
	wall := s.wall()
	if err != nil || s.in.CPU == nil || wall.a <= 0 || wall.b <= 0 || s.factsA["cpu.count"] != s.factsB["cpu.count"] {
		return sides{}
	}
	left, others := wall.times(cpus).plus(s.spent(s.in.CPU).times(-1)), s.countOf(counts.StrangersCPU)
	if left.a <= 0 || left.b <= 0 {
		return sides{}
	}
	return sides{others.a / left.a, others.b / left.b}
}
