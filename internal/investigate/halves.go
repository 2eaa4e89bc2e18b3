package investigate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"culprit/internal/stat"
	"culprit/recording"
)

// Some changes are in some runs only: a connection that one run in two loses, a page that is
// written back just then, or not while a recorder is beside it. Runs of two kinds together leave
// the interval of every cause open; those that show the change tell what it is.
const (
	// leastShowing is how many recorded runs must show it, to have a spread.
	leastShowing = 2
	// clearGap is the part of the distance between both kinds that lies between the nearest of them;
	// nearOther how far runs without the change may be from the other side's, as a part of it. Chosen:
	// runs that scatter have neither.
	clearGap, nearOther = 0.5, 0.25
	// asMeasured bounds by how many times, in logarithms, those runs may show more or less of the
	// change than the trials measured: of runs that something else held up it is another change.
	asMeasured = 2
)

// halved parts what was recorded of the suffering side: showing are the runs that have the change
// of the trials, ok tells that there are clearly two kinds.
func halved(suffering, other []float64, ratio float64) (limit float64, showing int, ok bool) {
	sorted := slices.Sorted(slices.Values(suffering))
	at := 0 // the first of those above the widest gap
	for i := 1; i < len(sorted); i++ {
		if at == 0 || sorted[i]-sorted[i-1] > sorted[at]-sorted[at-1] {
			at = i
		}
	}
	showing = len(sorted) - at
	if at == 0 || showing < leastShowing || len(other) == 0 {
		return 0, 0, false
	}
	quiet, slow, calm := stat.Middle(sorted[:at]), stat.Middle(sorted[at:]), stat.Middle(other)
	if !(calm > 0) || !(slow > calm) || sorted[at]-sorted[at-1] < clearGap*(slow-quiet) ||
		math.Abs(quiet-calm) > nearOther*(slow-calm) {
		return 0, 0, false
	}
	shown := math.Log(slow/calm) / math.Abs(math.Log(ratio))
	return sorted[at], showing, shown >= 1.0/asMeasured && shown <= asMeasured
}

// judgedBy are the recordings to judge by: all of them, or, where these leave open what the change
// comes from and are clearly of two kinds, those of the suffering side that show it. Where slow
// runs decided, only these tell what makes a run slow.
func (inv *investigation) judgedBy(ctx context.Context, found *evidence) *evidence {
	decided := inv.c.Outcome == Worse || inv.c.Outcome == Better
	if !decided || inv.c.B == nil || inv.live != nil || inv.explained() != inv.c.Metric.Name {
		return found
	}
	side, of, other := inv.suffering(), found.b, found.a
	if side == sideA {
		of, other = other, of
	}
	metric, recorded, slow := inv.explained(), len(of), inv.slowRuns()
	part := func(a, b []float64) (limit float64, showing int, ok bool) { return halved(a, b, inv.c.Effect.Ratio) }
	if slow != nil {
		part = slow.among
	}
	limit, showing, ok := part(valuesOf(of, metric), valuesOf(other, metric))
	switch {
	case slow != nil && !ok:
		inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf("of %d recorded runs of %s none was one of its slow ones: no "+
			"suspect is named; a longer --budget records more", recorded, side))
		return &evidence{a: found.a, b: found.b, files: found.files, unshown: true}
	case !ok || slow == nil && inv.settled(ctx, found):
		return found
	}
	those := func(of []*recording.Recording, show bool) (kept []*recording.Recording) {
		for i, value := range valuesOf(of, metric) {
			if (value >= limit) == show {
				kept = append(kept, of[i])
			}
		}
		return kept
	}
	inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf("%d of %d recorded runs of %s show the change, the others run as "+
		"%s does: what is told is of those %d", showing, recorded, side, otherSide(side), showing))
	of = those(of, true)
	if usual := those(other, false); slow != nil && len(usual) > 0 {
		other = usual
	}
	if side == sideA {
		return &evidence{a: of, b: other, files: found.files}
	}
	return &evidence{a: other, b: of, files: found.files}
}
