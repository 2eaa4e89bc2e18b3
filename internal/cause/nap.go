package cause

import (
	"slices"

	"culprit/internal/compare"
	"culprit/recording"
)

// isNap reports whether Go's run time slept for some microseconds before it looks for work again, or at its threads
// (runtime.usleep, the only caller of nanosleep there): no act of the program, whose own sleeps set a timer. A wait
// without a stack in a process that runs Go is taken for one, too.
func (s *scene) isNap(i int) bool {
	path := &s.paths[i]
	if path.Kind != compare.Blocked || s.traits[i].call != "nanosleep" {
		return false
	}
	innermost := lastUser(path.Frames)
	return innermost.Kind == recording.KindGo || innermost.Name == "" && s.runsGo(path.Process)
}

// runsGo reports whether code of Go was seen to run in a process.
func (s *scene) runsGo(process string) bool {
	for i := range s.paths {
		if s.paths[i].Process == process && lastUser(s.paths[i].Frames).Kind == recording.KindGo {
			return true
		}
	}
	return false
}

// queueTimesNapping is enough in place of queueTimes where threads nap for want of tasks: those wait for something, and
// the lock is what is handed on more often.
const queueTimesNapping = 2

// queueOfNaps looks for the lock that tasks wait for where their threads nap between two looks for work.
func (s *scene) queueOfNaps() {
	grown := map[string]float64{}
	for i := range s.paths {
		if s.isNap(i) {
			grown[s.paths[i].Process] += s.grown(i)
		}
	}
	if processes := byValue(grown); len(processes) > 0 && grown[processes[0]] >= smallest*s.growth {
		s.queue = s.findQueue(processes[0], queueTimesNapping, isTaskLock)
	}
}

// onlyNaps reports whether a claim on code grew by nothing but a run time of Go that naps and looks for work.
func (s *scene) onlyNaps(c *claim) bool {
	idle, all := s.parted(c, func(i int) bool { return s.isNap(i) || s.looksForWork(i) })
	return idle >= nothingElse*all
}

// looksForWork reports whether a thread of Go's run time looks for a task to run, or waits for one.
func (s *scene) looksForWork(i int) bool {
	return s.traits[i].place < 0 && lookingForWork(s.paths[i].Frames)
}

func lookingForWork(frames []recording.Frame) bool {
	return slices.ContainsFunc(frames, func(frame recording.Frame) bool { return frame.Name == "runtime.findRunnable" })
}
