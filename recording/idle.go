package recording

import (
	"sort"
	"strings"
)

// polls are the calls that wait for the first of many things to happen.
var polls = map[string]bool{"epoll_wait": true, "epoll_pwait": true, "epoll_pwait2": true, "poll": true, "ppoll": true,
	"select": true, "pselect6": true}

// idleFrames are functions in which a worker of a runtime or a library waits for its next task.
var idleFrames = []string{"ThreadPoolExecutor.getTask", "LinkedBlockingQueue.take", "DelayedWorkQueue.take",
	"SynchronousQueue.poll", "ForkJoinPool.awaitWork", "GangWorker::loop", "WorkerThread::run", "CompileQueue::get",
	"runtime.stopm", "runtime.findRunnable", "runtime.templateThread", "uv__threadpool", "v8::platform::DefaultWorker"}

// IdleWaits tells for each row of Waits whether the thread waited for work, and not inside of a
// piece of work. Idle time says how much a service has to do; time inside of work is what makes it
// slow.
//
// The rule, first match: a thread that was preempted or slept uninterruptibly is not idle, nor is
// one that sleeps for a time of its own choice: that may be a back-off or a retry. A futex is idle
// where the stack shows a worker that waits for its next task. Within a row of Slow it is what
// Slow.Idle says of the call: a poll, an accept, a read of an empty pipe or of a connection that a
// client had made is idle; a read on a connection that the target itself had made, or of a file, is
// not. Without a row of Slow (waits shorter than its threshold, recordings of schema 1) only polls,
// accepts and the like are idle. What it cannot know: a client that polls for the answer to its
// request counts as idle.
func (r *Recording) IdleWaits() []bool {
	idle, calls := make([]bool, len(r.Waits)), r.slowByThread()
	for i := range r.Waits {
		wait := &r.Waits[i]
		if wait.State == "R" || wait.State == "D" || strings.HasSuffix(wait.Syscall, "nanosleep") {
			continue
		}
		call := around(calls[wait.Tid], wait.TimeNs)
		switch {
		case wait.Syscall == "futex" || wait.Syscall == "futex_wait":
			idle[i] = r.showsIdleWorker(wait.Stack)
		case call != nil:
			idle[i] = call.Idle()
		default:
			idle[i] = polls[wait.Syscall] || accepts[wait.Syscall] || waitsForWork[wait.Syscall]
		}
	}
	return idle
}

// slowByThread lists the slow calls of each thread in order of time.
func (r *Recording) slowByThread() map[int32][]*Slow {
	calls := map[int32][]*Slow{}
	for i := range r.Slow {
		calls[r.Slow[i].Tid] = append(calls[r.Slow[i].Tid], &r.Slow[i])
	}
	for _, list := range calls {
		sort.Slice(list, func(i, j int) bool { return list[i].TimeNs < list[j].TimeNs })
	}
	return calls
}

// around is the call that was in progress at a time; nil when none of the list was.
func around(calls []*Slow, at int64) *Slow {
	after := sort.Search(len(calls), func(i int) bool { return calls[i].TimeNs > at })
	if after == 0 || calls[after-1].TimeNs+calls[after-1].DurationNs < at {
		return nil
	}
	return calls[after-1]
}

func (r *Recording) showsIdleWorker(stack int32) bool {
	for _, name := range r.StackNames(stack) {
		for _, frame := range idleFrames {
			if strings.Contains(name, frame) {
				return true
			}
		}
	}
	return false
}
