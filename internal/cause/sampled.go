package cause

import (
	"cmp"
	"maps"
	"math"
	"slices"
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
	samples := l.all(left)
	rest := l.total(samples)
	if hertz <= 0 || rest.a <= 0 || rest.more() > hertz*dearestSample*rest.b || !l.alike(left, rest) {
		return
	}
	c := l.of(MonitorAttached)
	if c == nil {
		c = l.claim(rule.rule, finding{cause: MonitorAttached, match: left, tell: func(c *claim) {
			c.tellSettings(newTracers(l.changed("tracers.perf.counting", host.FactTargetCounted)))
		}})
	} else {
		l.move(rule.rule, c, samples.members, rule.because)
	}
	if l.explained = c != nil; l.explained {
		c.add("cpu", "growth for each sample", sides{b: 1e6 * rest.more() / (hertz * rest.b)}, "us")
		c.doubt(DoubtUnseen, "interrupts are not seen by a software clock: it is told by all code taking longer alike")
	}
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
// none had grown more than half of the code did.
func (s *scene) alike(match func(int) bool, sum sides) bool {
	functions := map[string]sides{}
	for i := range s.paths {
		if path := &s.paths[i]; match(i) && len(path.Frames) > 0 {
			name := lastFrame(path.Frames).Name
			functions[name] = functions[name].plus(means(path.A, path.B))
		}
	}
	usual, beyond := usualGrowth(functions), 0.0
	for _, seconds := range functions {
		beyond += max(0, seconds.b-usual*seconds.a)
	}
	return beyond <= unevenly*sum.more()
}

// usualGrowth is how many times as long functions take: half of the cheaper side's time is spent in
// such as grew no more.
func usualGrowth(functions map[string]sides) float64 {
	ran := slices.DeleteFunc(slices.Collect(maps.Values(functions)), func(one sides) bool { return !(one.a > 0) })
	slices.SortFunc(ran, func(x, y sides) int { return cmp.Compare(x.b/x.a, y.b/y.a) })
	all, passed := 0.0, 0.0
	for _, one := range ran {
		all += one.a
	}
	for _, one := range ran {
		if passed += one.a; passed >= all/2 {
			return one.b / one.a
		}
	}
	return 1
}
