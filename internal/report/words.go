package report

import (
	"fmt"
	"math"
	"strconv"

	"culprit/internal/cause"
	"culprit/internal/compare/units"
	"culprit/internal/investigate"
	"culprit/internal/stat"
	"culprit/internal/trial"
	"culprit/internal/try"
)

// verdict is what the terminal and the page say in words, so that both say the same.
type verdict struct {
	Label    string       `json:"label"`    // "worse", in one word for the eye
	Headline string       `json:"headline"` // the answer with its interval
	Detail   string       `json:"detail"`   // the metric's values and the number of pairs
	Others   []string     `json:"others"`   // the other metrics tested
	Next     string       `json:"next"`     // what would decide an undecided case
	AlsoSeen []string     `json:"also_seen"`
	LeftOut  leftOutWords `json:"left_out"`
	Cost     []string     `json:"cost"` // what recording cost
	Host     string       `json:"host"`
	// Differs is what the sides are not the same in; "" where nothing was recorded.
	Differs string `json:"differs,omitempty"`
	// Follows says of each suspect whether it comes from the one thing that differs, "" where more
	// does.
	Follows []string `json:"follows"`
	Per     string   `json:"per"` // what amounts are per: "run"
	// Kept is what one of the measured pieces is: "run", or "recording" of what runs on.
	Kept string `json:"kept"`
	Seed string `json:"seed"` // as text: a script's numbers end at 2^53
	// Why is what is said of how the suspects came about; nil where nothing was judged.
	Why *whyWords `json:"why,omitempty"`
	// Whole is what shares are of.
	Whole string `json:"whole"`
	// Only names the sections of a page that has fewer than all.
	Only []string `json:"only,omitempty"`
}

// timesFrom is the ratio from which a change reads better as "1.35×" than as "35 %".
const timesFrom = 1.1

func verdictOf(c *investigate.Case) verdict {
	words := verdict{
		Label: string(c.Outcome), Headline: headline(c), Detail: detail(c),
		Next: nextStep(c), LeftOut: leftOutOf(c), Cost: costOf(c), Host: hostLine(c.Host),
		Seed: strconv.FormatInt(c.Seed, 10),
		Kept: pieceOf(c), AlsoSeen: alsoSeen(c),
		Per:    perOf(c),
		Others: []string{},
		Why:    wordsOfWhy(c),
		Whole:  wholeOf(c),

		Differs: differsWords(c), Follows: followsWords(c.Suspects),
	}
	for _, result := range c.Metrics {
		if result.Metric.Name != c.Metric.Name {
			words.Others = append(words.Others, otherMetric(c, result))
		} else if result.Kinds != nil {
			words.Others = append(words.Others, slowRuns(result.Kinds))
		}
	}
	return words
}

// wholeOf is what shares are of.
func wholeOf(c *investigate.Case) string {
	if c.B != nil {
		return "the change"
	}
	return metricNoun(c.Metric.Name)
}

func metricNoun(name string) string {
	switch name {
	case "wall":
		return "wall time"
	case "cpu":
		return "CPU time"
	case try.CPUPerCall.Name:
		return "CPU time for each read or write"
	}
	return visible(name, 60)
}

// nounPer is a metric with what its values are per: a latency or a rate is per nothing more.
func nounPer(c *investigate.Case, metric investigate.Metric) string {
	noun := metricNoun(metric.Name)
	if ofWork := metric.Name == trial.MetricWall || metric.Name == trial.MetricCPU; !ofWork && perOf(c) != units.PerRun {
		return noun
	}
	return noun + " per " + perOf(c)
}

func known(effect *cause.Effect) bool {
	return effect != nil && finite(effect.Ratio) && effect.Ratio > 0
}

