package cause

// adopt gives paths to a claim that exists already.
func (s *scene) adopt(c *claim, paths ...int) {
	for _, i := range paths {
		s.owner[i] = c
	}
	c.members = append(c.members, paths...)
}

// parted is what the members of a claim grew by, and what of it those did that are accepted.
func (s *scene) parted(c *claim, accept func(i int) bool) (accepted, all float64) {
	for _, i := range c.members {
		all += s.grown(i)
		if accept(i) {
			accepted += s.grown(i)
		}
	}
	return accepted, all
}

// grew is what the members of a claim grew by.
func (s *scene) grew(c *claim) (all float64) {
	for _, i := range c.members {
		all += s.grown(i)
	}
	return all
}

// release gives the paths of a claim back.
func (s *scene) release(c *claim) {
	for _, i := range c.members {
		s.owner[i] = nil
	}
	c.members = nil
}

// seconds adds up the members of a claim per run.
func (s *scene) seconds(c *claim) (a, b []float64) {
	a, b = make([]float64, len(s.metricA)), make([]float64, len(s.metricB))
	for _, i := range c.members {
		for run, value := range s.paths[i].A {
			a[run] += value
		}
		for run, value := range s.paths[i].B {
			b[run] += value
		}
	}
	return a, b
}
