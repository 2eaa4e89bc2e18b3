package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/rivo/uniseg"

	"culprit/internal/try"
)

// levels is the table of one metric: a line for each condition, a dot for each trial.
func (p *page) levels(r *try.Result, metric try.Metric) {
	low, high := rangeOf(r, metric.Name)
	unit := scaleFor(metric.Unit, medians(r, metric.Name)...)
	label := strings.TrimPrefix(metricNoun(metric.Name), "latency.")
	if metric.Name == try.CPUPerCall.Name { // the sentence is too long for the first column
		label = "CPU/call"
	}
	if metric.Higher {
		label += " ↑"
	}
	if recorded, is := strings.CutPrefix(label, "recording:"); is { // too long for the first column
		p.entry("recorded", recorded, plain, bold)
		label = ""
	}
	for i, condition := range r.Conditions {
		dots := strip(values(r, i, metric.Name), low, high, p.strip())
		p.levelRow(label, mark(i)+" "+visible(condition.Label, nameRunesMax), dots,
			withUnit(digits(condition.Metrics[metric.Name].Median*unit.factor), unit.unit), beside(r, condition, metric))
		label = ""
	}
	for _, effect := range r.Effects {
		if effect.Metric == metric.Name && (r.Design == try.Factorial || effect.Interaction) && !effect.Control {
			p.levelRow("", "  "+visible(effect.Factor+"="+effect.Level, nameRunesMax), strings.Repeat(" ", p.strip()), "",
				answerOf(effect))
		}
	}
	for _, trend := range r.Trends {
		if trend.Metric == metric.Name && trend.Verdict != try.Undecided {
			p.entry("", fmt.Sprintf("%s with %s (%s)", visible(trend.Verdict, 20), visible(trend.Factor, 60),
				trendTest(trend)), plain, bold)
		}
	}
}

// trendTest is what a trend was judged by.
func trendTest(trend try.Trend) string {
	if !finite(trend.Tau) || !finite(trend.P) {
		return "not tested"
	}
	return fmt.Sprintf("Kendall’s tau %.2f, p %.2g", trend.Tau, trend.P)
}

// The columns of the table.
const (
	levelWidth  = 22
	medianWidth = 9
	answerWidth = 34
	stripMin    = 8
)

func (p *page) strip() int {
	return max(stripMin, p.width-labelWidth-1-levelWidth-1-1-medianWidth-1-answerWidth)
}

// levelRow is one line of the table.
func (p *page) levelRow(label, level, dots, median string, told answer) {
	style := plain
	switch told.verdict {
	case try.Worse, try.Over:
		style = orange
	case try.Better:
		style = blue
	}
	line := p.style(fit(label, labelWidth), bold) + " " + fit(level, levelWidth) + " " + dots + " " +
		strings.Repeat(" ", max(0, medianWidth-uniseg.StringWidth(median))) + median + " " + p.style(told.text, style)
	p.out.WriteString(strings.TrimRight(strings.ReplaceAll(line, space, " "), " ") + "\n")
}

// fit pads or cuts text to a number of columns.
func fit(text string, columns int) string {
	if width := uniseg.StringWidth(text); width <= columns {
		return text + strings.Repeat(" ", columns-width)
	}
	pieces := cut(text, columns-1)
	return fit(pieces[0]+"…", columns)
}

// mark names a condition by a letter.
func mark(i int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if i < len(letters) {
		return letters[i : i+1]
	}
	return letters[i/len(letters)-1:i/len(letters)] + letters[i%len(letters):i%len(letters)+1]
}

// beside is what stands at the end of a condition's line: its effect, where exactly one tells about
// it.
func beside(r *try.Result, condition try.Summary, metric try.Metric) answer {
	if r.Design == try.Factorial && !condition.Control {
		return answer{text: plural(condition.Trials, "trial")}
	}
	for _, effect := range r.Effects {
		if effect.Metric != metric.Name || effect.Interaction || effect.Control != condition.Control {
			continue
		}
		if effect.Control || condition.Levels[effect.Factor] == effect.Level {
			return answerOf(effect)
		}
	}
	return answer{text: plural(condition.Trials, "trial") + ", baseline"}
}

// answer is what the last column says of a level.
type answer struct {
	text    string
	verdict string // "" where nothing was tested
}

func answerOf(effect try.Effect) answer {
	text := "unknown"
	if finite(effect.Ratio) {
		text = ratioText(effect.Ratio)
		if finite(effect.Low) && finite(effect.High) {
			text += " (" + ratioText(effect.Low) + " to " + ratioText(effect.High) + ")"
		}
	}
	return answer{text + " " + visible(effect.Verdict, 20), effect.Verdict}
}

// ratioText is times, but keeps the size of a ratio that is far below one.
func ratioText(ratio float64) string {
	if ratio > 0 && ratio < 0.1 {
		return digits(ratio) + "×"
	}
	return times(ratio)
}

// values are the metric in the trials of a condition that count.
func values(r *try.Result, number int, metric string) []float64 {
	var found []float64
	for _, trial := range r.Trials {
		if value, has := trial.Metrics[metric]; has && trial.Condition == number && trial.Valid && trial.Kind == "measure" {
			found = append(found, value)
		}
	}
	return found
}

func medians(r *try.Result, metric string) []float64 {
	var all []float64
	for _, condition := range r.Conditions {
		all = append(all, condition.Metrics[metric].Median)
	}
	return all
}

// rangeOf is from the smallest to the largest trial of all conditions.
func rangeOf(r *try.Result, metric string) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := range r.Conditions {
		for _, value := range values(r, i, metric) {
			low, high = math.Min(low, value), math.Max(high, value)
		}
	}
	return low, high
}

// strip draws a dot for each trial on a line from low to high: · for one, : for two or three, # for
// more.
func strip(values []float64, low, high float64, columns int) string {
	counts := make([]int, columns)
	for _, value := range values {
		at := 0
		if high > low {
			at = int((value - low) / (high - low) * float64(columns-1))
		}
		counts[min(max(at, 0), columns-1)]++
	}
	var drawn strings.Builder
	for _, count := range counts {
		switch {
		case count == 0:
			drawn.WriteByte(' ')
		case count == 1:
			drawn.WriteString("·")
		case count <= 3:
			drawn.WriteByte(':')
		default:
			drawn.WriteByte('#')
		}
	}
	return drawn.String()
}
