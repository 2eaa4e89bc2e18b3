package cause

import (
	"culprit/internal/compare"
)

// touched is what grew in one function of the program's own that touches pages, in seconds of CPU
// time.
type touched struct {
	paged, faults, own float64 // reading pages in; the rest of its page faults; all else
}

// giveSlowed gives the claim on page-ins what else grew in the functions whose pages they are: the
// rest of each fault and, up to as much as the faults take, the code itself. It is slower behind a
// fault whose page came from the disk: what ran with interrupts off is booked on it by the software
// clock, and the lines that it touches are in no cache. Neither depends on how long the device
// took, so the wait is no measure of them. Where the code itself grew by more, it does more work as
// well, and all of that stays with it.
func (l *ledger) giveSlowed(rule transfer) {
	c := l.of(MemoryPageIn)
	if c == nil {
		return
	}
	functions := l.touching(c)
	var own sides
	var slowed []int
	for i := range l.paths {
		function := functions[l.ownFunction(i)]
		if !l.free(i) || l.paths[i].Kind != compare.Running || !function.pages() {
			continue
		}
		if !l.traits[i].fault {
			if function.own > function.paged+function.faults {
				continue
			}
			own = own.plus(mean(l.paths[i].A), mean(l.paths[i].B))
		}
		slowed = append(slowed, i)
	}
	l.move(rule.rule, c, slowed, rule.because)
	if own.b > own.a {
		c.add("cpu", "of it the code that touches the pages, slower behind page-ins", own.a, own.b, "s/run")
	}
}

// touching adds up what grew in the functions that touch pages, but for what other claims than that
// on page-ins own.
func (l *ledger) touching(c *claim) map[string]*touched {
	functions := map[string]*touched{}
	for i := range l.paths {
		if l.paths[i].Kind != compare.Running || l.traits[i].place < 0 || !l.free(i) && l.owner[i] != c {
			continue
		}
		name := l.ownFunction(i)
		function := functions[name]
		if function == nil {
			function = &touched{}
			functions[name] = function
		}
		switch {
		case l.traits[i].fault && l.owner[i] == c:
			function.paged += l.grown(i)
		case l.traits[i].fault:
			function.faults += l.grown(i)
		case l.free(i):
			function.own += l.grown(i)
		}
	}
	return functions
}

// pages reports whether most of what a function's page faults grew by is pages that were read in;
// else it touches new memory as well.
func (f *touched) pages() bool { return f != nil && f.paged > 0 && f.paged >= f.faults }

// ownFunction is the deepest function of the program's own on a path, with the frames that lead to
// it; "" for none.
func (s *scene) ownFunction(i int) string { return prefix(s.paths[i].Frames[:s.traits[i].place+1]) }
