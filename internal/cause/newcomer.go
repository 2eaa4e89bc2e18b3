package cause

import "culprit/internal/code"

// locateNewcomer names the program's function that runs on the dearer side only, in a process
// that ticks, where no stack shows who set the timer: a runtime that schedules its own tasks (Go)
// sleeps on a stack of its scheduler's, and a tick's work is seldom caught asleep or awake.
func (s *scene) locateNewcomer(c *claim, ticking map[string]float64) {
	before, after := map[string]float64{}, map[string]float64{}
	routes := map[string]string{}
	for i := range s.cpu {
		path := &s.cpu[i]
		if ticking[path.Process] <= 0 {
			continue
		}
		own := s.code.Own(path.Frames)
		seen := map[string]bool{}
		for at := range path.Frames {
			name := path.Frames[at].Name
			if !own[at] || code.IsEntry(path.Frames[at]) || seen[name] {
				continue
			}
			seen[name] = true
			before[name] += mean(path.A)
			after[name] += mean(path.B)
			if after[name] > 0 && routes[name] == "" {
				routes[name] = route(path.Frames[:at+1])
			}
		}
	}
	for _, name := range byValue(after) {
		if before[name] == 0 && after[name] > 0 {
			c.at(inCode(routes[name]))
			return
		}
	}
}
