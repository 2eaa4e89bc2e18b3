package cause

import (
	"slices"

	"culprit/internal/compare"
	"culprit/internal/compare/names"
	"culprit/recording"
)

// ofLocks are the lines that threads share because they fight for a lock, more than before: the
// locks of Java objects, which compiled code takes in the midst of a method, and what locks guard.
func (s *scene) ofLocks() (list []*compare.SharedLine) {
	for i := range s.lines {
		if line := &s.lines[i]; s.foughtMore(line) && (line.Monitor || s.guarded(line)) {
			list = append(list, line)
		}
	}
	return list
}

// guarded reports whether the code of a line, or what calls it, waits for a lock that it did not
// wait for before, and for long beside its samples in the line. Threads hand on the words that a
// lock guards, and the lock's own, whenever the lock is handed on: apart they would be as dear.
func (s *scene) guarded(line *compare.SharedLine) bool {
	var at sides
	for _, function := range line.Functions {
		at = at.plus(means(function.A, function.B))
	}
	calls := s.callsMostOf(line)
	waited, _ := s.overWaits(func(wait *compare.Wait) bool {
		if !s.forLock(&wait.Path) {
			return false
		}
		taker := s.code.Innermost(wait.Frames)
		return taker >= 0 && calls[names.KeyOf(wait.Frames[taker])] ||
			slices.ContainsFunc(wait.Frames, func(frame recording.Frame) bool { return isOf(line, names.KeyOf(frame)) })
	})
	return waited.b > 0 && waited.b >= timesTicks*waited.a && waited.more() >= majority*at.b
}

// callsMostOf are the functions that most of the growth of a line's code is below.
func (s *scene) callsMostOf(line *compare.SharedLine) map[names.Key]bool {
	below, all := map[names.Key]float64{}, 0.0
	for i := range s.cpu {
		frames := s.cpu[i].Frames
		at := beforeKernel(frames)
		if at < 0 || !isOf(line, names.KeyOf(frames[at])) {
			continue
		}
		grown, seen := means(s.cpu[i].A, s.cpu[i].B).more(), map[names.Key]bool{}
		all += grown
		for _, frame := range frames[:at] {
			if name := names.KeyOf(frame); !seen[name] {
				seen[name] = true
				below[name] += grown
			}
		}
	}
	calls := map[names.Key]bool{}
	for name, grown := range below {
		calls[name] = all > 0 && grown >= majority*all
	}
	return calls
}
