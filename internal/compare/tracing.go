package compare

import (
	"strings"

	"culprit/recording"
)

// recorderFrames begin the names of kernel functions through which a recorder's own
// programs run at tracepoints. Time in them is the recording's cost, not the target's.
var recorderFrames = []string{"bpf_trace_run", "__bpf_trace_", "__traceiter_", "bpf_prog_", "bpf_overflow_handler",
	"perf_trace_run_bpf",
	// Throwing away what an observer looked up in /proc/PID, when the process ends.
	"proc_invalidate_siblings_dcache"}

// recorderEdges are kernel functions that only run because some tracepoint on system calls is on.
var recorderEdges = map[string]bool{"syscall_trace_enter": true, "syscall_exit_work": true,
	"syscall_exit_to_user_mode_prepare": true}

// recorders reports whether a stack was caught in what recording itself
// costs. Where the sides differ in who else traces, nothing is: it may be theirs.
func (p *pool) recorders(stack int32) bool {
	if stack < 0 || p.foreignTracers {
		return false
	}
	for len(p.tracing) < len(p.stacks) {
		p.tracing = append(p.tracing, p.isTracing(p.stacks[len(p.tracing)]))
	}
	return p.tracing[stack]
}

func (p *pool) isTracing(frames []int32) bool {
	for i := len(frames) - 1; i >= 0; i-- {
		frame := &p.frames[frames[i]]
		if frame.Kind != recording.KindKernel {
			return false
		}
		if i == len(frames)-1 && recorderEdges[frame.Name] {
			return true
		}
		for _, name := range recorderFrames {
			if strings.HasPrefix(frame.Name, name) {
				return true
			}
		}
	}
	return false
}

// tracersDiffer reports whether the sides ran beside different tracers.
func tracersDiffer(changes []FactChange) bool {
	for _, change := range changes {
		if change.Name == "tracers.bpf" || change.Name == "tracers.ftrace" || change.Name == "tracers.perf" {
			return true
		}
	}
	return false
}

// settle takes the recorder's part out of pieces and returns its seconds. What another tool recorded has none of ours.
func (r *run) settle(pieces []piece) (kept []piece, cost float64) {
	if Imported(r.rec) != "" {
		return pieces, 0
	}
	for _, p := range pieces {
		if p.key.kind == Running && r.pool.recorders(p.key.stack) ||
			p.key.kind == Runnable && p.key.wakerComm == recording.RecorderComm {
			cost += p.seconds
			continue
		}
		kept = append(kept, p)
	}
	return kept, cost
}

// mostlyKnown is the part of a thread's samples that must have stacks for the rest to follow them.
const mostlyKnown = 0.5

// shareLost gives the samples whose stack was lost to those of the same threads whose stack is known: stacks
// are lost at random. Where most are lost they stay unknown.
func shareLost(samples []weighted) []weighted {
	all, known := map[group]float64{}, map[group]float64{}
	for i := range samples {
		if key := &samples[i].key; key.kind == Running {
			all[groupOf(key)] += samples[i].weight
			if key.stack >= 0 {
				known[groupOf(key)] += samples[i].weight
			}
		}
	}
	kept := make([]weighted, 0, len(samples))
	for _, one := range samples {
		at := groupOf(&one.key)
		if one.key.kind == Running && known[at] > 0 && known[at] >= mostlyKnown*all[at] {
			if one.key.stack < 0 {
				continue
			}
			one.weight *= all[at] / known[at]
		}
		kept = append(kept, one)
	}
	return kept
}
