package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A host that has its CPUs to spare puts busy threads on different ones. Where others want them,
// the scheduler leaves threads that matter less on one CPU for seconds, and they share nothing. So
// busy threads are held on the CPUs in turn: what they do is not changed.

const (
	spreadEvery = 50 * time.Millisecond
	busyTicks   = 2 // of CPU time since the last look
)

// spread holds busy threads of the processes below one, and of that one, on CPUs in turn until
// stop.
func spread(parent int, stop <-chan struct{}) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return // threads run where the scheduler wants them
	}
	var cpus []int
	for cpu := range 1024 {
		if all.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	ticks, held := map[int]int64{}, map[int]bool{}
	for {
		select {
		case <-stop:
			return
		case <-time.After(spreadEvery):
		}
		for _, pid := range programsOf(parent) {
			for _, tid := range threadsOf(pid) {
				used, ok := ticksOf(pid, tid)
				before, seen := ticks[tid]
				ticks[tid] = used
				if !ok || !seen || held[tid] || used-before < busyTicks {
					continue
				}
				var one unix.CPUSet
				one.Set(cpus[len(held)%len(cpus)])
				held[tid] = unix.SchedSetaffinity(tid, &one) == nil // else it has ended
			}
		}
	}
}

// programsOf are a process, or what it started where it is culprit: without the recorder, which is
// culprit as well.
func programsOf(process int) (pids []int) {
	own, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", process)) // it may have ended
	if filepath.Base(own) != "culprit" {
		return []int{process}
	}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", process))
	for _, task := range tasks {
		text, _ := os.ReadFile(task)
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			if exe, _ := os.Readlink("/proc/" + word + "/exe"); err == nil && exe != own {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func threadsOf(pid int) (tids []int) {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)) // it may have ended
	for _, entry := range entries {
		if tid, err := strconv.Atoi(entry.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids
}

// ticksOf is the CPU time of a thread in user mode.
func ticksOf(pid, tid int) (ticks int64, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/stat", pid, tid))
	if err != nil {
		return 0, false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	const utime = 11 // behind the name
	if len(fields) <= utime {
		return 0, false
	}
	ticks, err = strconv.ParseInt(fields[utime], 10, 64)
	return ticks, err == nil
}
