package record

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"culprit/recording"
)

// niceness of the recorder. A new process can be unwound only once the recorder
// has read its mappings: on a busy host every millisecond it waits for a CPU is
// a millisecond of the target without stacks. It runs for a few per cent of the
// time, so being preferred costs the target little; what it costs is measured.
const niceness = -10

// hurry names this process's threads and prefers them to the target's by so much, where
// that is permitted. Threads made later inherit both. With autogroups (sched(7)) a
// thread's niceness counts within its session only, and that of the session
// against the others: the recorder has one of its own.
func hurry(niceness int) {
	if niceness != 0 {
		// A kernel without autogroups, or no CAP_SYS_NICE: it stays as it is.
		_ = os.WriteFile("/proc/self/autogroup", []byte(strconv.Itoa(niceness)), 0)
	}
	for range mostPasses {
		if !hurryThreads(niceness) {
			return
		}
	}
}

// mostPasses bounds the looks for threads that others made meanwhile, which had no name to inherit
// yet.
const mostPasses = 10

// hurryThreads names the threads that have no name yet, and prefers them; false where there was
// none.
func hurryThreads(niceness int) (more bool) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return false
	}
	for _, task := range tasks {
		file := "/proc/self/task/" + task.Name() + "/comm"
		tid, notNumber := strconv.Atoi(task.Name())
		comm, gone := os.ReadFile(file)
		if notNumber != nil || gone != nil || strings.TrimSpace(string(comm)) == recording.RecorderComm {
			continue
		}
		more = true
		if niceness != 0 {
			// Without CAP_SYS_NICE it stays as it is.
			_ = unix.Setpriority(unix.PRIO_PROCESS, tid, niceness)
		}
		_ = os.WriteFile(file, []byte(recording.RecorderComm), 0) // a name only; last, as it says that it was here
	}
	return more
}
