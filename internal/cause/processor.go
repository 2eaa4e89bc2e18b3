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
			case s.strangersAsBefore(c) && s.crowding(c) == nil:
				return "strangers had as much of the host's CPUs on the other side"
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
	a, b := s.count("runqueue.seconds", "")
	c.add("offcpu", "run-queue delay of the whole tree", a, b, "s/run")
	s.addOneSided(c)
}

// addOneSided tells what trials without the recorder say of the same: a disturbance of one side is
// what it suffers.
func (s *scene) addOneSided(c *claim) {
	for _, text := range s.in.OneSided {
		c.add("trials", text, 0, 0, "")
	}
}

// dearerQueue is how much more each second of running must wait for a CPU before
// the waiting is a cause: below, it grew because there is more to run.
const dearerQueue = 1.3

// followsWork reports whether waiting for a CPU only grew with the work that was to be run: a
// quota, a competitor or an affinity that both sides have makes each of the program's seconds wait
// as long as before.
func (s *scene) followsWork(c *claim) bool {
	ran := over(s.paths, isRunning)
	return s.waitsInProportion(c, ran.a, ran.b)
}

// followsWakeups reports the same of wake-ups: where a host is busy on both sides, a thousand waits
// for a disk or a peer are a thousand waits for a CPU as well, and belong to what was waited for.
func (s *scene) followsWakeups(c *claim) bool {
	wokenA, wokenB := s.wakeups(c)
	return s.waitsInProportion(c, wokenA, wokenB)
}

// farther is how many times as many occasions the dearer side must have before the other side's
// waits are a reference only as far as the spread between its runs allows: a few waits of a short
// run say little of what hundreds take.
const farther = 3

// waitsInProportion reports whether a claim's waiting for a CPU grew no more than what gives
// occasion to it.
func (s *scene) waitsInProportion(c *claim, occasionsA, occasionsB float64) bool {
	a, b := s.seconds(c)
	if s.oneSided || !(occasionsA > 0) || !(mean(a) > 0) {
		return false
	}
	usual := mean(a)
	if occasionsB >= farther*occasionsA {
		usual = perrun.Change(a, nil, s.confidence).High
	}
	return mean(b)/occasionsB < dearerQueue*usual/occasionsA
}

// wakeups is how often the processes of a claim went to sleep of their own accord, a run.
func (s *scene) wakeups(c *claim) (a, b float64) {
	seen := map[string]bool{}
	for _, i := range c.members {
		if process := s.paths[i].Process; process != "" && !seen[process] {
			seen[process] = true
			countA, countB := s.count("switches.voluntary", process)
			a, b = a+countA, b+countB
		}
	}
	return a, b
}

// atQuota is the part of its quota that a program uses when the quota is what stops it.
const atQuota = 0.8

// quotaBites reports whether the dearer side used up a quota that the other side does not have. Who
// had the CPU just before the program got it back then says nothing: on a busy host somebody always
// had.
func (s *scene) quotaBites() bool {
	if a, b := s.count(counts.Throttled, ""); s.metric == compare.MetricWall && b-a >= leastShare*s.growth {
		return true // the kernel says so itself
	}
	limit, err := strconv.ParseFloat(s.factsB[quotaFact], 64)
	same := !s.oneSided && s.factsA[quotaFact] == s.factsB[quotaFact]
	if err != nil || limit <= 0 || same || s.in.CPU == nil || s.in.Wall == nil {
		return false
	}
	_, wall := s.wall()
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
			c.add("facts", "CPU quota: "+quota.String(), 0, 0, "")
			if a, b := s.count(counts.Throttled, ""); b > 0 {
				c.add("counts", "a quota stopped the cgroups of the program, as the kernel counts it", a, b, "s/run")
			}
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
