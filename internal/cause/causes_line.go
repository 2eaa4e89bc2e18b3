package cause

// Causes of cache lines that threads share, and what recognises them.
const (
	LineFalseSharing ID = "line.false-sharing"
	LineTrueSharing  ID = "line.true-sharing"

	ruleSharedLine Rule = "shared line"
)

func lineFalseSharing() Cause {
	return Cause{ID: LineFalseSharing, Nature: amongThreads,
		Claim: "threads slow each other by touching different words of one cache line",
		Example: "the counters of two workers moved next to each other: 2.7 times the CPU time; they " +
			"write different words of one 64-byte line, in note (line-workers-c)",
		Evidence: "sampled operand addresses by line, words and threads",
		Proof:    "pin the threads to one CPU; pad",
		Flips: []Flip{{Way: ByTree, What: "affinity one",
			Text: "hold all its threads on one CPU: no line moves"}},
		Remedy: "pad or align the fields that different threads write to 64 bytes (128 where lines are " +
			"fetched in pairs)",
		Gain: "the words stay on lines of their own: without padding the next build or allocation may " +
			"put them together again",
		MistakenAs: "line.true-sharing, where the word is the same; cache.misses of plain capacity",
		Recognise:  []recogniser{{ruleSharedLine, findShared, []deference{watched}}},
	}
}

func lineTrueSharing() Cause {
	return Cause{ID: LineTrueSharing, Nature: amongThreads,
		Claim: "threads slow each other by writing the same word",
		Example: "all threads add to one atomic total after each item: 5.5 times the CPU time; several " +
			"threads write the same word, in report (line-total-rust)",
		Evidence: "the same as for line.false-sharing, with one word",
		Proof:    "pin the threads to one CPU",
		Flips: []Flip{{Way: ByTree, What: "affinity one",
			Text: "hold all its threads on one CPU: no line moves"}},
		Remedy: "give each thread its own copy and add up on demand; write only when the value changes",
		Gain:   "threads keep to copies of their own; see that they are still added up",
		MistakenAs: "lock.contended: a lock's own word, and what it guards, are shared by design; where their code " +
			"waits for a lock that it did not wait for before, they are that one's; readers that a lock lets in " +
			"together wait for nobody, and share its word",
	}
}
