package code

import (
	"strings"

	"culprit/recording"
)

var (
	// sleepNames are the functions of C libraries and run times that sleep, or set a timer to be
	// woken by.
	sleepNames = wordSet(`sleep usleep nanosleep clock_nanosleep __nanosleep __clock_nanosleep
		thrd_sleep std::thread::sleep time.Sleep time.After time.NewTimer time.NewTicker time.Tick
		runtime.timeSleep java.lang.Thread.sleep Thread.sleep java.lang.Thread.sleep0
		java.util.concurrent.locks.LockSupport.parkNanos java.util.concurrent.TimeUnit.sleep
		setTimeout setInterval Atomics.wait`)
	// rustSleepNames are tokio's: tasks sleep without a thread, and are seen when they begin to and
	// when they are woken.
	rustSleepNames = []string{"<tokio::time::sleep::Sleep as ", "tokio::time::sleep::sleep",
		"tokio::time::interval::"}
	// timerTaskNames run what an executor of the JVM has on a timer.
	timerTaskNames = words(`ScheduledThreadPoolExecutor$ScheduledFutureTask.run
		java.util.TimerThread.mainLoop`)
	// loopNames are functions of run times in which one thread sleeps for the timers of many tasks:
	// libuv, tokio, the JVM's virtual threads. Those of asyncio are told by their file.
	loopNames = words(`uv__io_poll tokio::runtime:: DelayScheduler DelayedWorkQueue`)
)

// Sleeps tells a function by which a program sleeps on purpose.
func Sleeps(frame recording.Frame) bool {
	return frame.Kind != recording.KindKernel && (sleepNames[frame.Name] ||
		strings.HasSuffix(frame.Name, "std::this_thread::sleep_for") ||
		containsAny(frame.Name, rustSleepNames))
}

// RunsScheduled tells a function that runs what a timer of an event loop or of an executor started:
// the place is what it calls.
func RunsScheduled(frame recording.Frame) bool {
	return RunsTimers(frame) || containsAny(frame.Name, timerTaskNames)
}

// RunsHandle tells the function of asyncio that runs whatever is due, of a timer or of a socket.
func RunsHandle(frame recording.Frame) bool {
	return frame.Name == "Handle._run" && strings.HasSuffix(frame.File, "/asyncio/events.py")
}

// SleepsForTasks tells a function in which one thread sleeps for the timers of many tasks.
func SleepsForTasks(frame recording.Frame) bool {
	return containsAny(frame.Name, loopNames) ||
		strings.HasSuffix(frame.File, "/asyncio/base_events.py")
}