func headline(c *investigate.Case) string {
	noun := metricNoun(c.Metric.Name)
	if c.Outcome == investigate.Listed || c.B == nil {
		return fmt.Sprintf("%s of %s per %s: where it goes", amount(c.A.Median, c.Metric.Unit), noun, perOf(c))
	}
	if !known(c.Effect) {
		return fmt.Sprintf("The effect on %s is unknown", noun)
	}
	switch c.Outcome {
	case investigate.Same:
		return fmt.Sprintf("A and B are the same within %s on %s (%s)", percent(c.Smallest), noun,
			signedInterval(*c.Effect))
	case investigate.Undecided:
		// All pairs point one way, and there are too few of them.
		if e := c.Effect; e.Low > 1 || e.High < 1 {
			return fmt.Sprintf("Too few runs to tell A from B on %s: in these, %s", noun, span(*e, c.Metric.Name))
		}
		return fmt.Sprintf("Cannot tell A from B on %s yet: %s", noun, span(*c.Effect, c.Metric.Name))
	}
	if c.DecidedByKinds() != nil {
		return compared(*c.Effect, c.Metric) + " in the mean, by runs that are slow"
	}
	return compared(*c.Effect, c.Metric)
}

// compared says a decided effect: "B is 1.35× slower than A (95 % between 1.31× and 1.38×)".
func compared(effect cause.Effect, metric investigate.Metric) string {
	more := effect.Ratio >= 1
	ratio, low, high := effect.Ratio, effect.Low, effect.High
	asTimes := ratio >= timesFrom
	if !more && metric.Name == "wall" && 1/ratio >= timesFrom {
		ratio, low, high, asTimes = 1/ratio, 1/high, 1/low, true
	}
	size, between := times(ratio), "between "+times(low)+" and "+times(high)
	if !asTimes {
		near, far := ordered(low-1, high-1)
		if !more {
			near, far = ordered(1-low, 1-high)
		}
		size, between = percent(math.Abs(ratio-1)), "between "+percent(near)+" and "+percent(far)
	}
	return fmt.Sprintf("%s (%s %s)", clause(metric.Name, size, more, asTimes), confidence(effect), between)
}

func ordered(a, b float64) (float64, float64) { return math.Min(a, b), math.Max(a, b) }

// clause says a change of a metric in words.
func clause(metric, size string, more, asTimes bool) string {
	switch {
	case metric == "wall" && more:
		return "B is " + size + " slower than A"
	case metric == "wall":
		return "B is " + size + " faster than A"
	case metric == "cpu" && asTimes:
		return "B uses " + size + " the CPU time of A"
	case metric == "cpu" && more:
		return "B uses " + size + " more CPU time than A"
	case metric == "cpu":
		return "B uses " + size + " less CPU time than A"
	case asTimes:
		return "B’s " + metricNoun(metric) + " is " + size + " A’s"
	case more:
		return "B’s " + metricNoun(metric) + " is " + size + " higher than A’s"
	}
	return "B’s " + metricNoun(metric) + " is " + size + " lower than A’s"
}

// span says an undecided effect: "B is anything from 2.1 % less to 4.5 % more than A".
func span(effect cause.Effect, metric string) string {
	less, more := "less", "more"
	if metric == "wall" {
		less, more = "faster", "slower"
	}
	if effect.Low >= farFrom {
		what := "slower than A"
		if metric != "wall" {
			what = "what A has"
		}
		return fmt.Sprintf("B is anything from %s to %s %s (%s)", times(effect.Low), times(effect.High), what,
			confidence(effect))
	}
	word := func(ratio float64) string {
		if ratio < 1 {
			return percent(1-ratio) + " " + less
		}
		return percent(ratio-1) + " " + more
	}
	return fmt.Sprintf("B is anything from %s to %s than A (%s)",
		word(effect.Low), word(effect.High), confidence(effect))
}

func confidence(effect cause.Effect) string {
	if effect.Confidence <= 0 || !finite(effect.Confidence) {
		return "interval"
	}
	return percent(effect.Confidence)
}

// signedInterval says an effect near one: "95 % between −0.4 % and +0.9 %".
func signedInterval(effect cause.Effect) string {
	return fmt.Sprintf("%s between %s and %s", confidence(effect), signed(effect.Low-1), signed(effect.High-1))
}

// farFrom is the ratio from which an interval in percent is hard to read: "between +945 % and
// +26076 %".
const farFrom = 2

