package knob

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// owner identifies a process beyond the reuse of its pid and beyond a reboot.
type owner struct {
	Pid        int    `json:"pid"`
	StartTicks uint64 `json:"start_ticks"` // since boot, field 22 of /proc/PID/stat
	BootID     string `json:"boot_id"`
}

// ourselves identifies this process.
func ourselves() (owner, error) {
	boot, err := bootID()
	if err != nil {
		return owner{}, err
	}
	start, err := startTicks(os.Getpid())
	if err != nil {
		return owner{}, err
	}
	return owner{Pid: os.Getpid(), StartTicks: start, BootID: boot}, nil
}

// alive tells whether the process still runs. A zombie does not: it restores nothing any more.
func (holder owner) alive() bool {
	boot, err := bootID()
	if err != nil || boot != holder.BootID {
		return false
	}
	start, err := startTicks(holder.Pid)
	return err == nil && start == holder.StartTicks
}

func bootID() (string, error) {
	content, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read boot id: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

// startTicks returns when a running process or thread started, in ticks since boot.
func startTicks(pid int) (uint64, error) {
	// The process's own file sums up all its threads: reading that for each of them is quadratic.
	number := strconv.Itoa(pid)
	content, err := os.ReadFile("/proc/" + number + "/task/" + number + "/stat")
	if err != nil {
		return 0, fmt.Errorf("read start of process %d: %w", pid, err)
	}
	// The name in parentheses may hold anything; the fields after it begin with the third.
	const state, start = 0, 22 - 3
	text := string(content)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) <= start || strings.ContainsAny(fields[state], "ZX") {
		return 0, fmt.Errorf("read start of process %d: it has ended", pid)
	}
	ticks, err := strconv.ParseUint(fields[start], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read start of process %d: %w", pid, err)
	}
	return ticks, nil
}
