package trial

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"

	"culprit/internal/stat"
)

// Verdicts says which runs count. Judge never looks at the metric that is to be decided.
type Verdicts struct {
	Runs     []Run // those given, with Valid and what goes with it set
	Excluded int   // pairs left out
	OneSided []OneSided
	Warnings []string
}

// OneSided is a disturbance that comes with one side only: evidence of what that side does or
// suffers, not noise. No run is left out because of it.
type OneSided struct {
	What    ExclusionKind
	Side    string             // the side that has it
	Medians map[string]float64 // seconds per run of each side
	Text    string
}

// disturbanceKind is one thing that can come from outside and how much of it is worth a look.
type disturbanceKind struct {
	name  ExclusionKind
	of    func(Disturbance) float64
	part  float64 // of the side's usual wall time: less than this changes a run too little
	least float64 // seconds: less than this is within the reading's own error
}

// disturbanceKinds: steal and others' time are read in ticks of 10 ms per CPU, run-queue delay in
// nanoseconds. Time of others can pass beside the target on another CPU, so more of it is needed.
func disturbanceKinds() []disturbanceKind {
	return []disturbanceKind{
		{ExcludedSteal, func(d Disturbance) float64 { return d.StealS }, 0.02, 0.02},
		{ExcludedOthers, func(d Disturbance) float64 { return d.OthersS }, 0.10, 0.04},
		{ExcludedRunqueue, func(d Disturbance) float64 { return d.RunqueueS }, 0.02, 0.0005},
	}
}

// The rule for "far outside the rest": more than outlierSpreads robust standard deviations above
// the median of the side's own runs. Iglewicz and Hoaglin (1993) call 3.5 an outlier; what is left
// out here must be beyond dispute.
const (
	outlierSpreads    = 5.0
	mostPairsPart     = 4 // at most one pair in four is left out
	oneSidedRuns      = 3 // so many outliers on one side and none on the other are no accident
	oneSidedChance    = 0.05
	oneSidedRunsLeast = 4 // per side, to compare levels
)

// Judge marks the runs that were disturbed from outside, and their whole pairs. The runs of one
// kind should be given together (those that decide the metric, or those of one proof).
func Judge(runs []Run) Verdicts {
	v := Verdicts{Runs: slices.Clone(runs)}
	sides := map[string][]int{}
	pairs := map[int][]int{}
	for i := range v.Runs {
		v.Runs[i].Valid, v.Runs[i].LeftOut, v.Runs[i].Why = true, nil, ""
		sides[v.Runs[i].label()] = append(sides[v.Runs[i].label()], i)
		pairs[v.Runs[i].Pair] = append(pairs[v.Runs[i].Pair], i)
	}
	suspects := map[int]outlier{} // by pair: the worst
	for _, kind := range disturbanceKinds() {
		found := outliers(v.Runs, sides, kind)
		if note := oneSided(v.Runs, sides, kind, found); note != nil {
			v.OneSided = append(v.OneSided, *note)
			continue
		}
		for _, one := range found {
			pair := v.Runs[one.run].Pair
			if worst, have := suspects[pair]; !have || one.severity > worst.severity {
				suspects[pair] = one
			}
		}
	}
	v.leaveOut(suspects, pairs)
	return v
}

// leaveOut marks the worst pairs, never more than the limit.
func (v *Verdicts) leaveOut(suspects map[int]outlier, pairs map[int][]int) {
	worst := slices.Collect(maps.Keys(suspects))
	sort.Slice(worst, func(i, j int) bool {
		a, b := suspects[worst[i]], suspects[worst[j]]
		if a.severity != b.severity {
			return a.severity > b.severity
		}
		return worst[i] < worst[j]
	})
	if most := len(pairs) / mostPairsPart; len(worst) > most {
		v.Warnings = append(v.Warnings, fmt.Sprintf("%d of %d pairs of trials were disturbed from outside; only the "+
			"worst %d are left out: repeat on a quieter host", len(worst), len(pairs), most))
		worst = worst[:most]
	}
	v.Excluded = len(worst)
	for _, pair := range worst {
		cause := suspects[pair]
		for _, i := range pairs[pair] {
			why := cause.why
			why.Partner = i != cause.run
			v.Runs[i].Leave(why)
		}
	}
}

// outlier is a run with far more of one disturbance than the others of its side.
type outlier struct {
	run      int
	severity float64 // excess as a multiple of what is tolerated
	why      Exclusion
}

func outliers(runs []Run, sides map[string][]int, kind disturbanceKind) []outlier {
	var found []outlier
	for _, side := range sortedKeys(sides) {
		values := make([]float64, 0, len(sides[side]))
		for _, i := range sides[side] {
			values = append(values, kind.of(runs[i].Disturb))
		}
		limit, err := stat.OutlierLimit(values, outlierSpreads, kind.floor(runs, sides[side])/outlierSpreads)
		if err != nil {
			continue // of fewer than three nothing can be said
		}
		middle := stat.Middle(values)
		tolerated := limit - middle
		for _, i := range sides[side] {
			excess := kind.of(runs[i].Disturb) - middle
			if excess <= tolerated {
				continue
			}
			found = append(found, outlier{run: i, severity: excess / tolerated, why: Exclusion{
				Kind: kind.name, Seconds: excess + middle, UsualS: middle, Side: side}})
		}
	}
	return found
}

