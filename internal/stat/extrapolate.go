package stat

import (
	"fmt"
	"math"
)

// Observed is what a counter said of one window of time: it was to count for Enabled and counted for Running of it.
type Observed struct {
	Value, Enabled, Running float64
}

// The rule for so few windows that their variation says nothing: the part that was not seen may have been up to
// fewTimes as much as the part that was seen.
const (
	fewWindows = 3
	fewTimes   = 3
)

// Extrapolate returns the total of a counter that shares its hardware with others and counted for a part of the time
// only, with an interval. Each window is scaled by Enabled/Running, one in which it did not count at all by the rate of
// all others. What was not seen of a window had another rate than what was seen: by as much as neighbouring windows
// differ. Differences of neighbours, not from the mean, so that a slow trend, which scaling by window follows, widens
// nothing.
//
// A phase of the load that is as short as a turn falls wholly into what was seen of its window or wholly out of it.
// One that no window shows is allowed for: the interval takes in that the rate was zero, or twice as high, for the
// length of one turn. Turn is in the unit of the times; 0 for counters whose turns are not known.
//
// Where it counted all the time the total is exact. The interval never begins below what was counted. It fails where
// nothing was counted in any window though it was to be, and on values that are no counts and times.
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
	// Neighbouring differences share a window each: two thirds of the freedom of as many that share none. Half of it,
	// because rates are skewed, which makes the variance of few windows look too small.
	half := studentQuantile(max(1, steps/2), confidence) * math.Sqrt(squares/steps/2*unseen)
	half += total / seen.Enabled * min(turn, seen.Enabled-seen.Running)
	interval := Interval{total, max(total-half, seen.Value), total + half}
	interval.Low = min(interval.Low, total) // a rounding above
	return interval, nil
}

// ExtrapolateRatio returns sum(x)/sum(y) of two counters that counted at the same times, in one group, with the
// interval that comes from the part of the time in which they did not, with a phase as long as a turn that no window
// shows, as for Extrapolate. The windows are paired. It fails where y counted nothing, and where the two did not count
// at the same times: their ratio would be that of different times.
func ExtrapolateRatio(x, y []Observed, turn, confidence float64) (Interval, error) {
	if len(x) != len(y) {
		return Interval{}, fmt.Errorf("extrapolate ratio: %d windows of x but %d of y", len(x), len(y))
	}
	if !(confidence > 0 && confidence < 1) {
		return Interval{}, fmt.Errorf("extrapolate ratio: confidence %v is not between 0 and 1", confidence)
	}
	var above, below, enabled, running, windows float64
	for i := range x {
		if math.Abs(x[i].Running-y[i].Running) > sameTimes*max(x[i].Running, y[i].Running) {
			return Interval{}, fmt.Errorf("extrapolate ratio: the two did not count at the same times")
		}
		above, below = above+x[i].Value, below+y[i].Value
		enabled, running = enabled+y[i].Enabled, running+y[i].Running
		if y[i].Running > 0 {
			windows++
		}
	}
	if !(below > 0) || math.IsNaN(above) {
		return Interval{}, fmt.Errorf("extrapolate ratio: the second counted nothing: %w", ErrTooFew)
	}
	ratio := above / below
	if running >= enabled {
		return Interval{ratio, ratio, ratio}, nil
	}
	if windows < fewWindows {
		return Interval{ratio, ratio / fewTimes, ratio * fewTimes}, nil
	}
	squares := 0.0
	for i := range x {
		residual := x[i].Value - ratio*y[i].Value
		squares += residual * residual
	}
	deviation := math.Sqrt((1 - running/enabled) * squares * windows / (windows - 1))
	half := studentQuantile(windows-1, confidence)*deviation/below + ratio*min(turn, enabled-running)/enabled
	return Interval{ratio, max(0, ratio-half), ratio + half}, nil
}

// sameTimes is by which share of a window's running time two counters of one group may differ: the kernel reads
// their clocks one after the other.
const sameTimes = 0.01
