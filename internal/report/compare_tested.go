package report

import (
	"fmt"

	"culprit/internal/compare"
	"culprit/internal/compare/units"
	"culprit/internal/investigate"
	"culprit/internal/stat"
)

// testedMetric is the metric of requests that was tested.
func (c *Comparison) testedMetric() investigate.Metric {
	metric := investigate.Metric{Name: c.Tested.Name, Unit: c.Tested.Unit, Better: "lower"}
	if c.Tested.Name == units.Throughput {
		metric.Better = "higher"
	}
	return metric
}

// WorseBy is how many times as bad B surely is, where it is worse: of a throughput less is.
func (c *Comparison) WorseBy() float64 {
	if c.Tested != nil && c.testedMetric().Better == "higher" {
		return 1 / c.Effect.High
	}
	return c.Effect.Low
}

// testedNoun is what the metric of requests is called in a sentence.
func (c *Comparison) testedNoun() string {
	switch c.Tested.Name {
	case units.Latency:
		return "mean latency"
	case compare.MetricCPU:
		return "CPU time of one request"
	case units.Throughput:
		return "throughput"
	}
	return c.Tested.Name + " of the latency"
}

// testedHeadline is the answer by a metric of requests in one sentence.
func (c *Comparison) testedHeadline() string {
	noun, effect := c.testedNoun(), c.Effect
	known := finite(effect.Low) && finite(effect.High)
	switch {
	case !finite(effect.Ratio) || effect.Ratio <= 0:
		return "The effect on the " + noun + " is unknown"
	case !known:
		return fmt.Sprintf("Cannot tell A from B on the %s: it is %s that of A, and its spread is not known", noun,
			times(effect.Ratio))
	case c.Outcome == investigate.Same:
		return fmt.Sprintf("A and B are the same within %s on the %s (%s)", percent(c.Smallest), noun, signedInterval(effect))
	case c.Outcome == investigate.Undecided:
		return fmt.Sprintf("Cannot tell A from B on the %s: %s", noun, span(effect, c.Metric))
	}
	return fmt.Sprintf("B’s %s is %s that of A (%s between %s and %s)", noun, times(effect.Ratio), confidence(effect),
		times(effect.Low), times(effect.High))
}

// testedDetail are the values behind it.
func (c *Comparison) testedDetail() string {
	v := c.Tested
	values := change(stat.Middle(v.A), stat.Middle(v.B), v.Unit)
	if v.Name == units.Throughput {
		values = change(stat.Middle(v.A), stat.Middle(v.B), "") + " requests a second"
	}
	text := fmt.Sprintf("%s %s; %s of A, %s of B", c.testedNoun(), values, plural(len(v.A), "recording"),
		plural(len(v.B), "recording"))
	if v.PartsA > 0 {
		text += fmt.Sprintf(", the interval from %d and %d parts of them", v.PartsA, v.PartsB)
	}
	return text
}
