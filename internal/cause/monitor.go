package cause

import (
	"slices"
	"strings"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/recording"
)

// switchMonitorNames are kernel functions that monitors add to a context switch, a fork or a timer
// tick: per-task counters are saved and programmed anew, tracepoints of the scheduler call
// programs.
var switchMonitorNames = []string{"__perf_event_task_sched_in", "__perf_event_task_sched_out", "perf_cgroup_switch",
	"perf_event_context_sched", "ctx_sched_in", "ctx_sched_out", "event_sched_in", "event_sched_out", "merge_sched_in",
	"visit_groups_merge", "perf_event_task_tick", "perf_rotate_context", "perf_trace_sched", "perf_swevent_",
	"___perf_sw_event", "__perf_sw_event", "perf_tp_event", "perf_event_output", "perf_event_fork", "perf_event_init_task",
	"perf_event_exit_task", "inherit_task_group", "x86_pmu_", "perf_pmu_", "perf_event_mmap", "perf_event_exec",
	"hw_breakpoint", "trace_event_raw_event_sched", "ftrace_", "uprobe_", "handle_swbp", "kprobe_"}

// findMonitor claims what another monitor costs: its kernel code at the program's context switches
// and probes, and its own process where it is part of the tree. Tracing of system calls is
// syscall.traced's. Counting page faults is what the recorder does itself: where nobody else is
// seen to, it comes with the faults.
func findMonitor(s *scene) []finding {
	settings := newTracers(s.changed("tracers.perf", "tracers.bpf", "tracers.ftrace"))
	opened := s.countOf(countersOpened).more() > 0
	holder := opened || len(settings) > 0
	dearer := holder && s.dearerSwitches()
	return []finding{{cause: MonitorAttached,
		match: func(i int) bool {
			frames := s.paths[i].Frames
			seen := monitored(frames) && (holder || !slices.ContainsFunc(frames, code.Faults))
			return s.paths[i].Kind == compare.Running && (seen ||
				dearer && kernelHas(frames, switchNames) || opened && s.opensCounters(i))
		},
		tell: func(c *claim) { s.tellMonitor(c, settings, dearer) }}}
}

func (s *scene) tellMonitor(c *claim, settings []compare.FactChange, dearer bool) {
	if opened := s.countOf(countersOpened); opened.more() > 0 {
		c.add("syscalls", "perf_event_open calls", opened, "calls/run")
		for _, process := range s.keys(countersOpened) {
			if s.count(countersOpened, process).b > 0 {
				c.at(Place{Kind: InProcess, Role: CountedBy, Name: process})
			}
		}
	}
	shown := func(i int) bool { return monitored(s.paths[i].Frames) }
	if dearer && !slices.ContainsFunc(c.members, shown) {
		c.doubt(DoubtUnseen,
			"switches run with interrupts off: their cost is seen as a whole, not the monitor's part of it")
	}
	c.tellSettings(settings)
	for _, tracer := range s.in.Tracers {
		c.note("facts", "on this host: "+tracer)
		c.at(Place{Kind: InTracer, Name: tracer})
	}
	functions := byValue(s.tally(c.members, func(i int) string {
		return kernelFunction(s.paths[i].Frames, switchMonitorNames)
	}))
	c.at(Place{Kind: InKernel, Name: first(functions)})
	s.monitorCosts(c)
	s.locate(c, "")
}

// switchNames are where the sampling clock books a context switch: it runs with interrupts off.
var switchNames = []string{"finish_task_switch", "__schedule", "schedule"}

// dearerSwitch is how many times as much a context switch must cost for a monitor to be suspected
// in it.
const dearerSwitch = 1.1

// dearerSwitches reports whether context switches cost more each.
func (s *scene) dearerSwitches() bool {
	seconds := over(s.cpu, func(path *compare.Path) bool { return kernelHas(path.Frames, switchNames) })
	switches := s.switches()
	return switches.a > 0 && switches.b > 0 &&
		seconds.b/switches.b >= dearerSwitch*seconds.a/switches.a
}

func (s *scene) switches() sides { return s.countOf("switches.voluntary", "switches.involuntary") }

// newTracers are the tracers that the dearer side ran beside and the other did not. Recorders of
// this program are none: another investigation may come and go.
func newTracers(settings []compare.FactChange) []compare.FactChange {
	return slices.DeleteFunc(settings, func(setting compare.FactChange) bool {
		return setting.B == "" || setting.B == "none" || strings.Contains(setting.B, "culprit")
	})
}

const countersOpened = "syscall.perf_event_open.count"

// opensCounters reports whether a path belongs to a process that counts others.
func (s *scene) opensCounters(i int) bool {
	path := &s.paths[i]
	opened := s.count(countersOpened, path.Process).plus(s.count(countersOpened, path.Comm)).b
	return opened > 0 && path.Process != "" && s.traits[i].place < 0
}

// monitorCosts divides the time by the context switches.
func (s *scene) monitorCosts(c *claim) {
	switches := s.switches()
	if switches.b == 0 {
		return
	}
	c.add("offcpu", "context switches", switches, "switches/run")
	c.add("cpu", "cost per context switch", s.total(c).each(switches).times(1e6), "us")
	if switches.b > timesTicks*max(switches.a, 1) {
		c.doubt(DoubtCoincides, "the program switches far more often itself: that makes any monitor dearer")
	}
}

// monitored reports whether the kernel part of a stack is a monitor's.
func monitored(frames []recording.Frame) bool {
	for i := range frames {
		if frames[i].Kind != recording.KindKernel {
			continue
		}
		name := frames[i].Name
		// The recorder's own programs are taken out by compare; what system calls pay is
		// syscall.traced's.
		if strings.Contains(name, "syscall") && containsAny(name, []string{"perf_", "ftrace_"}) {
			return false
		}
		if containsAny(name, switchMonitorNames) {
			return true
		}
	}
	return false
}
