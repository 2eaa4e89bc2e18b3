package cause

import (
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/names"
	"culprit/recording"
)

// queue is a lock that a runtime's tasks wait for without a thread of their own (Go parks the task,
// and its thread runs the next): no wait shows it. What shows is the CPU time of going to the end
// of the queue and of handing the lock on to who is first, which a free lock does not have.
type queue struct {
	process string
	taker   string    // the program's function that takes and gives up the lock
	a, b    []float64 // CPU seconds per run in the slow ways of the lock
}

const (
	// Tasks queue for a lock when its slow ways take this part of the process's CPU time, and of it
	// so many times what they take on the other side.
	queuePart  = 0.01
	queueTimes = 3
	// In all runs together that is at least this much, some samples, and it is in most of the runs.
	queueSeconds = 0.008
)

// tellQueue adds to a claim on sleeps that the tasks wait for each other at a channel, or what is
// not seen of them.
func (s *scene) tellQueue(c *claim) {
	if s.sleeps.open != "" {
		c.doubt(DoubtTasks, s.sleeps.open)
	}
	q := s.sleeps.channel
	if q == nil {
		return
	}
	c.doubt(DoubtTurns, "tasks wait for each other at a channel in "+q.taker+" as they do not on the other "+
		"side: what went side by side may go one after the other (a pool or a limit that is too small)")
	c.at(inCode(q.taker).as(QueueIn))
	c.add("cpu", "CPU time of queueing at the channel and handing on", means(q.a, q.b).times(1e3), "ms/run")
	c.remedy = byTurnsRemedy
}

// isParked reports whether a thread waits because the runtime has no task to run: whose waiting
// that is cannot be seen.
func (s *scene) isParked(i int) bool {
	path := &s.paths[i]
	return path.Nap || path.Kind == compare.Blocked && s.traits[i].scheduler && s.traits[i].place < 0 && !path.Lock &&
		endsInGo(path.Frames)
}

func endsInGo(frames []recording.Frame) bool {
	at := names.LastUser(frames)
	return at >= 0 && frames[at].Kind == recording.KindGo
}

// findQueue looks for what tasks of a process queue for on the dearer side, a lock or a channel by
// the frames that are accepted; nil when there is none.
func (s *scene) findQueue(process string, times float64, accept func(recording.Frame) bool) *queue {
	if s.oneSided || s.in.CPU == nil {
		return nil
	}
	q := &queue{process: process}
	var total sides
	var through []compare.Path
	for i := range s.cpu {
		path := &s.cpu[i]
		if path.Process != process {
			continue
		}
		total = total.plus(means(path.A, path.B))
		if slices.ContainsFunc(path.Frames, accept) {
			q.a, q.b = plus(q.a, path.A), plus(q.b, path.B)
			through = append(through, *path)
		}
	}
	if !q.grew(total, times) {
		return nil
	}
	q.taker = callerOf(through, accept)
	if q.taker == "" {
		return nil
	}
	return q
}

// grew reports whether the lock's slow ways came with the dearer side, out of the process's CPU
// time on both.
func (q *queue) grew(total sides, times float64) bool {
	seconds := 0.0
	for _, value := range q.b {
		seconds += value
	}
	seen := len(q.b) > 0 && seconds >= queueSeconds && float64(positive(q.b)) >= majority*float64(len(q.b))
	if !seen || total.a <= 0 || total.b <= 0 {
		return false
	}
	part := mean(q.b) / total.b
	return part >= queuePart && part >= times*mean(q.a)/total.a
}

