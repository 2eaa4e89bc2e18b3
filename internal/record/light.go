package record

import (
	"time"

	"culprit/recording"
)

// lightProbes are those of Options.Light. Their programs run at the clock's ticks and when a thread
// starts or ends, but for one that looks at the state of the thread that leaves the CPU.
var lightProbes = map[string]bool{"processes": true, "oncpu": true, "counters": true}

// asks tells whether a probe is asked for that runs only then.
func (o Options) asks(probe string) bool {
	return probe == "requests" && o.Requests || probe == "counters" && o.Counters != "" || probe == "cpi" && o.CPI ||
		probe == "allocations" && o.Allocations
}

// leavesOut says why the options leave a probe out; "" when they do not.
func (o Options) leavesOut(probe string) string {
	switch {
	case probe == "syscalls" && o.NoCalls:
		return "switched off"
	case o.Light && !lightProbes[probe] && !o.asks(probe):
		return "left out of a light recording"
	}
	return ""
}

// foreverSlower is by how much less often a recorder that stays looks at what it looks at every
// second: for a window of a minute six looks tell enough, and each takes 1 to 2 ms of CPU time.
const foreverSlower = 10

// slowly is the pause between two looks.
func (o Options) slowly(pause time.Duration) time.Duration {
	if o.Forever {
		return foreverSlower * pause
	}
	return pause
}

// addOffCPU gives each thread its time off the CPU where no probe watched the switches: what of its
// life in the window the scheduler did not book as CPU time. Exact as a sum; where and for what it
// waited is not known.
func addOffCPU(rec *recording.Recording) {
	for i := range rec.Threads {
		thread := &rec.Threads[i]
		end := thread.EndNs
		if end == 0 {
			end = rec.Manifest.WindowNs
		}
		off := end - thread.StartNs - thread.CPUNs
		if off <= 0 {
			continue
		}
		rec.Samples = append(rec.Samples, recording.Sample{Signal: recording.SignalOffCPU, Pid: thread.Pid,
			Tid: thread.Tid, CPU: -1, Stack: recording.NoStack, Count: thread.Voluntary + thread.Involuntary,
			ValueNs: off, Target: true, Comm: thread.Comm})
	}
}

// looks is how often the unwinder looked at a process in the window.
func (s *Session) looks() int64 {
	if s.unwinder == nil {
		return 0
	}
	return s.unwinder.Looks()
}
