package cause

import (
	"culprit/internal/compare"
	"culprit/recording"
)

// fewestOperands is how often a shared line must be an operand in a run's samples to be worth a suspicion.
const fewestOperands = 5

// findShared claims the time of code that touches a cache line which several threads share and one
// writes, where such lines were recorded and were touched more often than before.
func findShared(s *scene) []*claim {
	var claims []*claim
	for i := range s.lines {
		line := &s.lines[i]
		a, b := mean(line.A), mean(line.B)
		if b < fewestOperands || !s.oneSided && b < timesTicks*a {
			continue
		}
		id := "line.true-sharing"
		if line.False {
			id = "line.false-sharing"
		}
		c := s.take(id, func(i int) bool {
			return s.paths[i].Kind == compare.Running && touches(line, s.paths[i].Frames)
		})
		if c == nil {
			continue
		}
		s.describeLine(c, line)
		claims = append(claims, c)
	}
	return claims
}

func (s *scene) describeLine(c *claim, line *compare.SharedLine) {
	s.locate(c, "")
	if line.Name != "" {
		c.at("cache line of " + line.Name)
	}
	c.add("lines", "samples whose operand lies in the line", mean(line.A), mean(line.B), "samples/run")
	c.add("lines", "threads that touch it", 0, float64(line.Threads), "threads")
	c.add("lines", "different words of it", 0, float64(line.Words), "words")
	if line.Confirmed {
		c.add("lines", "confirmed by debug registers", 0, 0, "")
	} else {
		c.against = append(c.against, "not confirmed by debug registers: operands were computed from sampled registers")
	}
	c.against = append(c.against, "a line can be shared and cost nothing: pin the threads to one CPU and see")
}

// touches reports whether a path ends in the code that touches a line.
func touches(line *compare.SharedLine, frames []recording.Frame) bool {
	for i := len(frames) - 1; i >= 0; i-- {
		if frames[i].Kind == recording.KindKernel {
			continue
		}
		for _, function := range line.Functions {
			if function.Name == frames[i].Name && function.Kind == frames[i].Kind {
				return true
			}
		}
		return false
	}
	return false
}
