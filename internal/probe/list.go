package probe

import (
	"culprit/internal/probe/allocations"
	"culprit/internal/probe/block"
	"culprit/internal/probe/bpf"
	"culprit/internal/probe/counters"
	"culprit/internal/probe/cpi"
	"culprit/internal/probe/faults"
	"culprit/internal/probe/kernellocks"
	"culprit/internal/probe/network"
	"culprit/internal/probe/offcpu"
	"culprit/internal/probe/oncpu"
	"culprit/internal/probe/processes"
	"culprit/internal/probe/requests"
	"culprit/internal/probe/syscalls"
)

// All probes, in the order in which they are loaded and collected: processes first (names), faults,
// offcpu and cpi before oncpu (they claim their stacks), allocations behind it (it finds lines).
func All() []Probe {
	return []Probe{
		{Name: "processes", Essential: true, Start: adapt(processes.Start),
			Sees:  "every process and thread of the target: start, exec, end, CPU time",
			Hides: "everything: no target can be followed"},
		{Name: "offcpu", Start: adapt(offcpu.Start),
			Sees:  "time blocked or waiting for a CPU, with stacks and who woke the thread",
			Hides: "sleeps, locks, disk and network waits, competition for the CPU"},
		{Name: "syscalls", Start: adapt(syscalls.Start),
			Sees:  "system calls per thread: count, errors, bytes, latency; slow ones with their file, socket or lock",
			Hides: "chatty programs, time read by system call, calls made dear by a tracer"},
		{Name: "faults", Start: adapt(faults.Start),
			Sees:  "page faults with stacks, and memory that the target has to reclaim for itself",
			Hides: "memory mapped and returned again and again, page-ins, a memory limit that is too tight"},
		{Name: "block", Start: adapt(block.Start),
			Sees:  "requests to block devices: latency, queue, depth, bytes, by submitter",
			Hides: "slow or busy disks, and who keeps them busy"},
		{Name: "network", Start: adapt(network.Start),
			Sees:  "TCP connections: opened, refused, accepted, sent again, reset, by owner and peer",
			Hides: "lost segments, and connections opened for each request"},
		{Name: "kernellocks", Start: adapt(kernellocks.Start),
			Sees:  "waits for locks inside the kernel, where, and who held them",
			Hides: "which lock of the kernel threads queue on"},
		{Name: "counters", Asked: true, Start: adapt(counters.Start),
			Sees:  "events of the CPU and the kernel that --counters names, by process",
			Hides: "what --counters names: instructions, cache and branch misses"},
		{Name: "cpi", Asked: true, Start: adapt(cpi.Start),
			Sees:  "stacks by cycles and by instructions: how long an instruction takes in each function",
			Hides: "whether code runs more instructions or slower ones, by function"},
		{Name: "oncpu", Start: adapt(oncpu.Start),
			Sees:  "stacks of what runs, kernel and user, native and interpreted",
			Hides: "which code takes the CPU"},
		{Name: "allocations", Asked: true, Start: adapt(allocations.Start),
			Sees:  "where the heap blocks were allocated that shared cache lines lie in",
			Hides: "the allocation behind a shared line"},
		{Name: "requests", Asked: true, Start: adapt(requests.Start),
			Sees:  "requests of services on their sockets: count, latency from the first data, what slow ones waited for",
			Hides: "latency of services, and why some of their requests are slow"},
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
