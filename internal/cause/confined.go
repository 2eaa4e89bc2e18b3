package cause

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/recording"
)

// onOneCPU is how many CPUs a program seems to use that is held on one: samples scatter a little.
const onOneCPU = 1.15

// findConfined claims waiting for a CPU that the program's own threads and processes had, where it
// may use fewer CPUs than the other side: by its affinity, or as far as it was seen.
func findConfined(s *scene) []finding {
	narrow := s.confinement()
	if narrow.Name == "" {
		return nil
	}
	return []finding{{cause: CPUConfined, stands: s.unlessFollowsWork,
		match: func(i int) bool { return s.paths[i].Kind == compare.Runnable && s.paths[i].WakerOwn },
		tell: func(c *claim) {
			s.describeConfined(c, narrow)
			c.add("offcpu", "run-queue delay of the whole tree", s.count("runqueue.seconds", ""), "s/run")
		}}}
}

func (s *scene) describeConfined(c *claim, narrow Place) {
	c.at(narrow)
	s.locate(c, "")
	c.note("facts", narrow.String())
	c.add("cpu", "CPUs that the time was spread over", s.count(counts.CPUsUsed, ""), "CPUs")
}

// confinement says what keeps the dearer side on fewer CPUs, nameless when nothing is known to.
func (s *scene) confinement() Place {
	if narrow := s.narrowed(); narrow.Name != "" {
		return narrow
	}
	used := s.countOf(counts.CPUsUsed)
	if !s.oneSided && used.b > 0 && used.b <= onOneCPU && used.a > 1.3*used.b {
		return Place{Kind: InCPUs, Name: "all CPU time on one CPU"}
	}
	return Place{}
}

// narrowed is the setting that allows the dearer side fewer CPUs: than the other side, or,
// one-sided, than there are. It was read of the first process: where the tree's time was spread
// over more CPUs than it allows, it does not hold those that work (perf, which goes from CPU to CPU
// to open its counters).
func (s *scene) narrowed() Place {
	for _, name := range []string{affinityFact, "target.cgroup.cpuset.cpus"} {
		allowed := cpusIn(s.factsB[name])
		than := cpusIn(s.factsA[name])
		if s.oneSided {
			than, _ = strconv.Atoi(s.factsB["cpu.count"])
		}
		if used := s.countOf(counts.CPUsUsed).b; used > onOneCPU*float64(allowed) {
			continue
		}
		if allowed > 0 && allowed < than {
			return Place{Kind: InSetting, Name: name, Value: fmt.Sprintf("%s (%d of %d CPUs)", s.factsB[name], allowed, than)}
		}
	}
	for _, setting := range s.changed("command.taskset", "command.numactl") {
		if setting.B != "" {
			return inSetting(setting)
		}
	}
	return Place{}
}

const (
	affinityFact = "target.affinity"
	quotaFact    = "target.cgroup.cpu.limit_cpus" // a number of CPUs, or "max"
)

// tightest are the facts of a side, and of the limits on its CPUs the tightest that any of its runs
// had: where runs do not agree, the program sets the limit itself, and was read before it did in
// some.
func tightest(in Input, facts []recording.Fact, side compare.Side) map[string]string {
	values := map[string]string{}
	for _, fact := range slices.Backward(facts) { // the first of a name holds
		values[fact.Name] = fact.Value
	}
	for _, varies := range in.Result.Varying {
		if varies.Side != side || varies.Name != affinityFact && varies.Name != quotaFact {
			continue
		}
		values[varies.Name] = slices.MinFunc(varies.Values, func(x, y string) int {
			return cmp.Compare(cpusAllowed(varies.Name, x), cpusAllowed(varies.Name, y))
		})
	}
	return values
}

// cpusAllowed is how many CPUs a limit leaves.
func cpusAllowed(name, value string) float64 {
	if name == affinityFact {
		return float64(cpusIn(value))
	}
	if limit, err := strconv.ParseFloat(value, 64); err == nil && limit > 0 {
		return limit
	}
	return math.Inf(1)
}

// cpusIn counts the CPUs of a list such as "0-3,7"; 0 when it is none.
func cpusIn(list string) int {
	count := 0
	for _, part := range strings.Split(strings.TrimSpace(list), ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		if err != nil || from < 0 {
			return 0
		}
		to := from
		if isRange {
			if to, err = strconv.Atoi(last); err != nil || to < from {
				return 0
			}
		}
		count += to - from + 1
	}
	return count
}

// giveNarrowed claims what is left for a narrower affinity when the time grew and the work did not:
// a runtime that counts its CPUs (Go, the JVM) starts fewer threads, and nobody is seen to wait for
// a CPU.
func (l *ledger) giveNarrowed(rule transfer) {
	narrow := l.narrowed()
	if narrow.Name == "" || l.metric != compare.MetricWall || l.in.CPU == nil || l.cpuGrowth > serialPart*l.growth {
		return
	}
	c := l.claim(rule.rule, finding{cause: CPUConfined, match: everything, tell: func(c *claim) {
		l.describeConfined(c, narrow)
		c.add("cpu", "its CPU time hardly grew: the same work ran on fewer CPUs", sides{b: l.cpuGrowth}, "s/run")
	}})
	l.explained = c != nil
}

func everything(int) bool { return true }
