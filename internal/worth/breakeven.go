package worth

import "fmt"

// BreakEven is the load at which a change stops costing and begins to save, or the other way round.
type BreakEven struct {
	Found bool    `json:"found"`
	Load  float64 `json:"load,omitempty"`
	// Low and High bound it: outside them the difference has a sure side. nil: open towards the end
	// of the tested range.
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
	// Above says what the change does at higher loads: worse or better.
	Above string `json:"above,omitempty"`
	Text  string `json:"text"`
}

// breakEven looks for the first change of sign of the mean difference between neighbouring loads.
// Its interval holds the loads around it at which the difference's own interval, drawn as straight
// lines between the loads, holds zero. Where that is all of them, nothing is found.
func breakEven(levels []Level) *BreakEven {
	for i := 1; i < len(levels); i++ {
		left, right := levels[i-1].Difference.Value, levels[i].Difference.Value
		if left == 0 || left*right >= 0 {
			continue
		}
		part := left / (left - right)
		found := &BreakEven{Found: true, Load: levels[i-1].Load + part*(levels[i].Load-levels[i-1].Load), Above: Better}
		if right > 0 {
			found.Above = Worse
		}
		found.Low, found.High = sureBelow(levels[:i+1]), sureAbove(levels[i-1:])
		if found.Low == nil && found.High == nil {
			return &BreakEven{Text: fmt.Sprintf("none is sure: the means cross at a load of %.4g, but at no tested load is the "+
				"change sure to cost or to save; more trials, or loads further apart, would tell", found.Load)}
		}
		found.Text = found.words()
		return found
	}
	return &BreakEven{Text: none(levels)}
}

// sureBelow goes left from the last level to where zero leaves the interval.
func sureBelow(levels []Level) *float64 {
	for i := len(levels) - 1; i > 0; i-- {
		if at, ok := leaves(levels[i], levels[i-1]); ok {
			return &at
		}
	}
	return nil
}

func sureAbove(levels []Level) *float64 {
	for i := 1; i < len(levels); i++ {
		if at, ok := leaves(levels[i-1], levels[i]); ok {
			return &at
		}
	}
	return nil
}

// leaves returns the load between two levels at which the bound nearer to zero crosses it, going
// from one to the other; ok is false while zero stays inside.
func leaves(from, to Level) (at float64, ok bool) {
	var near, far float64
	switch {
	case to.Difference.Low > 0:
		near, far = to.Difference.Low, from.Difference.Low
	case to.Difference.High < 0:
		near, far = to.Difference.High, from.Difference.High
	default:
		return 0, false
	}
	if near*far > 0 {
		// The other bound's line crosses: already sure at both ends, of the same side or of
		// different ones.
		return from.Load, true
	}
	part := far / (far - near)
	return from.Load + part*(to.Load-from.Load), true
}

func (b *BreakEven) words() string {
	low, high := "below the tested range", "beyond the tested range"
	if b.Low != nil {
		low = fmt.Sprintf("%.4g", *b.Low)
	}
	if b.High != nil {
		high = fmt.Sprintf("%.4g", *b.High)
	}
	return fmt.Sprintf("at a load of %.4g (95 %% between %s and %s); above it the change is %s",
		b.Load, low, high, b.Above)
}

// none says why there is no crossing.
func none(levels []Level) string {
	worse, better := 0, 0
	for _, level := range levels {
		switch level.Verdict {
		case Worse:
			worse++
		case Better:
			better++
		}
	}
	switch {
	case worse > 0:
		return fmt.Sprintf("none in the tested range: the change costs at %d of %d loads and saves at none",
			worse, len(levels))
	case better > 0:
		return fmt.Sprintf("none in the tested range: the change saves at %d of %d loads and costs at none",
			better, len(levels))
	}
	return "none in the tested range: at no load could a difference be shown"
}
