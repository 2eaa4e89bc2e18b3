package cause

import (
	"cmp"
	"slices"
	"strings"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/recording"
)

// clockRank orders clock sources by what a read costs where each is known:
// tsc 20 ns, kvm-clock 25, hpet and acpi_pm about 700, measured in the notes.
var clockRank = map[string]int{"tsc": 0, "arch_sys_counter": 0, "riscv_clocksource": 0, "timebase": 0, "tod": 0,
	"hyperv_clocksource_tsc_page": 1, "kvm-clock": 1, "xen": 3, "hyperv_clocksource_msr": 3, "hpet": 4, "acpi_pm": 5,
	"pit": 6, "refined-jiffies": 6, "jiffies": 6}

// slowClock is the rank from which the vDSO cannot serve a clock source, or only at a multiple of
// its cost.
const slowClock = 3

const (
	// fewestReads a run: below that no clock read costs anything that a metric shows.
	fewestReads = 1000
	// timesReads is how many times as many tell that the time is read more often, and not as often
	// from a slower clock. Chosen.
	timesReads = 1.2
)

// findClock decides which of the three causes made reading the time dear.
func findClock(s *scene) []finding {
	return []finding{{cause: ClockReadOften, match: func(i int) bool { return s.traits[i].clock }, tell: s.tellClock}}
}

func (s *scene) tellClock(c *claim) {
	calls := s.callsCounted(clockCalls)
	oftener := calls.grew(timesReads, fewestReads)
	c.absorbs = s.absorbing(c)
	s.locate(c, "")
	sourceA, sourceB := s.clockSources(c)
	rankB, known := clockRank[sourceB]
	dearer := !s.oneSided && sourceA != "" && sourceB != "" && sourceA != sourceB && rankB >= clockRank[sourceA]
	slow := known && rankB >= slowClock && s.better(sourceB) != ""
	readsMore := !s.oneSided && sourceA == sourceB && oftener
	switch {
	case slow && readsMore: // each read is a call on both sides alike: what differs is how many there are
		c.doubt(DoubtSetting, "the clock source "+sourceB+" is slow on both sides; "+s.better(sourceB)+
			" would make each read cheaper")
		c.at(Place{Kind: InCall, Name: s.clockCall()})
	case dearer && rankB < slowClock && !s.byAFewTenths(c):
		c.doubt(DoubtSetting, "the clock source differs too, "+sourceA+" against "+sourceB+
			": that makes reads dearer by some tenths, not by as much as this")
		s.estimateReads(c)
	case dearer, slow:
		c.cause, c.knob = ClockSlowSource, "clocksource"
		s.slowSource(c, sourceA, sourceB)
	case oftener && !s.cpuClock(c):
		c.cause = ClockVDSOBypassed
		c.at(Place{Kind: InCall, Name: s.clockCall()})
		s.predictBypass(c, calls.more())
	default:
		if s.oneSided && known && rankB > 0 && s.better(sourceB) != "" {
			c.cause, c.knob = ClockSlowSource, "clocksource"
			c.at(Place{Kind: InClock, Name: sourceB})
		}
		if !oftener { // else they are clocks of CPU time, counted as calls
			s.estimateReads(c)
		}
	}
	c.add("syscalls", "clock reads by a real system call", calls, "calls/run")
}

// quickApart is how many times as much a read costs at most with one of two sources that the vDSO
// serves.
const quickApart = 2

// byAFewTenths reports whether the time of clock reads grew by no more than one quick source costs
// above another.
func (s *scene) byAFewTenths(c *claim) bool {
	seconds := s.total(c)
	return seconds.b <= quickApart*seconds.a
}

// slowSource says what speaks for the clock source that the dearer side reads.
func (s *scene) slowSource(c *claim, sourceA, sourceB string) {
	c.add("facts", "clock source: "+cmp.Or(sourceA, sourceB)+" on one side, "+sourceB+" on the dearer side",
		sides{float64(clockRank[sourceA]), float64(clockRank[sourceB])}, "rank by cost")
	if better := s.better(sourceB); better != "" {
		c.note("facts", "a faster clock source is available: "+better)
	}
	if seen := s.factsB["clocksource.seen"]; seen != "" {
		c.note("facts", "changed while the dearer side ran, the longest in force first: "+seen)
	}
	c.at(Place{Kind: InClock, Name: sourceB})
}

