package code

import (
	"slices"
	"strings"

	"culprit/recording"
)

// monitorNames are parts of the names of kernel functions that monitors add to a context switch, a
// fork or a timer tick: per-task counters are saved and programmed anew, tracepoints of the
// scheduler call programs.
var monitorNames = words(`__perf_event_task_sched_in __perf_event_task_sched_out
	perf_cgroup_switch perf_event_context_sched ctx_sched_in ctx_sched_out event_sched_in
	event_sched_out merge_sched_in visit_groups_merge perf_event_task_tick perf_rotate_context
	perf_trace_sched perf_swevent_ ___perf_sw_event __perf_sw_event perf_tp_event perf_event_output
	perf_event_fork perf_event_init_task perf_event_exit_task inherit_task_group x86_pmu_ perf_pmu_
	perf_event_mmap perf_event_exec hw_breakpoint trace_event_raw_event_sched ftrace_ uprobe_
	handle_swbp kprobe_`)

// Monitor is the first function of a monitor in the kernel's part of a stack, "" for none. What
// system calls pay for their tracers is none: see Traces.
func Monitor(frames []recording.Frame) string {
	for i := range frames {
		name := frames[i].Name
		if frames[i].Kind != recording.KindKernel {
			continue
		}
		if strings.Contains(name, "syscall") && containsAny(name, []string{"perf_", "ftrace_"}) {
			return ""
		}
		if containsAny(name, monitorNames) || recording.HolderOf(frames[i]) != "" {
			return name
		}
	}
	return ""
}

// Watchers are those who hold BPF programs in a stack.
func Watchers(frames []recording.Frame) (names []string) {
	for i := range frames {
		if name := recording.HolderOf(frames[i]); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
