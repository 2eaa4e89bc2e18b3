package investigate

import "context"

// enoughEvidence is how many recorded pairs a budget that grows is stretched to: with three runs a
// side an interval is no longer mostly its factor of Student's t (12.7 with one degree of freedom,
// 4.3 with two, 2.8 with four).
const enoughEvidence = 3

// wantsPair says whether one more pair is to be recorded after so many: while there is time, and
// where the budget may grow until two runs a side have a spread, and with a third where those two
// do not tell what the change comes from (settled, asked at most once a pair). Where no pair shows
// the change, which only some runs may have, they go on for as long as there is time; where all of
// them do not tell what it comes from, for half of it.
func (inv *investigation) wantsPair(done int, settled, shows func() bool) bool {
	switch {
	case done < leastEvidence:
		return true
	case done >= mostIntermittent:
		return false
	case done < mostEvidence && inv.affordsEvidence(done):
		return true
	case inv.left() > inv.recordedTime(1)+reasoningTime && !shows():
		return true
	case done >= mostEvidence:
		return inv.c.B != nil && inv.c.Outcome != Undecided && inv.affordsEvidence(done) && !settled()
	case !inv.options.MayGrow || inv.scarce != ample || inv.c.B == nil || inv.c.Outcome == Undecided ||
		done >= enoughEvidence:
		return false
	}
	needed := inv.elapsed() + inv.recordedTime(1) + reasoningTime
	if needed > MostBudget || done >= wantedEvidence && settled() {
		return false
	}
	inv.growTo(needed, inv.runLengths())
	return true
}

// settled reports whether the recordings made so far name a suspect whose part of the change is
// surely more than nothing: the judgement as it would be at the end. What cannot be compared gets
// no better by more. Where slow runs decided, these alone are judged: shows asks for them.
func (inv *investigation) settled(ctx context.Context, found *evidence) bool {
	if inv.slowRuns() != nil {
		return true
	}
	shown, known, err := inv.read(ctx, found)
	if err != nil {
		return true
	}
	judged, err := shown.Judge(known)
	return err != nil || judged.Sure()
}
