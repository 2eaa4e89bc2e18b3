package cause

// Causes of monitors, and what recognises them.
const (
	MonitorAttached    ID = "monitor.attached"
	MonitorMultiplexed ID = "monitor.multiplexed"

	ruleMonitor    Rule = "monitor"
	rulePermission Rule = "permission"
)

func monitorAttached() Cause {
	return Cause{ID: MonitorAttached,
		Claim: "another monitor costs the program its time (per-task counters reprogrammed at each " +
			"context switch, tracing, debug)",
		Example: "perf counts events of each task of a program that switches often: 1.3 times the CPU " +
			"time, each context switch dearer, counters opened by process perf (monitor-perf-c)",
		Evidence: "holders of perf events, BPF programs and ptrace found on the host; cost per context " +
			"switch; waits until a program permits an access (fanotify: virus scanners, audits)",
		Proof: "detach it, or count per CPU instead",
		Flips: []Flip{{Way: ByRestart, What: PartTracer, Exact: true,
			Text: "start it without the monitor that its command starts"}},
		Remedy: "detach the monitor, count per CPU, use no more events than counters",
		Gain:   "the monitor stays away, or its way of counting; find out who needs it",
		MistakenAs: "more context switches of the program's own; syscall.traced, when each system call " +
			"became dearer",
		Recognise: []recogniser{
			{ruleMonitor, findMonitor, []deference{
				{[]Rule{ruleTracer}, "what a tracer adds to system calls is the tracer's"},
			}},
			{rulePermission, findPermission, nil},
		},
	}
}

func monitorMultiplexed() Cause {
	return Cause{ID: MonitorMultiplexed,
		Claim: "counters were shared out over time, so their values are estimates",
		Example: "perf stat with six events on a processor with four counters: each is " +
			"counted for two thirds of the time and scaled up. " + notRaised,
		Evidence:   "time_running below time_enabled",
		Proof:      "fewer events",
		Remedy:     "use no more events than the processor has counters",
		Gain:       "no more events are counted than the processor has counters",
		MistakenAs: "real variation of the counters",
	}
}
