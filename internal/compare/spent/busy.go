package spent

import (
	"regexp"
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare/timeline"
	"culprit/recording"
)

// leastOfCPU is the part of the target's CPU time that threads of one name have together when they
// are taken for those that do the work. Chosen: a thread that only flushes or reports has less.
const leastOfCPU = 0.02

// waitsForWork are calls that wait for somebody outside to want something, or for a child, as those
// do that poll.
var waitsForWork = []string{"accept", "accept4", "recvfrom", "recvmsg", "recvmmsg", "io_uring_enter",
	"io_getevents", "io_pgetevents", "rt_sigtimedwait", "rt_sigsuspend", "pause", "wait4", "waitid", "msgrcv",
	"mq_timedreceive"}

// workWaits are the kernel functions in which read and readv wait for the same.
var workWaits = []string{"sk_wait_data", "tcp_recvmsg", "unix_stream_read", "__skb_wait_for_more_packets",
	"pipe_read", "anon_pipe_read", "eventfd_read", "signalfd_read", "inotify_read", "timerfd_read", "n_tty_read"}

// Busy are pieces of what the threads of a service did and waited for while they had something to
// do: of those that do the work, which have CPU time, without the waits for work. Per request they
// add up to the time that a request has a thread. What a scheduler of tasks (goroutines, an event
// loop) parks is no wait of a thread, and not among them.
func Busy(r *timeline.Run) (pieces []Piece) {
	working := workers(r)
	pieces = cpuOf(r, func(t *timeline.Thread) bool { return working[t] })
	for _, t := range r.Threads {
		if !working[t] || t.Ticking || r.Monitors(t) {
			continue
		}
		byTheClock := r.ByTheClock(t)
		for _, wait := range t.Waits {
			if wait.RunqueueNs > 0 {
				pieces = append(pieces, runnable(r, t, wait, wait.WokenNs(), wait.EndNs()))
			}
			pause := byTheClock && r.WokenByTimer(wait)
			if wait.BlockedNs > 0 && !pause && !forWork(r, wait) {
				pieces = append(pieces, whileBlocked(r, t, wait)...)
			}
		}
		for _, sample := range t.Short {
			key := shortKey(r, t, sample)
			if !key.Nap && (key.Lock || !idleIn(key.Syscall, r.Names.Frames(key.Stack))) {
				pieces = append(pieces, Piece{Key: key, Seconds: float64(sample.ValueNs) / 1e9})
			}
		}
	}
	return pieces
}

// digits in the names of threads count those of a pool.
var digits = regexp.MustCompile(`[0-9]+`)

// workers are the threads of all names that have a part of the CPU time worth speaking of.
func workers(r *timeline.Run) map[*timeline.Thread]bool {
	alike := func(t *timeline.Thread) string {
		return r.ProcessName(t.Pid) + "\x00" + digits.ReplaceAllString(t.Comm, "#")
	}
	used, all := map[string]float64{}, 0.0
	add := func(t *timeline.Thread, ns int64) {
		used[alike(t)] += float64(ns)
		all += float64(ns)
	}
	for i := range r.Recording.Threads {
		known := &r.Recording.Threads[i]
		if t := r.Thread(known.Tid); t != nil && recording.Plausible(known.CPUNs) {
			add(t, known.CPUNs)
		}
	}
	if all == 0 {
		for _, t := range r.Threads {
			add(t, timeline.Value(t.CPU))
		}
	}
	working := map[*timeline.Thread]bool{}
	for _, t := range r.Threads {
		working[t] = used[alike(t)] >= leastOfCPU*all
	}
	return working
}

// forWork reports whether a wait was for something to do.
func forWork(r *timeline.Run, wait *recording.Wait) bool {
	if r.IsLock(wait) || r.IsKernelLock(wait) || r.IsTurn(wait) {
		return false
	}
	return r.IsNap(wait) || idleIn(wait.Syscall, r.Frames(wait.Stack))
}

// idleIn tells it by where it was: a futex that is no lock is a queue, or another thread's answer.
func idleIn(call string, frames []recording.Frame) bool {
	return call == "futex" || code.Polls(call) || slices.Contains(waitsForWork, call) ||
		code.InKernel(frames, workWaits...)
}

// whileBlocked is what a thread's wait was spent on: of a lock what its holder did meanwhile.
func whileBlocked(r *timeline.Run, t *timeline.Thread, wait *recording.Wait) []Piece {
	holder := r.Thread(wait.WakerTid)
	if holder == nil || holder == t || wait.WakerKind != recording.WakerThread ||
		!r.IsLock(wait) && !r.IsKernelLock(wait) {
		return []Piece{blocked(r, t, wait, wait.BlockedNs)}
	}
	return held(r, t, holder, wait, wait.TimeNs, wait.WokenNs())
}

// Wall is what the wall metric of a recording is made of, and its seconds: of a command the
// critical path and the time by the clock; of what runs on, which nothing brings to an end, what
// its threads were busy with.
func Wall(r *timeline.Run) (pieces []Piece, seconds float64) {
	m := &r.Recording.Manifest
	if m.Target.Kind != "pid" && m.Target.Kind != "cgroup" || r.Recording.Imported() != "" {
		return CriticalPath(r), m.Metrics[recording.MetricWall]
	}
	pieces = Busy(r)
	for i := range pieces {
		seconds += pieces[i].Seconds
	}
	return pieces, seconds
}
