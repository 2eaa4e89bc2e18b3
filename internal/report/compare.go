package report

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/differs"
	"culprit/internal/compare/rank"
	"culprit/internal/explain"
	"culprit/internal/investigate"
	"culprit/internal/stat"
	"culprit/internal/trial"
	"culprit/recording"
)

// ComparisonSchema names the JSON document of a comparison.
const ComparisonSchema = "culprit.comparison/1"

// Comparison is the answer of `culprit compare`: two groups of recordings, what differs and what it
// comes from.
type Comparison struct {
	Schema  string              `json:"schema"`
	Outcome investigate.Outcome `json:"outcome"` // worse, better, same or undecided
	Metric  string              `json:"metric"`  // wall or cpu; of requests p99 and the like
	A       ComparedSide        `json:"a"`
	B       ComparedSide        `json:"b"`
	// Effect is B's metric per unit of work as a multiple of A's; with one recording a side its
	// interval is null.
	Effect   cause.Effect `json:"effect"`
	Smallest float64      `json:"smallest"`            // difference that counts, 0.02 for 2 %
	FailOver *float64     `json:"fail_over,omitempty"` // as asked: worse only from here on
	// InBlocks: all recordings of one side are older than those of the other, and the effect's
	// interval allows for it.
	InBlocks bool          `json:"in_blocks"`
	Ranking  *rank.Ranking `json:"ranking"`
	// Tested is the verdict by a metric of requests, where one was asked for: Ranking and Suspects
	// then tell of the seconds that explain it.
	Tested *explain.RequestVerdict `json:"tested,omitempty"`
	// Requests are what one took on both sides, and at which load; where they are compared per
	// request.
	Requests []explain.RequestMetric `json:"requests,omitempty"`
	Suspects []cause.Suspect         `json:"suspects"`
	Settings []compare.FactChange    `json:"settings"`
	Differs  []differs.Difference    `json:"differs,omitzero"`
	Warnings []string                `json:"warnings"`
	// Unseen is what limits the answer because it could not be seen; BlindSpots says it in words.
	Unseen     []recording.BlindSpot `json:"unseen"`
	BlindSpots []string              `json:"blind_spots"`
	Profile    *compare.Profile      `json:"profile"`
	WaitTree   *compare.Profile      `json:"wait_profile"`
}

// ComparedSide is one group of recordings.
type ComparedSide struct {
	Files []string `json:"files"`
	// Disturbed are those of Files in which the service was restarted.
	Disturbed []string `json:"disturbed,omitempty"`
	Command   string   `json:"command"`
	Host      string   `json:"host"`
	// Labels are those of culprit record --label that all of Files have alike.
	Labels map[string]string `json:"labels,omitempty"`
}

