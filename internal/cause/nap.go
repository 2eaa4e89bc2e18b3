package cause

import (
	"slices"

	"culprit/recording"
)

// queueTimesNapping is enough in place of queueTimes where threads nap for want of tasks: those
// wait for something, and the lock is what is handed on more often.
const queueTimesNapping = 2

// queueOfNaps is the lock that tasks wait for where their threads nap between two looks for work,
// nil without one.
func (s *scene) queueOfNaps() *queue {
	naps := s.all(func(i int) bool { return s.paths[i].Nap })
	grown := s.tally(naps.members, func(i int) string { return s.paths[i].Process })
	if processes := byValue(grown); len(processes) > 0 && grown[processes[0]] >= smallest*s.growth {
		return s.findQueue(processes[0], queueTimesNapping, isTaskLock)
	}
	return nil
}

// onlyNaps reports whether a claim on code grew by nothing but a run time of Go that naps and looks
// for work.
func (s *scene) onlyNaps(c *claim) bool {
	idle, all := s.parted(c, func(i int) bool { return s.paths[i].Nap || s.looksForWork(i) })
	return idle >= nothingElse*all
}

// looksForWork reports whether a thread of Go's run time looks for a task to run, or waits for one.
func (s *scene) looksForWork(i int) bool {
	return s.traits[i].place < 0 && lookingForWork(s.paths[i].Frames)
}

func lookingForWork(frames []recording.Frame) bool {
	return slices.ContainsFunc(frames, func(frame recording.Frame) bool { return frame.Name == "runtime.findRunnable" })
}
