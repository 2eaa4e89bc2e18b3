package prepare

import (
	"slices"

	"culprit/recording"
)

// Of returns what a recording of a whole host tells of some of its processes, as if they alone had
// been its target. What others used of the CPUs stays, by process and without stacks: they may have
// been in the way. Name says what the processes are: "service web".
func Of(rec *recording.Recording, pids []int32, name string) *recording.Recording {
	within := make(map[int32]bool, len(pids))
	for _, pid := range pids {
		within[pid] = true
	}
	part := *rec
	part.Manifest.Target = recording.Target{Kind: "cgroup", Command: name}
	part.Manifest.Metrics = nil
	part.Samples = samplesOf(rec.Samples, within)
	part.Syscalls = only(rec.Syscalls, func(r *recording.Syscall) bool { return within[r.Pid] })
	part.Waits = only(rec.Waits, func(r *recording.Wait) bool { return within[r.Pid] })
	part.Processes = only(rec.Processes, func(r *recording.Process) bool { return within[r.Pid] })
	part.Threads = only(rec.Threads, func(r *recording.Thread) bool { return within[r.Pid] })
	part.Slow = only(rec.Slow, func(r *recording.Slow) bool { return within[r.Pid] })
	// A lock of the kernel is everybody's: of those others took the places are not known.
	part.Locks = only(rec.Locks, func(r *recording.Lock) bool { return within[r.Pid] || r.Pid == 0 })
	part.Wakeups = only(rec.Wakeups, func(r *recording.Wakeup) bool { return within[r.Pid] })
	part.Lines = only(rec.Lines, func(r *recording.Line) bool { return within[r.Pid] })
	part.Errors = only(rec.Errors, func(r *recording.SyscallError) bool { return within[r.Pid] })
	part.Counters = only(rec.Counters, func(r *recording.Counter) bool {
		return r.Scope == recording.ScopeProcess && within[r.Pid]
	})
	part.Block, part.Network = slices.Clone(rec.Block), slices.Clone(rec.Network)
	for i := range part.Block {
		part.Block[i].Target = within[part.Block[i].Pid]
	}
	for i := range part.Network {
		part.Network[i].Target = within[part.Network[i].Pid]
	}
	part.RequestTables = requestsOf(rec.RequestTables, within)
	part.Frames = framesOf(&part)
	return &part
}

// framesOf blanks the frames that no row of a part leads to: what others run has other builds from
// day to day. Numbers stay as they are.
func framesOf(part *recording.Recording) []recording.Frame {
	used, frames := make([]bool, len(part.Stacks)), make([]recording.Frame, len(part.Frames))
	use := func(stacks ...int32) {
		for _, stack := range stacks {
			if stack < 0 || int(stack) >= len(used) || used[stack] {
				continue
			}
			used[stack] = true
			for _, frame := range part.Stacks[stack].Frames {
				frames[frame] = part.Frames[frame]
			}
		}
	}
	for i := range part.Samples {
		use(part.Samples[i].Stack)
	}
	for i := range part.Waits {
		use(part.Waits[i].Stack, part.Waits[i].WakerStack, part.Waits[i].HopStack)
	}
	for i := range part.Slow {
		use(part.Slow[i].Stack, part.Slow[i].WakerStack, part.Slow[i].HopStack)
	}
	for i := range part.Locks {
		use(part.Locks[i].WaiterStack, part.Locks[i].HolderStack)
	}
	for i := range part.Wakeups {
		use(part.Wakeups[i].Stack)
	}
	for i := range part.Lines {
		use(part.Lines[i].Stack)
	}
	for i := range part.RequestParts {
		use(part.RequestParts[i].Stack, part.RequestParts[i].WakerStack, part.RequestParts[i].HopStack)
	}
	return frames
}

// only copies the rows that are kept.
func only[T any](rows []T, keep func(*T) bool) (kept []T) {
	for i := range rows {
		if keep(&rows[i]) {
			kept = append(kept, rows[i])
		}
	}
	return kept
}

// samplesOf adds up the CPU time of others by process.
func samplesOf(samples []recording.Sample, within map[int32]bool) (kept []recording.Sample) {
	others := map[int32]int{}
	for _, sample := range samples {
		switch {
		case within[sample.Pid]:
			kept = append(kept, sample)
			continue
		case sample.Signal != recording.SignalCPU:
			continue
		}
		at, known := others[sample.Pid]
		if !known {
			others[sample.Pid] = len(kept)
			kept = append(kept, recording.Sample{Signal: recording.SignalCPU, Pid: sample.Pid, Tid: sample.Pid, CPU: -1,
				Stack: recording.NoStack, Count: sample.Count, ValueNs: sample.ValueNs, Comm: sample.Comm})
			continue
		}
		kept[at].Count += sample.Count
		kept[at].ValueNs += sample.ValueNs
	}
	return kept
}

func requestsOf(tables recording.RequestTables, within map[int32]bool) recording.RequestTables {
	if tables.Requests == nil {
		return tables
	}
	part := recording.RequestTables{Requests: []recording.Request{}}
	part.Requests = append(part.Requests,
		only(tables.Requests, func(r *recording.Request) bool { return within[r.Pid] })...)
	part.Services = only(tables.Services, func(r *recording.Service) bool { return within[r.Pid] })
	part.SlowRequests = only(tables.SlowRequests, func(r *recording.SlowRequest) bool { return within[r.Pid] })
	slow := map[int64]bool{}
	for i := range part.SlowRequests {
		slow[part.SlowRequests[i].ID] = true
	}
	part.RequestParts = only(tables.RequestParts, func(r *recording.RequestPart) bool { return slow[r.Request] })
	return part
}