// clockSources are those of both sides: of most of their runs, where a side's do not agree.
func (s *scene) clockSources(c *claim) (a, b string) {
	const name = "clocksource.current"
	a, b = s.factsA[name], s.factsB[name]
	for _, varies := range s.in.Result.Varying {
		if varies.Name != name {
			continue
		}
		c.doubt(DoubtSetting, varies.String())
		if (varies.Side == compare.B) != s.turned() {
			b = varies.Values[0]
		} else {
			a = varies.Values[0]
		}
	}
	return a, b
}

// better names an available clock source that is cheaper to read than the one in use.
func (s *scene) better(current string) string {
	best, bestRank := "", clockRank[current]
	for _, source := range strings.Fields(s.factsB["clocksource.available"]) {
		if rank, known := clockRank[source]; known && rank < bestRank {
			best, bestRank = source, rank
		}
	}
	return best
}

// clockCall is the clock system call that grew most.
func (s *scene) clockCall() string {
	grown := map[string]float64{}
	for call := range clockCalls {
		grown[call] = s.countOf(counts.Call(call, "count")).more()
	}
	return byValue(grown)[0]
}

// cpuClockNames are kernel functions that read clocks of CPU time.
var cpuClockNames = []string{"cpu_clock", "cputime", "thread_group_sample", "task_sched_runtime"}

// cpuClock reports whether the claim reads CPU-time clocks: those need the kernel, the vDSO would
// not serve them.
func (s *scene) cpuClock(c *claim) bool {
	kernel, _ := s.parted(c, func(i int) bool {
		return slices.ContainsFunc(s.paths[i].Frames[s.traits[i].kernel:], func(frame recording.Frame) bool {
			return code.SyscallOf(frame.Name) != ""
		})
	})
	cpu, _ := s.parted(c, func(i int) bool { return code.InKernel(s.paths[i].Frames, cpuClockNames...) })
	return kernel > 0 && cpu >= majority*kernel
}

func (s *scene) predictBypass(c *claim, calls float64) {
	raw, vdso := s.in.Costs.ClockRaw, s.in.Costs.ClockVDSO
	if raw.Ns <= vdso.Ns || vdso.Ns <= 0 {
		return
	}
	c.predict("clock read by a system call instead of the vDSO", calls,
		Cost{Ns: raw.Ns - vdso.Ns, Low: max(0, raw.Low-vdso.High), High: raw.High})
	c.add("bench", "one clock read through the vDSO", sides{vdso.Ns, vdso.Ns}, "ns")
	c.add("bench", "one clock read by a system call", sides{raw.Ns, raw.Ns}, "ns")
}

// estimateReads says how many more reads the time stands for: the vDSO cannot be counted from
// outside.
func (s *scene) estimateReads(c *claim) {
	if cost := s.in.Costs.ClockVDSO.Ns; cost > 0 {
		c.add("bench", "clock reads that this time stands for, at the cost measured here",
			s.total(c).times(1e9/cost), "reads/run")
	}
}

const (
	// callsAround is the part of its function's growth from which a claim on calls takes the rest
	// of the function's own code: with less, most of the function does something else.
	callsAround = 0.5
	// callsAroundInterpreted is the same in an interpreter, whose bytecode around a call takes as
	// long as the call.
	callsAroundInterpreted = 0.34
)

// absorbing is the part of a function's growth that calls must make up for the
// function's own code to belong to them: in an interpreter the calls themselves are dear.
func (s *scene) absorbing(c *claim) float64 {
	for _, i := range c.members {
		for _, frame := range s.paths[i].Frames {
			switch frame.Kind {
			case recording.KindPython, recording.KindNode, recording.KindRuby, recording.KindPHP:
				return callsAroundInterpreted
			}
		}
	}
	return callsAround
}