// queueOf tells what sleeps grew for: a lock that tasks queue for where most of it is a runtime
// with nothing to run, or where it is known that the sleeps go one after the other (turns). Whoever
// has the lock sleeps then, or waits for who does, and the others cannot run.
func (s *scene) queueOf(c *claim, turns bool) (lock, channel *queue, open string) {
	if turns {
		return s.anyQueue(), nil, ""
	}
	if s.mostly(c, s.inLoop) {
		return nil, nil, unseenInLoop
	}
	grown := s.tally(c.members, func(i int) string {
		if s.isParked(i) {
			return s.paths[i].Process
		}
		return ""
	})
	processes := byValue(grown)
	if len(processes) == 0 || grown[processes[0]] < majority*s.grew(c) {
		return nil, nil, ""
	}
	if lock = s.findQueue(processes[0], queueTimes, code.QueuesForLock); lock != nil {
		return lock, nil, ""
	}
	if channel = s.findQueue(processes[0], queueTimes, code.QueuesAtChannel); channel == nil {
		open = s.unseenTasks()
	}
	return nil, channel, open
}

// anyQueue is the first lock found that tasks of any process queue for.
func (s *scene) anyQueue() *queue {
	seconds := map[string]float64{}
	for i := range s.cpu {
		seconds[s.cpu[i].Process] += mean(s.cpu[i].B)
	}
	for _, process := range byValue(seconds) {
		if q := s.findQueue(process, queueTimes, code.QueuesForLock); q != nil {
			return q
		}
	}
	return nil
}

// unseenTasks is what a sleep of a runtime that parks its tasks leaves open.
func (s *scene) unseenTasks() string {
	text := "tasks that a runtime parks have no stack: whether they slept side by side, or one after the other for a " +
		"lock or a pool, is not seen; no lock was seen to be handed on "
	if s.oneSided {
		return text + "often"
	}
	return text + "more often"
}

// unseenInLoop is what the sleep of a loop leaves open that wakes whichever of its tasks is due.
const unseenInLoop = "the timers of this loop serve many tasks, which have no stack while they sleep: whether more " +
	"was slept for, or the same one after the other (a lock, a pool, waiting for each before the next), is not seen"

// inLoop reports whether a path sleeps for the timers of many tasks.
func (s *scene) inLoop(i int) bool {
	return s.paths[i].Kind == compare.Blocked && slices.ContainsFunc(s.paths[i].Frames, code.SleepsForTasks)
}

// inQueue reports whether a path is the waiting or the scheduling of a process whose tasks queue
// for a lock.
func (s *scene) inQueue(i int) bool {
	if s.sleeps.queue == nil || s.paths[i].Process != s.sleeps.queue.process {
		return false
	}
	return s.isParked(i) || s.paths[i].Kind != compare.Blocked && s.traits[i].scheduler && s.traits[i].place < 0
}

// describeQueue says which lock the tasks queue for, what they did with it, and what is not seen.
func (s *scene) describeQueue(c *claim) {
	q := s.sleeps.queue
	c.at(inCode(q.taker))
	around := s.tally(c.members, func(i int) string { return route(s.paths[i].Around) })
	c.at(inCode(longest(around)).as(HeldIn))
	c.add("cpu", "CPU time of queueing for the lock and handing it on", means(q.a, q.b).times(1e3), "ms/run")
	c.doubt(DoubtTasks, "tasks that the runtime parks have no stack: that they queue for this lock is seen, "+
		"who waited how long is not")
}

// queueTimesNapping is enough in place of queueTimes where threads nap for want of tasks: those
// wait for something, and the lock is what is handed on more often.
const queueTimesNapping = 2

// queueOfNaps is the lock that tasks wait for where their threads nap between two looks for work,
// nil without one.
func (s *scene) queueOfNaps() *queue {
	naps := s.all(func(i int) bool { return s.paths[i].Nap })
	grown := s.tally(naps.members, func(i int) string { return s.paths[i].Process })
	if processes := byValue(grown); len(processes) > 0 && grown[processes[0]] >= smallest*s.growth {
		return s.findQueue(processes[0], queueTimesNapping, code.QueuesForLock)
	}
	return nil
}

// looksForWork reports whether a thread of Go's run time looks for a task to run, or waits for one.
func (s *scene) looksForWork(i int) bool {
	return s.traits[i].place < 0 && code.LooksForWork(s.paths[i].Frames)
}
