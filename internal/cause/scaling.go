package cause

import (
	"fmt"
	"math"
	"regexp"
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/internal/compare/differs"
)

const (
	// timesAtOnce is how many times as many CPUs have to be at work at once. Chosen: below two
	// threads instead of one that sleep for each other half of the time (contended-scratch-c:
	// 1.25), above what the share of a serial part varies by.
	timesAtOnce = 1.2
	// asMany is the factor up to which calls, faults and instructions count as the same number.
	// Chosen.
	asMany = 1.2
	// asManyThreads is the same of threads, which are whole numbers.
	asManyThreads = 1.05
)

// atOnce is how many CPUs a command ran on at once, in the mean, and how many of its threads ran or
// waited for one.
func (s *scene) atOnce() (ran, wanted sides) {
	cpu, wall := s.spent(s.in.CPU), s.wall()
	if s.oneSided || wall.a <= 0 || wall.b <= 0 || cpu.a <= 0 {
		return sides{}, sides{}
	}
	ready := cpu.plus(s.countOf(counts.Runqueue))
	return sides{cpu.a / wall.a, cpu.b / wall.b}, sides{ready.a / wall.a, ready.b / wall.b}
}

// moreCPUs reports whether the dearer side had more CPUs at work at once, and took more CPU time.
// Threads that only wait for a CPU are not in each other's way: clients and servers that take turns
// make them more as well.
func (s *scene) moreCPUs() bool {
	ran, _ := s.atOnce()
	return ran.b >= onOneCPU && ran.b >= timesAtOnce*ran.a && s.cpuGrowth > 0
}

// sameBuild reports whether nothing that ran is known to be another version or another build.
func (s *scene) sameBuild() bool {
	return !slices.ContainsFunc(s.in.Differs, func(one differs.Difference) bool {
		return one.Seen() && (one.Kind == differs.Binary || one.Kind == differs.Dependency)
	})
}

// forCPUs are the settings that say how many CPUs a program may use, or takes for its threads.
var forCPUs = regexp.MustCompile(`^(target\.affinity|target\.cgroup\.(cpuset|cpu)\.|command\.(taskset|numactl)$|` +
	`target\.environment\.(GOMAXPROCS$|[A-Z]+_NUM_THREADS$|TOKIO_WORKER_THREADS$|PYTHON_CPU_COUNT$))`)

// onlyOtherCPUs reports whether the sides run the same program with the same arguments and as many
// threads, and differ in nothing but the CPUs for them: who has the same threads has the same work
// to do.
func (s *scene) onlyOtherCPUs() bool {
	settings := s.settings()
	if len(settings) == 0 || !s.sameProgram() || !s.sameBuild() || !s.moreCPUs() {
		return false
	}
	threads := sides{}
	for _, process := range s.keys(counts.Threads) {
		threads = threads.plus(s.count(counts.Threads, process))
	}
	return threads.a > 0 && threads.b <= asManyThreads*threads.a &&
		!slices.ContainsFunc(settings, func(one compare.FactChange) bool { return !forCPUs.MatchString(one.Name) })
}

// knownWork is what is known of how much both sides had to do.
type knownWork uint8

const (
	workUnknown knownWork = iota
	workSame
	workMore // the dearer side had more to do
	workLock // it spins for locks
)

// workOf says whether the growth of a claim is more work, or the same work that each CPU takes
// longer for, and how that is known.
func (s *scene) workOf(c *claim) (knownWork, string) {
	if known, how := s.byInstructions(); known != workUnknown {
		return known, how
	}
	switch {
	case s.mostly(c, func(i int) bool { return s.traits[i].lock }) && s.locksAlone():
		return workLock, "time in functions that take locks grew far more than that of all other code"
	case s.mostly(c, func(i int) bool { return code.WaitsForCPUs(s.paths[i].Frames) }):
		return workSame, "what grew is waiting for other CPUs within the kernel"
	case s.mostly(c, s.dearerEach):
		return workSame, "as many calls and faults, which each take longer in the kernel"
	case s.onlyOtherCPUs():
		return workSame, "the same program with the same arguments and as many threads"
	}
	return workUnknown, "how much work it was is not known: no instructions were counted"
}

// byInstructions tells by what the target retired.
func (s *scene) byInstructions() (knownWork, string) {
	spent := s.spent(s.in.CPU)
	for _, of := range []string{"", ":u"} {
		count, counted := s.counter("instructions" + of)
		if !counted || spent.b <= spent.a {
			continue
		}
		times := mean(count.B) / mean(count.A)
		if math.Log(times) < (1-majority)*math.Log(spent.b/spent.a) {
			return workSame, fmt.Sprintf("%.2f times as many instructions", times)
		}
		return workMore, fmt.Sprintf("%.2f times as many instructions: it does more", times)
	}
	return workUnknown, ""
}

