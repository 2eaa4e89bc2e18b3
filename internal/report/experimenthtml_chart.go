package report

import (
	"fmt"
	"math"

	"culprit/internal/try"
)

// kindMeasure is the kind of a trial that is no warm-up.
const kindMeasure = "measure"

// chartView is the chart of one metric: a row of dots for each condition, and a row with an
// interval for each effect. Places are shares of the width, "12.34%", so that text keeps its size
// on a narrow screen.
type chartView struct {
	Name, Against, Caption string
	Higher                 bool
	Levels                 []levelView
	LevelTicks             []tickView
	Effects                []effectView
	RatioTicks             []tickView

	BandX, BandWidth, One string // of the ratios that do not count, and of no change
}

type levelView struct {
	Name, Text, Median, Note string // Median is where it stands, "" when it is unknown
	Dots                     []dotView
}

// dotView is a trial; Why says why it is left out, "" for one that counts.
type dotView struct{ X, Y, Why, Title string }

// effectView is an effect in words and, in a chart, the places of its interval; "" where there is
// none.
type effectView struct {
	Name, Against, Metric, Ratio, Low, High, Answer, Class, Note string
	Blocks                                                       int
}

func chartOf(r *try.Result, metric try.Metric) chartView {
	c := chartView{Name: metricNoun(metric.Name), Higher: metric.Higher, Against: "Ratio to the baseline"}
	unit := scaleFor(metric.Unit, medians(r, metric.Name)...)
	low, high := rangeOf(r, metric.Name)
	if !finite(low) || !finite(high) {
		low, high = 0, 0
	}
	levels := axis{low: low, high: high}
	for i := range r.Conditions {
		c.Levels = append(c.Levels, levelOf(r, i, metric, levels, unit))
	}
	if high > low {
		c.LevelTicks = levels.ticks(unit.factor, unit.unit)
	}
	ratios := ratioAxis(r, metric.Name)
	for _, effect := range r.Effects {
		if effect.Metric == metric.Name {
			c.Effects = append(c.Effects, intervalOf(r, effect, ratios))
		}
	}
	c.RatioTicks = ratios.ticks(1, "×")
	from, to := ratios.at(1/(1+r.Smallest)), ratios.at(1+r.Smallest)
	band := "the band: less than the smallest difference that counts, " + percent(r.Smallest)
	if r.Allowed > 0 {
		from, to = 0, ratios.at(1+r.Allowed)
		band = "the band: within the " + percent(r.Allowed) + " allowed"
	}
	c.BandX, c.BandWidth, c.One = place(from), place(to-from), place(ratios.at(1))
	c.Caption = "Trials: a dot is one (its height means nothing), a hollow one is left out and may lie beyond " +
		"the scale, the upright line is the median. Ratio: a ring, with its interval, on a logarithmic axis; " +
		"dashed: no change; " + band + "."
	return c
}

func levelOf(r *try.Result, number int, metric try.Metric, a axis, unit scale) levelView {
	condition := r.Conditions[number]
	spread := condition.Metrics[metric.Name]
	show := func(value float64) string { return withUnit(digits(value*unit.factor), unit.unit) }
	row := levelView{Name: conditionName(r, number), Text: "no trial"}
	if condition.Trials > 0 {
		row.Text = "median " + show(spread.Median)
		// Student's interval of two or three trials can reach below zero, where no metric is.
		if 0 < spread.Low && spread.Low < spread.High && finite(spread.High) {
			row.Text += " (" + show(spread.Low) + " to " + show(spread.High) + ")"
		}
		row.Text += ", " + plural(condition.Trials, "trial")
		if finite(spread.Median) {
			row.Median = place(a.at(spread.Median))
		}
	}
	more := 0
	for _, trial := range r.Trials {
		value, has := trial.Metrics[metric.Name]
		if trial.Condition != number || trial.Kind != kindMeasure || !has || !finite(value) {
			continue
		}
		if len(row.Dots) == dotsMax {
			more++
			continue
		}
		dot := dotView{X: place(a.at(value)), Y: fmt.Sprint(7 + len(row.Dots)*5%17),
			Title: fmt.Sprintf("trial %d: %s", trial.Order, show(value))}
		if !trial.Valid {
			dot.Why = "left out"
			dot.Title += ", left out: " + visible(trial.Why, nameRunesMax)
		}
		row.Dots = append(row.Dots, dot)
	}
	if more > 0 {
		row.Note = plural(more, "more trial") + " not drawn"
	}
	return row
}

// intervalOf is an effect's row in a chart.
func intervalOf(r *try.Result, e try.Effect, a axis) effectView {
	v := effectView{Name: effectName(r, e), Class: classOf(e.Verdict), Answer: signedVerdict(e.Verdict) + ": unknown"}
	if !finite(e.Ratio) || e.Ratio <= 0 {
		return v
	}
	v.Ratio, v.Answer = place(a.at(e.Ratio)), signedVerdict(e.Verdict)+": "+ratioText(e.Ratio)
	if finite(e.Low) && finite(e.High) {
		v.Low, v.High = place(a.at(e.Low)), place(a.at(e.High))
		v.Answer += " (" + ratioText(e.Low) + " to " + ratioText(e.High) + ")"
	}
	return v
}

// tableRow is an effect's row in the table.
func tableRow(r *try.Result, e try.Effect) effectView {
	v := effectView{Name: effectName(r, e), Against: visible(e.Against, nameRunesMax), Metric: metricNoun(e.Metric),
		Ratio: ratioText(e.Ratio), Low: ratioText(e.Low), High: ratioText(e.High), Answer: signedVerdict(e.Verdict),
		Class: classOf(e.Verdict), Blocks: e.Blocks, Note: visible(e.Why, nameRunesMax)}
	if e.Verdict == try.Undecided && e.More > 0 && e.More < moreMax {
		v.Note += " about " + plural(e.More, "more block") + " would decide"
	}
	return v
}

func effectName(r *try.Result, e try.Effect) string {
	name := visible(e.Factor, 60) + "=" + visible(e.Level, nameRunesMax)
	if e.Control || r.Allowed > 0 {
		name = visible(e.Level, nameRunesMax)
	}
	if e.Negative {
		name += " (ought to do nothing)"
	}
	if e.Interaction {
		name += " (together more than apart?)"
	}
	return name
}

// axis places values from low to high within 0 … 1, by their logarithm where log is set.
type axis struct {
	low, high float64
	log       bool
}

// ratioMax is the largest ratio that is drawn in its place; beyond it stands at the edge.
const ratioMax = 1e9

// ratioAxis holds 1, the band that does not count, and every interval of a metric.
func ratioAxis(r *try.Result, metric string) axis {
	a := axis{low: 1 / (1 + r.Smallest), high: 1 + math.Max(r.Smallest, r.Allowed), log: true}
	for _, effect := range r.Effects {
		for _, value := range []float64{effect.Ratio, effect.Low, effect.High} {
			if effect.Metric == metric && finite(value) && value > 0 {
				value = math.Min(math.Max(value, 1/ratioMax), ratioMax)
				a.low, a.high = math.Min(a.low, value), math.Max(a.high, value)
			}
		}
	}
	margin := math.Pow(a.high/a.low, 0.05)
	a.low, a.high = a.low/margin, a.high*margin
	return a
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
