package investigate

import (
	"fmt"
	"math"

	"culprit/internal/stat"
	"culprit/internal/trial"
	"culprit/recording"
)

// mostIntermittent is how many pairs are recorded until two show a change that only some runs have:
// of a lost connection that one run in three meets, six recordings have fewer than two in 35 % of
// investigations, twelve in 5 %.
const mostIntermittent = 12

// shows reports whether two recorded runs of the side that suffers, or all of fewer, are more like
// that side than like the other: beyond the middle between them, as ratios have it. What the
// recorder itself costs only helps it there. What is not measured by runs always shows.
func (inv *investigation) shows(found *evidence) bool {
	suffering, metric := inv.suffering(), inv.explained()
	worse, better := stat.Middle(inv.ranFor(suffering)), stat.Middle(inv.ranFor(otherSide(suffering)))
	if inv.c.B == nil || inv.c.Outcome == Undecided || metric != inv.c.Metric.Name || worse == 0 {
		return true
	}
	recorded, other := found.b, found.a
	if suffering == sideA {
		recorded, other = other, recorded
	}
	if slow := inv.slowRuns(); slow != nil {
		_, showing, _ := slow.among(valuesOf(recorded, metric), valuesOf(other, metric))
		return showing >= max(1, min(leastShowing, len(recorded)))
	}
	showing := 0
	for _, value := range valuesOf(recorded, metric) {
		if value >= math.Sqrt(worse*better) {
			showing++
		}
	}
	return showing > 0 && showing >= min(leastShowing, len(recorded))
}

// ranFor is how long the runs of a side took that decided the metric; none of a load, whose runs
// are compared by the request, and of live services, which have windows.
func (inv *investigation) ranFor(side string) []float64 {
	if inv.options.Load != nil || inv.live != nil {
		return nil
	}
	return trial.Values(inv.measured(), inv.explained(), side)
}

// valuesOf are the recorded runs', for a request where they served some.
func valuesOf(recordings []*recording.Recording, metric string) []float64 {
	values := make([]float64, len(recordings))
	for i, rec := range recordings {
		values[i] = rec.Manifest.Metrics[metric]
		if requests := rec.Manifest.Metrics[recording.MetricRequests]; requests > 0 {
			values[i] /= requests
		}
	}
	return values
}

// The rule for a recorded run that is no example of its side: so far beyond the
// others that something came between. It looks at the metric, which is fair
// here: the recordings say where the time went, not whether there was a difference.
const (
	unusualDeviations = 5
	unusualFloor      = 0.03 // of the median: less scatter than this between runs is luck
	leastUsual        = 3
)

// dropUnusual leaves out recordings of runs that took far longer than the others of their side,
// unless its runs without the recorder do so again and again: then the long ones are what is looked
// for.
func (inv *investigation) dropUnusual(side string, recordings []*recording.Recording) []*recording.Recording {
	kept := inv.withoutUnusual(side, recordings)
	if dropped := len(recordings) - len(kept); dropped > 0 {
		inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf(
			"%d of %d recordings of %s left out: they took far longer than the others", dropped, len(recordings), side))
	}
	return kept
}

// withoutUnusual are the recordings that dropUnusual keeps.
func (inv *investigation) withoutUnusual(side string, recordings []*recording.Recording) []*recording.Recording {
	if len(recordings) <= leastUsual {
		return recordings
	}
	values := valuesOf(recordings, inv.explained())
	limit, err := stat.OutlierLimit(values, unusualDeviations, unusualFloor*stat.Middle(values))
	if err != nil || inv.intermittent(side, limit) {
		return recordings
	}
	var kept []*recording.Recording
	for i, rec := range recordings {
		if values[i] <= limit {
			kept = append(kept, rec)
		}
	}
	if len(kept) < leastUsual {
		return recordings
	}
	return kept
}

// A side is intermittent when so many of its runs are as far beyond what is usual. One run alone
// does not make it so: a neighbour on the host disturbs one of a series.
const (
	leastIntermittent = 2
	intermittentPart  = 0.1
)

// intermittent reports whether the runs of a side exceed a limit again and again, as they were
// measured.
func (inv *investigation) intermittent(side string, limit float64) bool {
	ran, beyond := inv.ranFor(side), 0
	for _, value := range ran {
		if value > limit {
			beyond++
		}
	}
	return beyond >= leastIntermittent && float64(beyond) >= intermittentPart*float64(len(ran))
}
