package cause

// Causes of work that more CPUs do at once, and what recognises them.
const (
	CPUContended ID = "cpu.contended"

	ruleMoreCPUs Rule = "more CPUs, less per CPU"
)

func cpuContended() Cause {
	return Cause{ID: CPUContended, Nature: isCode | amongThreads | unspecific,
		Claim: "the same work takes more CPU time because more CPUs do it at once",
		Example: "two threads instead of one map and return memory for each tile: 5.9 times the CPU time, as many calls " +
			"and faults, which each take longer in the kernel (contended-scratch-c)",
		Evidence: "more CPUs at once, the same build and the same work: by instructions, by as many calls " +
			"that each cost more in the kernel, by the same command and threads on other CPUs, or by waiting for " +
			"other CPUs within the kernel. Where nothing tells how much work it was, code.grew is told, and trials with " +
			"all threads on one CPU decide",
		Proof: "hold all its threads on one CPU",
		Flips: []Flip{{Way: ByTree, What: "affinity one", Exact: true,
			Text: "hold all its threads on one CPU: nothing runs beside them"}},
		Remedy: "let threads write to memory of their own and share less of what they change; smaller or better ordered " +
			"data where memory or a cache is the limit; fewer threads where more bring nothing",
		Gain: "as few threads run at once as in these runs",
		MistakenAs: "code.grew: a program that does more because it has more threads; lock.contended and " +
			"line.true-sharing, which are told where the lock or the line was seen"}
}
