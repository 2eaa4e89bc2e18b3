package host

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ProcessCPUTime is the CPU time of all threads of a process, of those that have ended too. It is
// the process's CPU clock, whose number is made as the kernel's make_process_cpuclock does
// (include/linux/posix-timers_types.h; see clock_getcpuclockid(3)): /proc has it in ticks of 10 ms,
// or for one thread.
func ProcessCPUTime(pid int) (time.Duration, error) {
	const scheduled = 2 // CPUCLOCK_SCHED
	var used unix.Timespec
	if err := unix.ClockGettime(^int32(pid)<<3|scheduled, &used); err != nil {
		return 0, fmt.Errorf("read the CPU clock of process %d: %w", pid, err)
	}
	return time.Duration(used.Nano()), nil
}

// ReadWriteCalls is how many calls of the read and write kind a process has made, on files, pipes
// and sockets alike; recv and send are none of them (proc_pid_io(5)). It is 0 where the process may
// not be looked at, or has ended.
func ReadWriteCalls(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0
	}
	total := 0.0
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); name == "syscr" || name == "syscw" {
			number, _ := strconv.ParseFloat(strings.TrimSpace(value), 64) // what is no number counts nothing
			total += number
		}
	}
	return total
}

// Tree lists a process and its descendants, no more of them than most and the children of one.
func Tree(top, most int) []int {
	pids := []int{top}
	for i := 0; i < len(pids) && len(pids) < most; i++ {
		pids = append(pids, Children(pids[i])...)
	}
	return pids
}

// Children lists the child processes of a process, those of all its threads. It
// is empty for a process that has ended.
func Children(pid int) []int {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return childrenByScan(pid)
	}
	var pids []int
	known := false
	for _, thread := range threads {
		text, err := os.ReadFile(tasks + thread.Name() + "/children")
		if err != nil {
			continue // the thread has ended; its children have moved to another
		}
		known = true
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil && child > 1 {
				pids = append(pids, child)
			}
		}
	}
	if !known {
		return childrenByScan(pid)
	}
	return pids
}

// childrenByScan does the same on a kernel without CONFIG_PROC_CHILDREN, or for a process that has
// ended.
func childrenByScan(pid int) []int {
	if _, err := os.Stat("/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/children"); err == nil {
		return nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if fields := StatFields(child); len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			pids = append(pids, child)
		}
	}
	return pids
}

// StatFields returns the fields of /proc/PID/stat from the state on: the name
// before it may hold anything. nil when the process is gone.
func StatFields(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	end := strings.LastIndexByte(string(text), ')')
	return strings.Fields(string(text[end+1:]))
}