// intervalAsTold gives the interval of a ratio: in percent near one, else in the ratio's own unit.
func intervalAsTold(effect cause.Effect) string {
	if effect.Ratio < farFrom {
		return signedInterval(effect)
	}
	return fmt.Sprintf("%s between %s and %s", confidence(effect), times(effect.Low), times(effect.High))
}

func signed(fraction float64) string {
	text := percent(fraction)
	if fraction > 0 && text != percent(0) {
		return "+" + text
	}
	return text
}

func detail(c *investigate.Case) string {
	if c.B == nil {
		return fmt.Sprintf("%s of %s", plural(c.A.Trials, pieceOf(c)), visible(c.A.Command, nameRunesMax))
	}
	if min(c.A.Trials, c.B.Trials) == 0 {
		return "no pair of trials counts"
	}
	if c.A.Earlier || c.B.Earlier {
		return fmt.Sprintf("%s %s; A is %s, B is %s", nounPer(c, c.Metric),
			change(c.A.Median, c.B.Median, c.Metric.Unit), sideOf(c.A), sideOf(*c.B))
	}
	pairs := plural(min(c.A.Trials, c.B.Trials), "pair")
	if kinds := c.DecidedByKinds(); kinds != nil {
		return fmt.Sprintf("%s %s in the mean, %s", nounPer(c, c.Metric),
			change(kinds.MeanA, kinds.MeanB, c.Metric.Unit), pairs)
	}
	return fmt.Sprintf("%s %s, %s", nounPer(c, c.Metric), change(c.A.Median, c.B.Median, c.Metric.Unit), pairs)
}

// sideOf says what a side is where one was recorded earlier.
func sideOf(side investigate.SideSummary) string {
	if side.Earlier {
		return fmt.Sprintf("%s made earlier (%s)", plural(side.Trials, "recording"), visible(side.Command, nameRunesMax))
	}
	return fmt.Sprintf("%s of %s", plural(side.Trials, "window"), visible(side.Command, nameRunesMax))
}

func otherMetric(c *investigate.Case, result investigate.MetricResult) string {
	noun := nounPer(c, result.Metric)
	if c.B == nil {
		return noun + " " + amount(result.MedianA, result.Metric.Unit)
	}
	a, b := result.Centre()
	text := noun + " " + change(a, b, result.Metric.Unit)
	if known(&result.Effect) {
		text += fmt.Sprintf(", %s (%s)", times(result.Effect.Ratio), intervalAsTold(result.Effect))
	}
	return text + ": " + visible(string(result.Outcome), 20)
}

// nextStep says how to decide an undecided case.
func nextStep(c *investigate.Case) string {
	if c.Outcome != investigate.Undecided || c.B == nil {
		return ""
	}
	seconds := budgetNeeded(c)
	switch {
	case c.A.Earlier || c.B.Earlier:
		return "More recordings of the earlier side would decide, or a longer --budget for the other one."
	case c.NeedTrials <= 0 || seconds <= 0 || !finite(seconds):
		return "Run it again with a longer --budget, or ask for less with a larger --smallest."
	case c.NeedTrials >= stat.MaxMore:
		return fmt.Sprintf("More pairs of this kind would not decide: repeat it on a quieter host, "+
			"or ask for less with a larger --smallest (now %s).", percent(c.Smallest))
	}
	return fmt.Sprintf("About %s would decide: run it again with --budget %.0fs, "+
		"or ask for less with a larger --smallest (now %s).",
		plural(c.NeedTrials, "more pair"), seconds, percent(c.Smallest))
}

// budgetNeeded is the budget in seconds that would decide, in tens. Cases of before it was kept
// have the time that they took, which grows with the number of pairs.
func budgetNeeded(c *investigate.Case) float64 {
	seconds := c.NeedBudgetS
	if seconds <= 0 {
		done := float64(min(c.A.Trials, c.B.Trials))
		seconds = c.ElapsedS * (done + float64(c.NeedTrials)) / done
	}
	return math.Ceil(seconds/10) * 10
}
