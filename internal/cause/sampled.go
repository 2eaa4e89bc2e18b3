package cause

import (
	"math"
	"strconv"

	"culprit/internal/compare"
	"culprit/internal/host"
)

const (
	// dearestSample is what taking one sample may cost, in seconds: an interrupt of a guest, a
	// stack that is walked or copied, and its record: perf record -g took 30 µs in a guest of KVM
	// here.
	dearestSample = 50e-6
	// unevenly is the part of the growth that may lie in functions which grew more than the rest:
	// more of it has another cause.
	unevenly = 0.5
)

// giveSampled gives what nobody owns to a profiler that takes samples of the dearer side alone: its
// interrupts are booked on whatever they interrupt, so that all code takes longer alike. It takes
// no more than so many samples can cost.
func (l *ledger) giveSampled(rule transfer) {
	hertz := 0.0
	for _, setting := range l.changed(host.FactTracersSampled, host.FactTargetSampled) {
		hertz = max(hertz, rate(setting.B)-rate(setting.A))
	}
	left := func(i int) bool { return l.free(i) && l.paths[i].Kind == compare.Running }
	rest := l.total(l.all(left))
	if hertz <= 0 || rest.a <= 0 || rest.more() > hertz*dearestSample*rest.b || !l.alike(left, rest) {
		return
	}
	l.explained = l.claim(rule.rule, finding{cause: MonitorAttached, match: left, tell: func(c *claim) {
		c.tellSettings(newTracers(l.changed("tracers.perf.counting", host.FactTargetCounted)))
		c.add("cpu", "growth for each sample", sides{b: 1e6 * rest.more() / (hertz * rest.b)}, "us")
		c.doubt(DoubtUnseen, "interrupts are not seen by a software clock: it is told by all code taking longer alike")
	}}) != nil
}

// rate is what a fact says happens so often a second; 0 where it says nothing of the kind.
func rate(value string) float64 {
	hertz, err := strconv.ParseFloat(value, 64)
	if err != nil || !(hertz > 0) || math.IsInf(hertz, 1) {
		return 0
	}
	return hertz
}

// alike reports whether functions grew in proportion: whether most of the growth would be there if
// each had grown as much as all of them together.
func (s *scene) alike(match func(int) bool, sum sides) bool {
	functions := map[string]sides{}
	for i := range s.paths {
		if path := &s.paths[i]; match(i) && len(path.Frames) > 0 {
			name := lastFrame(path.Frames).Name
			functions[name] = functions[name].plus(means(path.A, path.B))
		}
	}
	apart := 0.0
	for _, seconds := range functions {
		apart += math.Abs(seconds.b-seconds.a*sum.b/sum.a) / 2
	}
	return apart <= unevenly*sum.more()
}
