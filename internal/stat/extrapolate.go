package stat

import (
	"fmt"
	"math"
	"slices"
)

// Observed is what a counter said of one window of time: it was to count for Enabled and counted
// for Running of it.
type Observed struct {
	Value, Enabled, Running float64
}

// The rule for so few windows that their variation says nothing: the part that was not seen may
// have been up to fewTimes as much as the part that was seen.
const (
	fewWindows = 3
	fewTimes   = 3
)

// Extrapolate returns the total of a counter that shares its hardware with others and counted for a
// part of the time only, with an interval. Each window is scaled by Enabled/Running, one in which
// it did not count at all by the rate of all others. What was not seen of a window had another rate
// than what was seen: by as much as neighbouring windows differ. Differences of neighbours, not
// from the mean, so that a slow trend, which scaling by window follows, widens nothing.
//
// A phase of the load that is as short as a turn falls wholly into what was seen of its window or
// wholly out of it. One that no window shows is allowed for: the interval takes in that the rate
// was zero, or twice as high, for the length of one turn. Turn is in the unit of the times; 0 for
// counters whose turns are not known.
//
// Where it counted all the time the total is exact. The interval never begins below what was
// counted. It fails where nothing was counted in any window though it was to be, and on values that
// are no counts and times.
func Extrapolate(windows []Observed, turn, confidence float64) (Interval, error) {
	if !(confidence > 0 && confidence < 1) {
		return Interval{}, fmt.Errorf("extrapolate: confidence %v is not between 0 and 1", confidence)
	}
	if !(turn >= 0) {
		return Interval{}, fmt.Errorf("extrapolate: a turn of %v", turn)
	}
	var seen Observed
	for i, w := range windows {
		if !(w.Value >= 0 && w.Running >= 0 && w.Enabled >= w.Running) || math.IsInf(w.Value+w.Enabled, 1) {
			return Interval{}, fmt.Errorf("extrapolate: window %d reads %+v", i, w)
		}
		seen.Value, seen.Enabled, seen.Running = seen.Value+w.Value, seen.Enabled+w.Enabled, seen.Running+w.Running
	}
	if seen.Running >= seen.Enabled {
		return Interval{seen.Value, seen.Value, seen.Value}, nil
	}
	if seen.Running == 0 {
		return Interval{}, fmt.Errorf("extrapolate: it never counted: %w", ErrTooFew)
	}
	total, unseen := 0.0, 0.0 // unseen: sum of squares of the times that the variance is scaled by
	var rates []float64
	for _, w := range windows {
		if w.Running == 0 {
			total += w.Enabled * seen.Value / seen.Running
			unseen += w.Enabled * w.Enabled
			continue
		}
		rates = append(rates, w.Value/w.Running)
		total += w.Value / w.Running * w.Enabled
		unseen += w.Enabled * (w.Enabled - w.Running)
	}
	if len(rates) < fewWindows {
		return Interval{total, seen.Value, max(total, seen.Value+fewTimes*(total-seen.Value))}, nil
	}
	squares := 0.0
	for i := 1; i < len(rates); i++ {
		squares += (rates[i] - rates[i-1]) * (rates[i] - rates[i-1])
	}
	steps := float64(len(rates) - 1)
	// Neighbouring differences share a window each: two thirds of the freedom of as many that share
	// none. Half of it, because rates are skewed, which makes the variance of few windows look too
	// small.
	half := studentQuantile(max(1, steps/2), confidence) * math.Sqrt(squares/steps/2*unseen)
	half += total / seen.Enabled * min(turn, seen.Enabled-seen.Running)
	interval := Interval{total, max(total-half, seen.Value), total + half}
	interval.Low = min(interval.Low, total) // a rounding above
	return interval, nil
}