// floor is the least amount that matters to a side. It takes the wall time's size only, the same
// for all its runs.
func (k disturbanceKind) floor(runs []Run, side []int) float64 {
	walls := make([]float64, 0, len(side))
	for _, i := range side {
		walls = append(walls, runs[i].Metrics[MetricWall])
	}
	return max(k.least, k.part*stat.Middle(walls))
}

// oneSided tells whether a disturbance belongs to one side: its outliers, or its usual level.
func oneSided(runs []Run, sides map[string][]int, kind disturbanceKind, found []outlier) *OneSided {
	labels := sortedKeys(sides)
	if len(labels) != 2 {
		return nil
	}
	count := map[string]int{}
	for _, one := range found {
		count[runs[one.run].label()]++
	}
	few, many := labels[0], labels[1]
	if count[few] > count[many] {
		few, many = many, few
	}
	byOutliers := count[few] == 0 && count[many] >= oneSidedRuns ||
		count[many] > 0 && signChance(count[few], count[many]) <= oneSidedChance
	// On a host where something comes and goes shorter runs have the lower usual level, and so the
	// more outliers, of the same background. What a side brings with it makes its sum the larger.
	byOutliers = byOutliers && sum(amounts(runs, sides[many], kind)) > sum(amounts(runs, sides[few], kind))
	medians := map[string]float64{}
	for _, label := range labels {
		medians[label] = stat.Middle(amounts(runs, sides[label], kind))
	}
	side, rates := many, map[string]float64(nil)
	if !byOutliers {
		if side, rates = higherLevel(runs, sides, kind, labels); side == "" {
			return nil
		}
	}
	other := labels[0]
	if side == other {
		other = labels[1]
	}
	text := fmt.Sprintf("%s comes with %s: median %.2g s per second of run, %.2g s with %s", kind.name, side,
		rates[side], rates[other], other)
	if byOutliers {
		text = fmt.Sprintf("%s comes with %s: far above the rest in %d runs, in %d with %s (medians %.3g s and %.3g s)",
			kind.name, side, count[many], count[few], other, medians[side], medians[other])
	}
	return &OneSided{What: kind.name, Side: side, Medians: medians, Text: text}
}

// higherLevel returns the side whose usual level is clearly higher, per second of run: nearly all
// of its runs above nearly all of the other's, by an amount that matters. A longer run gathers more
// of a steady background. It gives both sides' medians beside it.
func higherLevel(runs []Run, sides map[string][]int, kind disturbanceKind, labels []string) (side string,
	medians map[string]float64) {
	rates := map[string][]float64{}
	floor := 0.0
	for _, label := range labels {
		if len(sides[label]) < oneSidedRunsLeast {
			return "", nil
		}
		for _, i := range sides[label] {
			wall := max(runs[i].Metrics[MetricWall], 1e-6)
			rates[label] = append(rates[label], kind.of(runs[i].Disturb)/wall)
			floor = max(floor, kind.least/wall)
		}
	}
	low, high := labels[0], labels[1]
	if stat.Middle(rates[low]) > stat.Middle(rates[high]) {
		low, high = high, low
	}
	medians = map[string]float64{low: stat.Middle(rates[low]), high: stat.Middle(rates[high])}
	above := 0
	for _, x := range rates[high] {
		for _, y := range rates[low] {
			if x > y {
				above++
			}
		}
	}
	const nearlyAll = 0.9
	pairs := float64(len(rates[high]) * len(rates[low]))
	if float64(above) < nearlyAll*pairs || medians[high]-medians[low] <= max(kind.part, floor) {
		return "", nil
	}
	return high, medians
}

// signChance is the two-sided probability of so uneven a split when both sides are equally likely
// (sign test).
func signChance(few, many int) float64 {
	total := few + many
	sum := 0.0
	for k := 0; k <= few; k++ {
		logChoose, _ := math.Lgamma(float64(total + 1))
		left, _ := math.Lgamma(float64(k + 1))
		right, _ := math.Lgamma(float64(total - k + 1))
		sum += math.Exp(logChoose - left - right - float64(total)*math.Ln2)
	}
	return min(1, 2*sum)
}

func amounts(runs []Run, of []int, kind disturbanceKind) []float64 {
	values := make([]float64, 0, len(of))
	for _, i := range of {
		values = append(values, kind.of(runs[i].Disturb))
	}
	return values
}

func sum(values []float64) float64 {
	total := 0.0
	for _, value := range values {
		total += value
	}
	return total
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }
