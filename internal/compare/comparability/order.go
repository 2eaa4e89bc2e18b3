package comparability

import (
	"fmt"
	"slices"

	"culprit/internal/compare/perrun"
	"culprit/recording"
)

// OneAfterOther tells when recordings began, in seconds since the first, where one side is older
// than the other: what the host did in between then looks like a change. Nil where the sides took
// turns, or where a recording does not say when it was made.
func OneAfterOther(a, b []*recording.Recording) (timesA, timesB []float64) {
	if len(a) == 0 || len(b) == 0 {
		return nil, nil
	}
	var times []float64
	for _, rec := range slices.Concat(a, b) {
		if rec.Manifest.StartedAt.IsZero() {
			return nil, nil
		}
		times = append(times, rec.Manifest.StartedAt.Sub(a[0].Manifest.StartedAt).Seconds())
	}
	timesA, timesB = times[:len(a)], times[len(a):]
	if before(timesA, timesB) || before(timesB, timesA) {
		return timesA, timesB
	}
	return nil, nil
}

// before reports whether all of some moments lie before all others.
func before(first, second []float64) bool { return slices.Max(first) < slices.Min(second) }

// farApart is how many times as long as the longer side took the gap between two sides is from
// which on a drift that was seen within them tells nothing of it. Chosen: with two recordings a
// side a slope over a tenth of the gap makes any interval endless.
const farApart = 10

// FarApart reports whether there is so much time between two sides that were recorded one after the
// other, by the times of OneAfterOther, that no drift within them can be drawn out over it.
func FarApart(timesA, timesB []float64) bool {
	if len(timesA) == 0 || len(timesB) == 0 {
		return false
	}
	gap := max(slices.Min(timesB)-slices.Max(timesA), slices.Min(timesA)-slices.Max(timesB))
	longer := max(slices.Max(timesA)-slices.Min(timesA), slices.Max(timesB)-slices.Min(timesB))
	return longer > 0 && gap > farApart*longer
}

// inBlocks warns where the recordings of one side are all older than those of the other.
func inBlocks(a, b []*recording.Recording) []string {
	timesA, timesB := OneAfterOther(a, b)
	if timesA == nil || len(a)+len(b) == 2 { // one recording a side decides nothing anyway
		return nil
	}
	older, newer := perrun.A, perrun.B
	if before(timesB, timesA) {
		older, newer = newer, older
	}
	if FarApart(timesA, timesB) {
		return []string{fmt.Sprintf("all recordings of %s are older than those of %s, by far more time than either side "+
			"took: the interval is that of the spread within them, and what changed on the host or in its load in between "+
			"looks like a change of the program", older, newer)}
	}
	return []string{fmt.Sprintf("all recordings of %s are older than those of %s: order cannot be "+
		"told from the change, so that the interval allows for a steady drift of the host, and a "+
		"sudden one would look like a change; take them in turn (A, B, B, A …)", older, newer)}
}
