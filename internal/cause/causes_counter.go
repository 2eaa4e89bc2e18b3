package cause

// Causes that only hardware counters show.
const (
	CacheMisses    ID = "cache.misses"
	BranchMisses   ID = "branch.misses"
	FrontendStalls ID = "frontend.stalls"
)

// notRaised ends the example of a cause that no rule recognises.
const notRaised = "culprit does not read hardware counters: it never names this by itself"

func cacheMisses() Cause {
	return Cause{ID: CacheMisses,
		Claim: "the hardware counters show more cache misses per unit of work",
		Example: "rows that are read column by column: as many instructions, more " +
			"cycles for each, more misses. " + notRaised,
		Evidence:   "counters with their trust interval",
		Proof:      attributionOnly,
		Remedy:     "smaller or better ordered data",
		Gain:       "data is as large and as ordered as in these runs",
		MistakenAs: "line.false-sharing",
	}
}

func branchMisses() Cause {
	return Cause{ID: BranchMisses,
		Claim: "the hardware counters show more mispredicted branches per unit of work",
		Example: "a filter on data that is no longer sorted: as many instructions, more " +
			"mispredicted branches. " + notRaised,
		Evidence:   "counters with their trust interval",
		Proof:      attributionOnly,
		Remedy:     "sort the data, or compute without branches",
		Gain:       "data is as predictable as in these runs",
		MistakenAs: "cache.misses",
	}
}

func frontendStalls() Cause {
	return Cause{ID: FrontendStalls,
		Claim: "the hardware counters show the processor waiting for instructions",
		Example: "generated code that no longer fits the instruction cache: fewer " +
			"instructions per cycle, though data is at hand. " + notRaised,
		Evidence:   "counters with their trust interval",
		Proof:      attributionOnly,
		Remedy:     "smaller hot code, huge pages for code, profile-guided layout",
		Gain:       "the layout of the code stays: the next build may move it",
		MistakenAs: "cache.misses",
	}
}
