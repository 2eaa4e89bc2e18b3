package host

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// graceThreads are the kernel's threads that end grace periods of RCU, by the names that kernels
// give them.
var graceThreads = map[string]bool{"rcu_preempt": true, "rcu_sched": true}

// starvedFor is how long a thread of the kernel has no turn before it is called starved: on a host
// that is only busy it has one within milliseconds.
const starvedFor = 300 * time.Millisecond

// mostKernelPid bounds the search: the kernel makes these threads while it boots, before any
// process.
const mostKernelPid = 100

// StarvedKernelThread names the thread of the kernel that ends grace periods, where it is runnable
// and has no turn for as long as it is watched; "" where it has one. BPF programs are attached and
// detached by grace periods: until it runs, neither ends. Seen on Linux 6.18 where threads hand a
// CPU to each other without a pause, on each CPU.
func StarvedKernelThread() string { return starvedBelow("/proc") }

func starvedBelow(proc string) string {
	for pid := 2; pid <= mostKernelPid; pid++ {
		folder := filepath.Join(proc, strconv.Itoa(pid))
		name, err := os.ReadFile(filepath.Join(folder, "comm"))
		if err != nil || !graceThreads[strings.TrimSpace(string(name))] {
			continue
		}
		before, runnable := turnsOf(folder)
		if !runnable {
			return ""
		}
		time.Sleep(starvedFor)
		if after, still := turnsOf(folder); still && after == before {
			return strings.TrimSpace(string(name))
		}
		return ""
	}
	return ""
}

// turnsOf are the lines of a thread's switches, and whether it is runnable.
func turnsOf(folder string) (turns string, runnable bool) {
	text, err := os.ReadFile(filepath.Join(folder, "status"))
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		switch {
		case name == "State":
			runnable = strings.HasPrefix(strings.TrimSpace(value), "R")
		case strings.HasSuffix(name, "ctxt_switches"):
			turns += line
		}
	}
	return turns, runnable
}
