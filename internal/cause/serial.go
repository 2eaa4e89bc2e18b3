package cause

import (
	"slices"

	"culprit/internal/compare"
)

// lessAtOnce reports whether a command that takes longer by the clock ran on fewer CPUs at once.
func (s *scene) lessAtOnce() bool {
	ran, _ := s.atOnce()
	return s.metric == compare.MetricWall && ran.a >= onOneCPU && ran.a >= timesAtOnce*ran.b
}

// beside is the CPU time of what runs beside what the end waits for.
func (s *scene) beside() sides { return s.spent(s.in.CPU).plus(over(s.paths, isRunning).times(-1)) }

// tellSerial makes one claim of those on code that runs longer on the way to the end, where as much
// less runs beside it, and the CPU time of all threads does not grow with it. What takes more CPU
// time as well does more, and what a lock makes wait for its turn is the lock's by now.
func (l *ledger) tellSerial(rule transfer) {
	if l.explained || !l.lessAtOnce() {
		return
	}
	running := func(i int) bool { return isRunning(&l.paths[i]) }
	var on []*claim
	moved := l.all(func(i int) bool { return l.free(i) && running(i) })
	for _, c := range l.claims {
		if c.rule == ruleCode && c.cause.is(isCode) && c.silent == "" && l.nothingBut(c, running) {
			on, moved.members = append(on, c), append(moved.members, c.members...)
		}
	}
	grown := l.grew(moved)
	if len(on) == 0 || l.cpuGrowth > serialPart*grown || l.beside().swapped().more() < majority*grown {
		return
	}
	first := on[0]
	first.cause = CPUSerial
	first.clear(DoubtUnseen)
	l.enter(rule.rule, Told, first, l.grew(first), rule.because)
	l.move(rule.rule, first, slices.Clone(moved.members), rule.because)
	l.noteAtOnce(first)
}

// noteAtOnce tells first how much ran beside what the end waits for.
func (s *scene) noteAtOnce(c *claim) {
	ran, _ := s.atOnce()
	of := c.evidence
	c.evidence = nil
	c.add("cpu", "CPUs that it ran on at once", ran, "CPUs")
	c.add("cpu", "CPU time of all threads", s.spent(s.in.CPU), "s/run")
	c.add("cpu", "of it beside what the end waits for", s.beside(), "s/run")
	c.evidence = append(c.evidence, of...)
}
