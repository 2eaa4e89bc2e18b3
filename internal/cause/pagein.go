package cause

import "culprit/internal/compare"

// touched is what grew in one function of the program's own that touches pages, in seconds of CPU time.
type touched struct {
	paged, faults, own float64 // reading pages in; the rest of its page faults; all else
}

// adoptSlowed gives the claim on page-ins what else grew in the functions whose pages they are: the rest of each fault
// and, up to as much as the faults take, the code itself. It is slower behind a fault whose page came from the disk:
// what ran with interrupts off is booked on it by the software clock, and the lines that it touches are in no cache.
// Neither depends on how long the device took, so the wait is no measure of them. Where the code itself grew by more,
// it does more work as well, and all of that stays with it.
func (s *scene) adoptSlowed(c *claim) {
	functions := map[string]*touched{}
	for i := range s.paths {
		if s.paths[i].Kind != compare.Running || s.traits[i].place < 0 || s.owner[i] != nil && s.owner[i] != c {
			continue
		}
		name := s.ownFunction(i)
		function := functions[name]
		if function == nil {
			function = &touched{}
			functions[name] = function
		}
		switch {
		case s.traits[i].fault && s.owner[i] == c:
			function.paged += s.grown(i)
		case s.traits[i].fault:
			function.faults += s.grown(i)
		case s.owner[i] == nil:
			function.own += s.grown(i)
		}
	}
	ownA, ownB := 0.0, 0.0
	for i := range s.paths {
		function := functions[s.ownFunction(i)]
		if s.owner[i] != nil || s.paths[i].Kind != compare.Running || !function.pages() {
			continue
		}
		if !s.traits[i].fault {
			if function.own > function.paged+function.faults {
				continue
			}
			ownA, ownB = ownA+mean(s.paths[i].A), ownB+mean(s.paths[i].B)
		}
		s.adopt(c, i)
	}
	if ownB > ownA {
		c.add("cpu", "of it the code that touches the pages, slower behind page-ins", ownA, ownB, "s/run")
	}
}

// pages reports whether most of what a function's page faults grew by is pages that were read in; else it touches new
// memory as well.
func (f *touched) pages() bool { return f != nil && f.paged > 0 && f.paged >= f.faults }

// ownFunction is the deepest function of the program's own on a path, with the frames that lead to it; "" for none.
func (s *scene) ownFunction(i int) string { return prefix(s.paths[i].Frames[:s.traits[i].place+1]) }