// locksAlone reports whether taking locks grew far more than all other code: the same locks are
// taken for the same work, so that more work would have made both grow alike.
func (s *scene) locksAlone() bool {
	locks := over(s.cpu, func(path *compare.Path) bool {
		return isRunning(path) && slices.ContainsFunc(path.Frames, takesLock)
	})
	rest := s.spent(s.in.CPU).plus(locks.times(-1))
	return rest.a > 0 && rest.b > 0 && locks.b*rest.a >= manyTimes*locks.a*rest.b
}

// dearerEach reports whether a path is in the kernel for something that is asked of it neither more
// often nor for more bytes.
func (s *scene) dearerEach(i int) bool {
	often, bytes := sides{}, sides{}
	switch t := &s.traits[i]; {
	case t.fault:
		often = s.countOf(counts.FaultsMinor)
	case t.call != "" && t.entered(&s.paths[i]):
		often = s.countOf(counts.Call(t.call, "count"))
		bytes = s.countOf(counts.Call(t.call, "bytes"))
	}
	return often.a >= leastCalls && often.b <= asMany*often.a && bytes.b <= asMany*bytes.a
}

// tellContended makes a claim on code one of CPUs that are in each other's way, where more of them
// do the same work at once. Where nothing tells how much work it was, the claim stays, and says
// what would decide.
func (l *ledger) tellContended(rule transfer) {
	if !l.moreCPUs() {
		return
	}
	for _, c := range l.claims {
		counted := c.cause == CacheMisses || c.cause == FrontendStalls || c.cause == BranchMisses
		if c.cause != CodeGrew && !counted || c.silent != "" || c.rule != ruleCode ||
			!l.nothingBut(c, func(i int) bool { return isRunning(&l.paths[i]) }) {
			continue
		}
		if !l.sameBuild() {
			l.enter(rule.rule, Passed, c, l.grew(c), "the sides are not the same build")
			continue
		}
		known, how := l.workOf(c)
		if known == workMore {
			l.enter(rule.rule, Passed, c, l.grew(c), how)
			continue
		}
		l.addAtOnce(c)
		if known == workUnknown {
			c.tests = CPUContended
			c.doubt(DoubtMoreCPUs, "more CPUs do it at once, and "+how+": trials with all threads on one CPU tell whether "+
				"they are in each other's way")
			l.enter(rule.rule, Passed, c, l.grew(c), how)
			continue
		}
		if known == workLock {
			c.cause, c.claim = LockContended, "threads spin for each other's lock"
		} else if !counted { // a counter that grew says more
			c.cause = CPUContended
		}
		l.noteSameWork(c, how)
		l.enter(rule.rule, Told, c, l.grew(c), how)
	}
}

// noteSameWork tells first how many CPUs were at it, and what each of them got done.
func (s *scene) noteSameWork(c *claim, how string) {
	ran, _ := s.atOnce()
	cpu := s.spent(s.in.CPU)
	c.evidence = slices.Insert(c.evidence, 0, Evidence{Signal: "cpu", Text: fmt.Sprintf("on %.1f CPUs at once instead of "+
		"%.1f, the same work (%s): a CPU does %.0f %% of it in the same time", ran.b, ran.a, how, 100*cpu.a/cpu.b)})
}

// addAtOnce tells how many CPUs were at it, and how many could have been.
func (s *scene) addAtOnce(c *claim) {
	ran, wanted := s.atOnce()
	c.add("cpu", "CPUs that it ran on at once", ran, "CPUs")
	c.add("cpu", "threads that ran or waited for a CPU at once", wanted, "threads")
	waited := sum(s.paths, c.members, func(i int) bool { return code.WaitsForCPUs(s.paths[i].Frames) })
	if waited.more() >= leastShare*s.grew(c) {
		c.add("cpu", "of it waiting for other CPUs within the kernel", waited, "s/run")
	}
}

// TurnOut gives a suspect whose cause trials had to decide what they said. Proven it is the cause
// that was tried; refuted it is code that does more.
func (s *Suspect) TurnOut(proof *Proof) {
	tried, _ := Lookup(s.Tests)
	s.Tests = ""
	if Level(proof.Verdict) == Proven {
		s.Cause, s.Claim, s.Level, s.Proof = tried.ID, ofSides(tried.Claim, s.Gain), Proven, proof
		if s.Remedy = tried.Remedy; s.Gain {
			s.Remedy = gained + tried.Gain
		}
	}
	text := "with all threads on one CPU it takes as long: it does more, however many CPUs it has"
	if Level(proof.Verdict) != Refuted {
		text = fmt.Sprintf("with all threads on one CPU the same command takes %.2f times as long", proof.Effect.Ratio)
	}
	s.Evidence = append(slices.Clone(s.Evidence), Evidence{Signal: "trials", Text: text})
	if Level(proof.Verdict) == Proven || Level(proof.Verdict) == Refuted {
		s.Doubts = slices.DeleteFunc(slices.Clone(s.Doubts), func(one Doubt) bool { return one.Kind == DoubtMoreCPUs })
	}
	s.InWords()
}