// ExtrapolateRatio returns sum(x)/sum(y) of two counters that counted at the same times, in one
// group, as ExtrapolateFunction does. Counts are never negative, and neither is their ratio.
func ExtrapolateRatio(x, y []Observed, turn, confidence float64) (Interval, error) {
	ratio := func(totals []float64) float64 { return totals[0] / totals[1] }
	interval, err := ExtrapolateFunction(ratio, [][]Observed{x, y}, turn, confidence)
	interval.Low = max(0, interval.Low)
	return interval, err
}

// ExtrapolateFunction returns a function of the totals of several counters that counted at the same
// times, in one group: a ratio, or what is made up of ratios, which is the same when all counts are
// twice as high. The interval comes from the part of the time in which they did not count: to first
// order, each window moves the value by what its counts times the function's slopes come to. A
// phase as long as a turn that no window shows is allowed for, as for Extrapolate. Windows are
// paired. It fails where the totals have no such value, and where the counters did not count at the
// same times: the value would be that of different times.
func ExtrapolateFunction(f func(totals []float64) float64, counters [][]Observed,
	turn, confidence float64) (Interval, error) {
	if !(confidence > 0 && confidence < 1) {
		return Interval{}, fmt.Errorf("extrapolate: confidence %v is not between 0 and 1", confidence)
	}
	totals, err := sameTimesTotals(counters)
	if err != nil {
		return Interval{}, err
	}
	value := f(totals)
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return Interval{}, fmt.Errorf("extrapolate: a counter below the line counted nothing: %w", ErrTooFew)
	}
	var enabled, running, windows float64
	for _, window := range counters[len(counters)-1] {
		enabled, running = enabled+window.Enabled, running+window.Running
		if window.Running > 0 {
			windows++
		}
	}
	if running >= enabled {
		return Interval{value, value, value}, nil
	}
	if windows < fewWindows {
		return Interval{value, min(value/fewTimes, value*fewTimes), max(value/fewTimes, value*fewTimes)}, nil
	}
	slopes, squares := slopesOf(f, totals), 0.0
	for at := range counters[0] {
		moved := 0.0
		for i, slope := range slopes {
			moved += slope * counters[i][at].Value
		}
		squares += moved * moved
	}
	deviation := math.Sqrt((1 - running/enabled) * squares * windows / (windows - 1))
	half := studentQuantile(windows-1, confidence)*deviation + math.Abs(value)*min(turn, enabled-running)/enabled
	return Interval{value, value - half, value + half}, nil
}

// sameTimesTotals adds up each counter's windows.
func sameTimesTotals(counters [][]Observed) ([]float64, error) {
	totals := make([]float64, len(counters))
	if len(counters) == 0 {
		return nil, fmt.Errorf("extrapolate: no counter: %w", ErrTooFew)
	}
	first := counters[0]
	for i, windows := range counters {
		if len(windows) != len(first) {
			return nil, fmt.Errorf("extrapolate: %d windows of one counter but %d of another", len(first), len(windows))
		}
		for at, window := range windows {
			if math.Abs(window.Running-first[at].Running) > sameTimes*max(window.Running, first[at].Running) {
				return nil, fmt.Errorf("extrapolate: the counters did not count at the same times")
			}
			totals[i] += window.Value
		}
	}
	return totals, nil
}

// slopeStep is the part of a total by which it is moved to see what the function does: the error of
// a slope is some 1e-8 of it.
const slopeStep = 1e-4

// slopesOf are the partial derivatives of a function, by central differences.
func slopesOf(f func([]float64) float64, totals []float64) []float64 {
	slopes, at := make([]float64, len(totals)), slices.Clone(totals)
	largest := slices.Max(totals)
	for i, total := range totals {
		step := slopeStep * total
		if total == 0 { // whatever it did not count, it counted in no window
			step = slopeStep * largest
		}
		at[i] = total + step
		above := f(at)
		at[i] = total - step
		slopes[i] = (above - f(at)) / (2 * step)
		at[i] = total
	}
	return slopes
}

// sameTimes is by which share of a window's running time two counters of one group may differ: the
// kernel reads their clocks one after the other.
const sameTimes = 0.01
