package cause

// Causes of starting processes, and what recognises them.
const (
	ProcessShortLived ID = "process.short-lived"

	ruleShortLived Rule = "short-lived processes"
	ruleForks      Rule = "forks"
)

func processShortLived() Cause {
	return Cause{ID: ProcessShortLived, Nature: ofCode | doneMore,
		Claim: "work goes into starting many short-lived processes",
		Alone: "many short-lived processes: what starting them takes, and what they do themselves",
		Example: "a script starts basename for each line: 2.4 times the CPU time, in fork, exec, the " +
			"loader and exit of processes that live for a millisecond (shellout-names-shell)",
		Evidence: "processes started per run with parent and command; CPU time in fork, exec, the " +
			"loader and exit, and waiting for children",
		Proof:      attributionOnly,
		Remedy:     "do the work in the process itself, or keep one helper running and talk to it",
		Gain:       "the work is done without these processes; see that all of it still is",
		MistakenAs: "code of the parent: tools that poll /proc see none of these processes",
		Recognise: []recogniser{
			{ruleShortLived, findShortLived, []deference{
				noCPU, watched, inKernel,
				{[]Rule{ruleSharedLine}, "a line that threads fight for is fought for whoever started them"},
			}},
			{ruleForks, findForks, []deference{
				noCPU, watched,
				{[]Rule{ruleShortLived}, "more processes copy more memory maps"},
			}},
		},
	}
}