// ComparisonJSON writes the comparison as one document; like JSON, it has null for what is not
// known.
func ComparisonJSON(w io.Writer, c *Comparison) error {
	e := &encoder{}
	if err := e.value(c); err != nil {
		return fmt.Errorf("encode comparison: %w", err)
	}
	e.out.WriteByte('\n')
	if _, err := w.Write(e.out.Bytes()); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

// asCase shows a comparison as a case, whose page then shows it.
func (c *Comparison) asCase() *investigate.Case {
	titleA, titleB := c.titles()
	shown := &investigate.Case{Schema: investigate.CaseSchema, Outcome: c.Outcome, Per: c.Ranking.Per.Name,
		Metric: investigate.Metric{Name: c.Metric, Unit: "s", Better: "lower"},
		A:      c.A.summary(titleA, c.Ranking.A), Suspects: c.Suspects, Unseen: c.Unseen,
		BlindSpots: c.BlindSpots, Warnings: c.Warnings,
		Smallest: c.Smallest, Settings: c.Settings, Differs: c.Differs, Profile: c.Profile, Waits: c.WaitTree,
		Host: investigate.Host{Name: c.A.Host}}
	b := c.B.summary(titleB, c.Ranking.B)
	shown.B = &b
	effect := c.Effect
	shown.Effect = &effect
	if c.Tested != nil {
		shown.Metric = c.testedMetric()
		shown.A.Median, b.Median = stat.Middle(c.Tested.A), stat.Middle(c.Tested.B)
	}
	valuesA, valuesB := c.Ranking.A, c.Ranking.B
	if c.Tested != nil {
		valuesA, valuesB = c.Tested.A, c.Tested.B
	}
	shown.Trials = append(c.A.dots("A", c.Metric, valuesA, 1), c.B.dots("B", c.Metric, valuesB, len(valuesA)+1)...)
	for _, item := range append(append([]rank.Item{}, c.Ranking.Items...), c.Ranking.Beside...) {
		shown.Items = append(shown.Items, investigate.Item{Signal: item.Signal, Name: item.Name, Where: item.Where,
			A: item.A, B: item.B,
			Unit: item.Unit, Change: item.Change, Share: item.Share, Decided: item.Decided})
	}
	return shown
}

func (s *ComparedSide) summary(title string, values []float64) investigate.SideSummary {
	return investigate.SideSummary{Command: title, Median: stat.Average(values), Trials: len(values)}
}

// dots are the recordings as the page draws them: one dot each, in no pairs.
func (s *ComparedSide) dots(side, metric string, values []float64, order int) []trial.Run {
	runs := make([]trial.Run, len(values))
	for i, value := range values {
		runs[i] = trial.Run{Side: side, Pair: i, Order: order + i, Kind: "evidence", Valid: true,
			Metrics: map[string]float64{metric: value}}
	}
	return runs
}

// titles are what the sides are called: with their hosts and labels where these are not the same.
func (c *Comparison) titles() (a, b string) {
	a, b = c.A.title(), c.B.title()
	if c.A.Host != "" && c.B.Host != "" && c.A.Host != c.B.Host {
		a, b = a+" on "+c.A.Host, b+" on "+c.B.Host
	}
	return a + c.A.apartFrom(&c.B), b + c.B.apartFrom(&c.A)
}

// apartFrom are the labels that the other side does not have: " (version=1.4.2, zone=eu-1)".
func (s *ComparedSide) apartFrom(other *ComparedSide) string {
	var texts []string
	for _, key := range slices.Sorted(maps.Keys(s.Labels)) {
		if value, has := other.Labels[key]; !has || value != s.Labels[key] {
			texts = append(texts, key+"="+s.Labels[key])
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return " (" + strings.Join(texts, ", ") + ")"
}

// title is what a side is called: its command, else its files.
func (s *ComparedSide) title() string {
	if s.Command != "" {
		return s.Command
	}
	if len(s.Files) == 0 {
		return "nothing"
	}
	if more := len(s.Files) - 1; more > 0 {
		return fmt.Sprintf("%s and %d more", s.Files[0], more)
	}
	return s.Files[0]
}

// ByParts tells a comparison of CPU time per CPU second: the total is one on both sides, only its
// parts can differ.
func (c *Comparison) ByParts() bool {
	return c.Metric == compare.MetricCPU && c.Ranking.Per.ByParts()
}

// headline is the answer in one sentence.
func (c *Comparison) headline() string {
	if c.Tested != nil {
		return c.testedHeadline()
	}
	noun, work := metricNoun(c.Metric), "per "+c.Ranking.Per.Name
	metric := investigate.Metric{Name: c.Metric, Unit: "s", Better: "lower"}
	effect := c.Effect
	switch {
	case c.ByParts():
		return "Compared by parts of the CPU time: what moved within it, not how much there is of it"
	case !finite(effect.Ratio) || effect.Ratio <= 0:
		return "The effect on " + noun + " is unknown"
	case !c.Ranking.Known:
		size := percent(math.Abs(effect.Ratio - 1))
		asTimes := effect.Ratio >= timesFrom
		if asTimes {
			size = times(effect.Ratio)
		}
		return clause(c.Metric, size, effect.Ratio >= 1, asTimes) + " " + work + "; one recording a side decides nothing"
	case c.Outcome == investigate.Same:
		return fmt.Sprintf("A and B are the same within %s on %s %s (%s)", percent(c.Smallest), noun, work,
			signedInterval(effect))
	case c.Outcome == investigate.Undecided:
		return fmt.Sprintf("Cannot tell A from B on %s %s: %s", noun, work, span(effect, c.Metric))
	}
	return compared(effect, metric) + " " + work
}

// detail are the values behind the headline: per unit of work, and as they stand in the recordings.
func (c *Comparison) detail() string {
	if c.Tested != nil {
		return c.testedDetail()
	}
	r := c.Ranking
	text := fmt.Sprintf("%s per %s %s (%s)", metricNoun(c.Metric), r.Per.Name,
		change(stat.Average(r.A), stat.Average(r.B), "s"), visible(r.Per.Why, nameRunesMax))
	if r.Per.Name != "run" {
		text += fmt.Sprintf("; in a recording %s", change(stat.Average(r.AbsoluteA), stat.Average(r.AbsoluteB), "s"))
	}
	text += fmt.Sprintf("; %s of A, %s of B", plural(len(r.A), "recording"), plural(len(r.B), "recording"))
	return text
}

// seen says what could have been seen.
func (c *Comparison) seen() string {
	whole := stat.Average(c.Ranking.A)
	// It is worked out for sides that took turns.
	if !c.Ranking.Known || whole <= 0 || c.ByParts() || c.InBlocks || c.Tested != nil {
		return ""
	}
	return fmt.Sprintf("a change of %s or more of %s would have been seen in 4 of 5 such comparisons",
		percent(c.Ranking.Smallest/whole), metricNoun(c.Metric))
}
