package probe

import (
	"culprit/internal/probe/bpf"
	"culprit/internal/probe/offcpu"
	"culprit/internal/probe/oncpu"
	"culprit/internal/probe/processes"
	"culprit/internal/probe/syscalls"
)

// All probes, in the order in which they are loaded and collected: processes
// first (names), offcpu before oncpu (it claims its stacks).
func All() []Probe {
	return []Probe{
		{Name: "processes", Essential: true, Start: adapt(processes.Start),
			Sees:  "every process and thread of the target: start, exec, end, CPU time",
			Hides: "everything: no target can be followed"},
		{Name: "syscalls", Start: adapt(syscalls.Start),
			Sees:  "system calls per process: count, errors, bytes, latency",
			Hides: "chatty programs, time read by system call, calls made dear by a tracer"},
		{Name: "offcpu", Start: adapt(offcpu.Start),
			Sees:  "time blocked or waiting for a CPU, with stacks and who woke the thread",
			Hides: "sleeps, locks, disk and network waits, competition for the CPU"},
		{Name: "oncpu", Start: adapt(oncpu.Start),
			Sees:  "stacks of what runs, kernel and user, native and interpreted",
			Hides: "which code takes the CPU"},
	}
}

// adapt gives a probe's own Start the signature of the list.
func adapt[S Session](start func(*bpf.Shared) (S, error)) func(*bpf.Shared) (Session, error) {
	return func(shared *bpf.Shared) (Session, error) {
		session, err := start(shared)
		if err != nil {
			return nil, err // not session: a nil pointer in an interface is not nil
		}
		return session, nil
	}
}
