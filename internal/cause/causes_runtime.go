package cause

// Causes of run times, and what recognises them.
const (
	RuntimeGC   ID = "runtime.gc"
	RuntimeCold ID = "runtime.cold"

	ruleCollector Rule = "collector"
	ruleCold      Rule = "cold code"
)

func runtimeGC() Cause {
	return Cause{ID: RuntimeGC, Nature: doneMore,
		Claim: "the garbage collector takes the time",
		Example: "GOGC=25: 1.6 times the CPU time in the collector, for the same work (gc-tree-go); a " +
			"heap of 42 MB in a JVM: 1.4 times (gc-heap-java)",
		Evidence: "collector threads and frames; pauses",
		Proof:    "heap settings by environment or flag",
		Flips: []Flip{
			{
				Way:  ByRestart,
				What: PartVariable,
				Names: []string{"GOGC", "GOMEMLIMIT", "GODEBUG", "JAVA_TOOL_OPTIONS",
					"JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "NODE_OPTIONS"},
				Text: "start it with the other side's settings of the collector",
			},
			{Way: ByRestart, What: PartOption,
				Text: "start it with the other side's options of the run time"},
			{Way: BySetting, What: "cgroup.memory.max",
				Text: "lift the memory limit of its cgroup"},
		},
		Remedy: "allocate less, or give the collector a larger heap",
		Gain:   "allocation and heap stay as they are; see how much more memory a larger heap takes",
		MistakenAs: "the code that makes the garbage: look there first when no collector setting " +
			"differs",
		Recognise: []recogniser{
			{ruleCollector, findCollector, []deference{
				noCPU, watched, child, timed,
				{[]Rule{ruleCold}, "a compiler's own garbage is the compiler's"},
				{[]Rule{ruleClock, ruleLock, ruleSleep, rulePolled, ruleWriteback, ruleSharedLine},
					"what a collector's threads ask for or wait for is told by that"},
			}},
		},
	}
}

func runtimeCold() Cause {
	return Cause{ID: RuntimeCold,
		Claim: "code runs interpreted or is being compiled",
		Example: "hot JavaScript runs in the interpreter, because its functions are longer than the " +
			"compiler may take: 2 times the CPU time, in movingAverage (cold-sum-node)",
		Evidence: "interpreter and compiler frames",
		Proof:    "JIT flags",
		Flips: []Flip{
			{Way: ByRestart, What: PartOption,
				Text: "start it with the other side's options of the run time"},
			{
				Way:  ByRestart,
				What: PartVariable,
				Names: []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS",
					"NODE_OPTIONS", "PYTHON"},
				Text: "start it with the other side's settings of the compiler",
			},
		},
		Remedy: "take away the option that holds the compiler back; warm up before measuring, or cache " +
			"compiled code",
		Gain: "nothing holds the compiler back, and runs are long enough to get warm",
		MistakenAs: "code.grew in short runs; a program that has text compiled again and again (eval, " +
			"new Function, templates), which is said in the claim, with who asks for it",
		Recognise: []recogniser{
			{ruleCold, findCold, []deference{
				watched, child, timed,
				{[]Rule{ruleClock, ruleLock, ruleSync, rulePageIn},
					"what code asks for is told by that, interpreted or not"},
				{[]Rule{ruleSharedLine}, "a line that threads fight for is as dear interpreted"},
			}},
		},
	}
}
