package cause

// Causes that only hardware counters show.
const (
	CacheMisses    ID = "cache.misses"
	BranchMisses   ID = "branch.misses"
	FrontendStalls ID = "frontend.stalls"
)

// notRaised ends the example of a cause that no rule recognises.
const notRaised = "Counts of the recording itself are given with intervals: it never names this by itself"

// ofCounters is a cause of code that each instruction takes longer in: giveCounted names it where
// recordings have cycles and instructions (record --counters), and the counter that grew.
func ofCounters(id ID, claim, example, remedy, gain string, mistakenAs ID) Cause {
	return Cause{ID: id, Nature: isCode | ofCode | unspecific, Claim: "the hardware counters show " + claim,
		Example: example,
		Evidence: "cycles per instruction grew more than instructions, and the counter by half and more for each " +
			"instruction: enough to take those cycles", Proof: attributionOnly, Remedy: remedy, Gain: gain,
		MistakenAs: string(mistakenAs)}
}

func cacheMisses() Cause {
	return ofCounters(CacheMisses, "more cache misses per unit of work",
		"rows that are read column by column: as many instructions, more cycles for each, more misses",
		"smaller or better ordered data", "data is as large and as ordered as in these runs", LineFalseSharing)
}

func branchMisses() Cause {
	return ofCounters(BranchMisses, "more mispredicted branches per unit of work",
		"a filter on data that is no longer sorted: as many instructions, more mispredicted branches",
		"sort the data, or compute without branches", "data is as predictable as in these runs", CacheMisses)
}

func frontendStalls() Cause {
	return ofCounters(FrontendStalls, "the processor waiting for instructions", "generated code that no longer fits "+
		"the instruction cache: fewer instructions per cycle, though data is at hand",
		"smaller hot code, huge pages for code, profile-guided layout",
		"the layout of the code stays: the next build may move it", CacheMisses)
}
