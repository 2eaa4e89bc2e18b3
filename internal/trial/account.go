package trial

import "time"

// account sums up what the whole tree used from the opening of the gate on, and what came from
// outside.
func (r *Runner) account(m measured) (map[string]float64, Disturbance) {
	usage := m.tree.usage
	user, system := time.Duration(usage.Utime.Nano()), time.Duration(usage.Stime.Nano())
	ended, complete := r.exits.tree(m.tree.self, m.tree.others)
	var exitsRun, exitsRunqueue time.Duration
	var exitsPeakKB int64
	for _, one := range ended {
		exitsRun += one.run
		exitsRunqueue += one.runqueue
		exitsPeakKB = max(exitsPeakKB, one.peakKB)
	}
	// Three accounts of the same time. wait4 and the cgroup count a task to its very end, taskstats
	// until shortly before; wait4 misses a process whose parent ignores SIGCHLD, the cgroup one
	// that left it, taskstats none.
	cpu := max(user+system, exitsRun) - m.base.run
	if m.groupCounts {
		cpu = max(cpu, m.groupCPU-m.base.groupCPU)
	}
	cpu = max(0, cpu)
	userPart := 0.0
	if user+system > 0 {
		userPart = user.Seconds() / (user + system).Seconds()
	}
	metrics := map[string]float64{
		MetricWall:        m.window.Ended.Sub(m.window.Opened).Seconds(),
		MetricCPU:         cpu.Seconds(),
		MetricUser:        cpu.Seconds() * userPart,
		MetricSystem:      cpu.Seconds() * (1 - userPart),
		MetricVoluntary:   float64(max(0, usage.Nvcsw-m.base.voluntary)),
		MetricInvoluntary: float64(max(0, usage.Nivcsw-m.base.involuntary)),
		MetricMinorFaults: float64(max(0, usage.Minflt-m.base.minor)),
		MetricMajorFaults: float64(max(0, usage.Majflt-m.base.major)),
		MetricMemory:      float64(m.peakKB(exitsPeakKB)) * 1024,
	}
	disturb := between(m.before, m.after, r.cpus, cpu)
	disturb.RunqueueS = max(0, m.runqueue-m.base.runqueue).Seconds()
	if complete {
		disturb.RunqueueS = max(0, exitsRunqueue-m.base.runqueue).Seconds()
	} else if r.exits != nil {
		r.lostExits()
	}
	return metrics, disturb
}

// peakKB returns the largest resident set of the tree. The leader's own account starts with
// culprit's, because the kernel keeps the peak of the address space that a process had before exec
// (exec_mmap, signal->maxrss): it tells something only when it is larger, or when nothing else is
// known.
func (m measured) peakKB(exitsPeakKB int64) int64 {
	peak := max(m.tree.peakKB, exitsPeakKB)
	leader := m.tree.leaderPeakKB
	// The counters behind both numbers are kept per CPU and are exact to about a megabyte.
	const slackKB = 1 << 10
	if leader > m.base.ownPeakKB+slackKB || peak == 0 {
		peak = max(peak, leader)
	}
	return peak
}
