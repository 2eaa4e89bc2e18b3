package names

import (
	"slices"
	"strings"

	"culprit/recording"
)

// recorderFrames begin the names of kernel functions through which a recorder's own programs run at
// tracepoints. Time in them is the recording's cost, not the target's.
var recorderFrames = []string{"bpf_trace_run", "__bpf_trace_", "__traceiter_", "bpf_prog_",
	"bpf_overflow_handler", "perf_trace_run_bpf",
	// Throwing away what an observer looked up in /proc/PID, when the process ends.
	"proc_invalidate_siblings_dcache"}

// recorderEdges are kernel functions that only run because some tracepoint on system calls is on.
var recorderEdges = []string{"syscall_trace_enter", "syscall_exit_work",
	"syscall_exit_to_user_mode_prepare"}

// eventOfOthers is what the kernel runs at a tracepoint for perf's own events there, as of perf
// trace: programs that run at one, as the recorder's do, end before it (perf_trace_run_bpf_submit),
// so that it is somebody else's.
const eventOfOthers = "perf_tp_event"

// Recorder reports whether a stack was caught in what recording itself costs.
func (p *Pool) Recorder(stack int32) bool {
	return !p.ForeignTracers && once(p.recorders, stack, func() bool {
		innermost := len(p.stacks[stack]) - 1
		for at, frame := range p.Up(stack) {
			if frame.Kind != recording.KindKernel {
				return false
			}
			begins := func(name string) bool { return strings.HasPrefix(frame.Name, name) }
			if recording.HolderOf(*frame) != "" || begins(eventOfOthers) {
				return false // a program or an event of somebody else
			}
			if at == innermost && slices.Contains(recorderEdges, frame.Name) ||
				slices.ContainsFunc(recorderFrames, begins) {
				return true
			}
		}
		return false
	})
}
