package report

import (
	"fmt"
	"math"
	"strconv"
)

// axis places values from low to high within 0 … 1, by their logarithm where log is set.
type axis struct {
	low, high float64
	log       bool
}

// edge keeps dots off the edges.
const edge = 0.02

func (a axis) at(value float64) float64 {
	low, high := a.low, a.high
	if a.log {
		low, high, value = math.Log(low), math.Log(high), math.Log(math.Max(value, a.low))
	}
	if !(high > low) {
		return 0.5
	}
	// Halves: the whole may be more than a number holds.
	share := (value/2 - low/2) / (high/2 - low/2)
	return edge + (1-2*edge)*math.Min(math.Max(share, 0), 1)
}

// place is a share of the width as SVG takes it.
func place(share float64) string { return fmt.Sprintf("%.2f%%", share*100) }

// tickView is a mark on an axis.
type tickView struct{ X, Text, Anchor string }

// evenMax is the span of a logarithmic axis from which even steps crowd at its end.
const evenMax = 8

// rounding keeps a mark that ends the axis but for the last bits.
const rounding = 1e-9

// ticksMax is how many marks fit beside each other on a narrow screen.
const ticksMax = 5

// ticks are round numbers on the axis, in a unit of which factor make one of the axis.
func (a axis) ticks(factor float64, unit string) []tickView {
	low, high := a.low*factor, a.high*factor
	if !finite(high-low) || !(high > low) {
		return nil
	}
	values, places := evenly(low, high)
	if a.log && high/low > evenMax {
		values, places = byPowers(low, high), -1
	}
	var marks []tickView
	for _, value := range values {
		share := a.at(value / factor)
		anchor := "middle"
		switch {
		case share < 0.1:
			anchor = "start"
		case share > 0.9:
			anchor = "end"
		}
		text := digits(value)
		if places >= 0 && value < 1000 {
			text = strconv.FormatFloat(value, 'f', places, 64)
		}
		if a.log {
			text += unit
		} else {
			text = withUnit(text, unit)
		}
		marks = append(marks, tickView{X: place(share), Text: text, Anchor: anchor})
	}
	return marks
}

// evenly returns at most ticksMax multiples of 1, 2 or 5 times a power of ten, and how many
// decimals they need.
func evenly(low, high float64) ([]float64, int) {
	power := math.Pow(10, math.Floor(math.Log10((high-low)/ticksMax)))
	for _, times := range []float64{1, 2, 5, 10, 20} {
		step := power * times
		first, last := math.Ceil(low/step-rounding), math.Floor(high/step+rounding)
		if !(last-first < ticksMax) {
			continue
		}
		var values []float64
		for k := first; k <= last; k++ {
			values = append(values, k*step)
		}
		return values, min(max(0, -int(math.Floor(math.Log10(step)))), 12)
	}
	return nil, 0
}

// byPowers returns at most ticksMax values of 1, 2 and 5 times powers of ten, or of powers of ten
// alone.
func byPowers(low, high float64) []float64 {
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	stride := math.Max(1, math.Ceil((last-first)/ticksMax))
	for _, steps := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		var values []float64
		for k := first; k <= last; k += stride {
			for _, step := range steps {
				if value := step * math.Pow(10, k); value >= low && value <= high {
					values = append(values, value)
				}
			}
		}
		if len(values) <= ticksMax || len(steps) == 1 {
			return values
		}
	}
	return nil
}
