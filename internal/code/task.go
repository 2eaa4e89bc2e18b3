package code

import (
	"slices"
	"strings"

	"culprit/recording"
)

var (
	// taskLocks are where Go parks a task that waits for a lock, and hands the lock on to it.
	// Spinning for one is none: a lock that is free a moment later is spun for on either side, and
	// nobody queues.
	taskLocks = words(`sync.(*Mutex).unlockSlow sync.runtime_SemacquireMutex
		sync.runtime_SemacquireRWMutex sync.(*RWMutex).Lock sync.(*RWMutex).Unlock
		sync.(*RWMutex).rUnlockSlow`)
	// taskChannels are the slow ways of a channel.
	taskChannels = words(`runtime.chansend runtime.chanrecv`)
	// handoverNames wake a task or a thread that waits for a lock: giving up a free one does not
	// come to them. Go, glibc, HotSpot.
	handoverNames = words(`runtime.semrelease1 sync.(*Mutex).unlockSlow __lll_lock_wake
		ObjectMonitor::exit`)
)

// IsOfTask tells a frame of code that a run time runs as a task, and parks itself while it waits:
// no thread is seen to wait for it. Go's, and virtual threads.
func IsOfTask(frame recording.Frame) bool {
	return frame.Kind == recording.KindGo ||
		frame.Kind == recording.KindJVM && strings.HasPrefix(frame.Name, "java.lang.VirtualThread.")
}

// QueuesForLock tells a function of Go in which tasks queue for a lock, or hand it on.
func QueuesForLock(frame recording.Frame) bool {
	return frame.Kind == recording.KindGo && containsAny(frame.Name, taskLocks)
}

// QueuesAtChannel tells the same of a channel: a pool or a limit in Go is often one.
func QueuesAtChannel(frame recording.Frame) bool {
	return frame.Kind == recording.KindGo && containsAny(frame.Name, taskChannels)
}

// HandsOver tells a function that wakes somebody out of a lock.
func HandsOver(frame recording.Frame) bool {
	return frame.Kind != recording.KindKernel && containsAny(frame.Name, handoverNames)
}

// LooksForWork reports whether a thread of Go's run time looks for a task to run, or waits for one.
func LooksForWork(frames []recording.Frame) bool {
	return slices.ContainsFunc(frames, func(frame recording.Frame) bool {
		return frame.Name == "runtime.findRunnable"
	})
}

// workNames are where threads of a scheduler of tasks sleep for want of any: those that carry
// virtual threads of JDK 21 to 25, tokio's, Asio's (also Boost's).
var workNames = words(`java.util.concurrent.ForkJoinPool.awaitWork
	tokio::runtime::scheduler::multi_thread::worker::Context::park asio::detail::epoll_reactor::run
	asio::detail::io_uring_service::run asio::detail::conditionally_enabled_event::wait`)

// AwaitsTasks reports whether a thread sleeps until a task is ready. What the tasks wait for
// meanwhile no thread tells.
func AwaitsTasks(frames []recording.Frame) bool {
	return slices.ContainsFunc(frames, func(frame recording.Frame) bool { return containsAny(frame.Name, workNames) })
}
