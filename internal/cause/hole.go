package cause

import (
	"culprit/internal/compare"
)

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
		} else if kernelHas(s.paths[i].Frames, askers) {
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
