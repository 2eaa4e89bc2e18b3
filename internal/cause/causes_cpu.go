package cause

// Causes of having no CPU, and what recognises them.
const (
	CPUThrottled ID = "cpu.throttled"
	CPUStarved   ID = "cpu.starved"
	CPUConfined  ID = "cpu.confined"
	CPUSerial    ID = "cpu.serial"

	ruleCompetitor Rule = "competitor"
	ruleAffinity   Rule = "affinity"
	ruleQuota      Rule = "quota"
)

func cpuThrottled() Cause {
	return Cause{ID: CPUThrottled, Nature: waitsForCPU,
		Claim: "a cgroup CPU quota stops the program",
		Example: "a quota of 0.35 CPUs: 2.9 times the wall time; threads that could run and wait while " +
			"nobody has the CPU (throttled-quota-c)",
		Evidence: "a quota in the facts; runnable threads that wait while nobody has the CPU; " +
			"nr_throttled",
		Proof: "raise the quota",
		Flips: []Flip{{Way: BySetting, What: "cgroup.cpu.max", Exact: true,
			Text: "lift the quota of its cgroup"}},
		Remedy:     "raise or remove the quota, or use fewer threads so that it is not burnt at once",
		Gain:       "the quota stays lifted, or the use below it under full load as well",
		MistakenAs: "cpu.starved, where somebody else runs",
		Recognise:  []recogniser{{ruleQuota, findThrottled, nil}},
	}
}

func cpuStarved() Cause {
	return Cause{ID: CPUStarved, Nature: unspecific | waitsForCPU,
		Claim: "runnable threads wait because others use the CPU",
		Example: "a nightly backup is packed on the same CPU: 1.8 times the wall time, runnable and " +
			"waiting, CPU used by gzip (starved-backup-python)",
		Evidence: "run-queue delay on the critical path and who ran meanwhile",
		Proof:    "stop or move the competitor, CPU affinity",
		Flips: []Flip{
			{Way: ByRestart, What: PartWrapper, Names: []string{"nice", "chrt", "taskset"},
				Text: "start it without the wrapper"},
			{Way: ByTree, What: "policy",
				Text: "let its own processes that have the CPU run only when it is idle"},
		},
		Remedy:     "move the competitor away, give it a lower priority, or add CPUs",
		Gain:       "the competitor stays away: that is the host's doing, so look again at another time",
		MistakenAs: "lock.contended and slow calls: everything looks slow without a single slow call",
		Recognise: []recogniser{
			{ruleCompetitor, findStarved, []deference{
				{[]Rule{ruleQuota, ruleAffinity}, "who runs on the CPUs that are left is no reason of its own"},
			}},
		},
	}
}

func cpuConfined() Cause {
	return Cause{ID: CPUConfined, Nature: waitsForCPU,
		Claim: "the program may use fewer CPUs than its threads need",
		Example: "two threads under taskset -c 0 on a host of two CPUs: 2 times the wall time and the " +
			"same CPU time; they wait for each other (confined-resize-c)",
		Evidence: "affinity mask or cpuset, threads runnable per allowed CPU",
		Proof:    "widen the affinity",
		Flips: []Flip{
			{Way: ByRestart, What: PartWrapper, Names: []string{"taskset", "numactl"},
				Text: "start it without the wrapper that confines it"},
			{Way: BySetting, What: "cgroup.cpuset.cpus", Exact: true,
				Text: "give its cgroup all CPUs"},
			{Way: ByTree, What: "affinity",
				Text: "widen the affinity of its threads as soon as they run"},
		},
		Remedy:     "widen the affinity or the cpuset, or match the number of threads to it",
		Gain:       "affinity and cpuset stay that wide where the program really runs",
		MistakenAs: "cpu.starved",
		Recognise: []recogniser{
			{ruleAffinity, findConfined, []deference{
				{[]Rule{ruleQuota}, "a quota that bites stops a thread whoever had the CPU before"},
			}},
		},
	}
}

func cpuSerial() Cause {
	return Cause{ID: CPUSerial,
		Claim: "less of the work runs at once: CPUs are idle that the other side uses",
		Example: "xz with one thread instead of two: 1.8 times the wall time and as much CPU time, on 1.0 CPUs at " +
			"once instead of 1.9",
		Evidence: "code runs longer on the way to the end though the CPU time of all threads hardly grew: it ran " +
			"beside on the other side",
		Proof: attributionOnly,
		Remedy: "give the work to as many threads or processes as there are CPUs again: the number of workers (-j, -T, " +
			"the size of a pool), and pieces that are large enough to be handed over",
		Gain: "as many threads have work at once in production",
		MistakenAs: "code.grew: the function takes no more CPU time, only nothing runs beside it; cpu.confined, where " +
			"the host does not let it",
	}
}
