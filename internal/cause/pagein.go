package cause

import (
	"culprit/internal/code"
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
			own = own.plus(means(l.paths[i].A, l.paths[i].B))
		}
		slowed = append(slowed, i)
	}
	l.move(rule.rule, c, slowed, rule.because)
	if own.more() > 0 {
		c.add("cpu", "of it the code that touches the pages, slower behind page-ins", own, "s/run")
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

// leastDisk is the part of the time spent on filling pages that handing requests to a disk and
// waiting for it must be: less is what a hole's map takes, which is read from the disk once.
// Requests alone are a tenth of it on a virtio disk.
const leastDisk = 0.05

// fillers are kernel functions that bring a file's pages in; zeroers, below them, fill the pages of
// a hole.
var (
	fillers = []string{"read_pages", "read_folio", "readpages", "page_cache_ra_"}
	zeroers = []string{"memset", "clear_page", "clear_user", "zero_user", "zero_segment", "zero_range"}
	askers  = []string{"blk_", "submit_bio", "bio_"}
)

// zeroes reports whether a path fills a page that no disk has: a hole of a sparse file.
func zeroes(path *compare.Path) bool {
	filling := false
	for i := range path.Frames {
		name := path.Frames[i].Name
		filling = filling || containsAny(name, fillers)
		if filling && containsAny(name, zeroers) {
			return true
		}
	}
	return false
}

// leaveHoles takes from the page-ins the CPU time that no disk had a part in: zeroing, and all
// filling of pages in functions that neither handed requests to a device nor waited for one. Files
// that are all in memory or all holes are read like any other; more of it is the work of whoever
// reads them.
func (s *scene) leaveHoles(kind []*stall) {
	filled, disk := map[string]float64{}, map[string]float64{}
	pages := func(i int) bool {
		return kind[i] != nil && kind[i].cause == MemoryPageIn && s.paths[i].Kind == compare.Running
	}
	for i := range s.paths {
		if !pages(i) {
			continue
		}
		filled[s.ownFunction(i)] += mean(s.paths[i].B)
		if zeroes(&s.paths[i]) {
			kind[i] = nil
		} else if code.InKernel(s.paths[i].Frames, askers...) {
			disk[s.ownFunction(i)] += mean(s.paths[i].B)
		}
	}
	for i := range s.waits {
		path := &s.waits[i].Path
		if one := stallOn(path); one != nil && one.cause == MemoryPageIn {
			disk[prefix(path.Frames[:s.code.Innermost(path.Frames)+1])] += mean(path.B)
		}
	}
	for i := range s.paths {
		if function := s.ownFunction(i); pages(i) && disk[function] < leastDisk*filled[function] {
			kind[i] = nil
		}
	}
}
