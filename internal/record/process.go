package record

import (
	"cmp"
	"strconv"
	"strings"

	"culprit/internal/host"
)

// Process is one process for good: numbers are used again. The zero Process is none.
type Process struct {
	Pid   int
	Began uint64 // in ticks since the host started
}

// processAt is the process that has a number now; the zero Process where there is none, or only a
// zombie.
func processAt(pid int) Process {
	const start = 22 - 3 // of proc_pid_stat(5), from its third field on
	fields := host.StatFields(pid)
	if len(fields) <= start || fields[0] == "Z" {
		return Process{}
	}
	began, err := strconv.ParseUint(fields[start], 10, 64)
	if err != nil {
		return Process{}
	}
	return Process{pid, began}
}

// Lives tells whether it has not ended.
func (p Process) Lives() bool { return p.Pid > 0 && processAt(p.Pid) == p }

// Eldest is the process of a target that began first; the zero Process where none is left.
func (t Target) Eldest() Process {
	pids, err := t.Pids()
	if err != nil {
		return Process{}
	}
	return eldest(pids)
}

func eldest(pids []int) (first Process) {
	for _, pid := range pids {
		if one := processAt(pid); one.Pid > 0 && (first.Pid == 0 || one.Began < first.Began) {
			first = one
		}
	}
	return first
}

// ComesBack tells a target that can be other processes later: a port, a unit, a cgroup. A process
// that was named by its number is that one alone.
func (t Target) ComesBack() bool { return t.Kind == "cgroup" || t.isPort() }

// Name is what a target was asked for by.
func (t Target) Name() string { return cmp.Or(t.Named, t.String()) }

func (t Target) isPort() bool { return strings.HasPrefix(t.Named, namedPort+":") }
