package cause

// Causes of the program's own code, and what recognises them.
const (
	CodeGrew  ID = "code.grew"
	CodeAdded ID = "code.added"

	ruleHelper Rule = "helper on the CPU"
	rulePolled Rule = "polled work"
)

func codeGrew() Cause {
	return Cause{ID: CodeGrew, Nature: isCode | ofCode | unspecific,
		Claim: "a function that both sides run costs more in {dearer}",
		Example: "timers no longer arrive in order, so that each insertion moves half of the table: " +
			"1.9 times the CPU time, all of the growth in insert_timer (quadratic-c)",
		Evidence: "its inclusive and own time in B against A, with an interval from the spread between " +
			"runs",
		Proof:  "none: attribution to the deepest frame that explains the change",
		Remedy: "look at what changed in the function or in how often and with what it is called",
		Gain:   "the input is like that of these runs; see that the function still does all it has to",
		MistakenAs: "a cause that merely passes through the function; a move of cost from a neighbour " +
			"is filtered out",
		Recognise: []recogniser{
			{ruleHelper, findHelper, []deference{
				{[]Rule{ruleQuota, ruleAffinity, ruleCompetitor},
					"a helper is at fault where nothing else kept the CPU away"},
			}},
			{rulePolled, findPolledWork, []deference{
				watched, kernelTimer,
			}},
		},
	}
}

func codeAdded() Cause {
	return Cause{ID: CodeAdded, Nature: isCode | ofCode | unspecific,
		Claim: "{dearer} runs a path that {cheaper} does not have",
		Example: "an audit was added to each order: 1.7 times the CPU time, 89 % of the growth below " +
			"auditOrder, which A does not have (added-go)",
		Evidence:   "frames present in B alone",
		Proof:      attributionOnly,
		Remedy:     "make the new path cheaper, rarer, or asynchronous",
		Gain:       "nobody needs what that path did; see that nothing is missing",
		MistakenAs: "a renamed or newly inlined function",
	}
}
