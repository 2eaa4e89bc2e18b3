package cause

import (
	"slices"

	"culprit/internal/compare"
	"culprit/internal/compare/blame"
	"culprit/internal/compare/names"
	"culprit/internal/compare/perrun"
)

// parted is what the members of a claim grew by, and what of it those did that are accepted.
func (s *scene) parted(c *claim, accept func(i int) bool) (accepted, all float64) {
	return sum(s.paths, c.members, accept).more(), s.grew(c)
}

// majority is not chosen: what is more than half of something is larger than all the rest of it
// together.
const majority = 0.5

// mostly reports whether the accepted members of a claim are at least half of what it grew by.
func (s *scene) mostly(c *claim, accept func(i int) bool) bool {
	accepted, all := s.parted(c, accept)
	return accepted >= majority*all
}

// grew is what the members of a claim grew by.
func (s *scene) grew(c *claim) float64 { return s.total(c).more() }

// total is what the members of a claim took.
func (s *scene) total(c *claim) sides { return sum(s.paths, c.members, everything) }

// seconds adds up the members of a claim per run.
func (s *scene) seconds(c *claim) (a, b []float64) {
	a, b = make([]float64, len(s.metricA)), make([]float64, len(s.metricB))
	for _, i := range c.members {
		a, b = plus(a, s.paths[i].A), plus(b, s.paths[i].B)
	}
	return a, b
}

// shareOf is the part of the change that a claim's members account for; one-sided, the part of the
// metric.
func (s *scene) shareOf(c *claim) (share compare.Interval, known bool) {
	a, b := s.seconds(c)
	if s.oneSided {
		return perrun.Share(b, nil, s.metricB, nil, s.confidence)
	}
	return perrun.Share(a, b, s.metricA, s.metricB, s.confidence)
}

// all are the paths that match, whosever they are.
func (s *scene) all(match func(i int) bool) *claim {
	c := &claim{}
	for i := range s.paths {
		if match(i) {
			c.members = append(c.members, i)
		}
	}
	return c
}

// giveAround gives claims the rest of their place's own code where they make up most of the place's
// growth.
func (l *ledger) giveAround(rule transfer) {
	for _, c := range slices.Clone(l.claims) {
		if c.absorbs > 0 && len(c.place) > 0 {
			l.giveAroundOf(c, rule)
		}
	}
}

func (l *ledger) giveAroundOf(c *claim, rule transfer) {
	at := lastFrame(c.place)
	mine, all := 0.0, 0.0
	var rest []int
	for i := range l.paths {
		below := blame.LastOf(l.paths[i].Frames, names.KeyOf(*at))
		if below < 0 {
			continue
		}
		if l.free(i) || l.owner[i] == c {
			all += l.grown(i) // what other causes own says nothing about the place's own code
		}
		if l.owner[i] == c {
			mine += l.grown(i)
		}
		if l.free(i) && l.traits[i].place <= below {
			rest = append(rest, i)
		}
	}
	if all > 0 && mine >= c.absorbs*all {
		l.move(rule.rule, c, rest, rule.because)
	}
}
