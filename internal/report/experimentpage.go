package report

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"culprit/internal/investigate"
	"culprit/internal/try"
	"culprit/internal/worth"
)

// linesMax is how many lines one list of the page has. The document keeps everything.
const linesMax = 200

// kindMeasure is the kind of a trial that is no warm-up.
const kindMeasure = "measure"

// experimentWords is what the page of an experiment says beside the numbers of its document.
type experimentWords struct {
	Title      string      `json:"title"`
	Label      string      `json:"label"` // the outcome, with its sign
	Class      string      `json:"class"` // worse, better or grey
	Headlines  []string    `json:"headlines"`
	Costs      []costView  `json:"costs"`
	Trials     string      `json:"trials"`
	Host       string      `json:"host"`
	Seed       string      `json:"seed"`
	Conditions []string    `json:"conditions"` // as the document lists them, with their letters
	Effects    []effectRow `json:"effects"`    // as the document lists them
	Lists      []listView  `json:"lists"`
}

// costView is what one monitor costs.
type costView struct {
	Name  string   `json:"name"`
	Label string   `json:"label"`
	Class string   `json:"class"`
	Lines []string `json:"lines"`
}

// effectRow is what is said of one effect.
type effectRow struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Class string `json:"class"`
	Note  string `json:"note"`
}

// listView is a heading with lines.
type listView struct {
	Name  string   `json:"name"`
	Lines []string `json:"lines"`
}

// ExperimentHTML writes what an experiment found as one self-contained page: the words of
// Experiment, or of Overhead where a budget is held, charts for each metric with their tables, and
// what culprit worth says of it: the answers that are given, else all that the experiment can give.
// The file appears under its name only when it is whole.
func ExperimentHTML(path string, r *try.Result, asked ...*worth.Answer) error {
	text, err := renderExperiment(r, asked...)
	if err != nil {
		return err
	}
	return writePage(path, text)
}

func renderExperiment(r *try.Result, asked ...*worth.Answer) ([]byte, error) {
	if r == nil {
		return nil, fmt.Errorf("write report: no experiment given")
	}
	var document bytes.Buffer
	if err := ExperimentJSON(&document, r); err != nil {
		return nil, err
	}
	if len(asked) == 0 {
		asked = weighed(document.Bytes())
	}
	packed, err := pack(document.Bytes())
	if err != nil {
		return nil, fmt.Errorf("pack experiment: %w", err)
	}
	data := script("experiment", packed)
	for _, part := range []struct {
		id    string
		value any
	}{{"experiment-words", wordsOf(r)}, {"worth", weighedViews(asked)}} {
		text, err := dataScript(part.id, part.value)
		if err != nil {
			return nil, err
		}
		data += text
	}
	var fallback bytes.Buffer
	if r.Allowed > 0 {
		err = Overhead(&fallback, try.OverheadOf(r), TextOptions{})
	} else {
		err = Experiment(&fallback, r, TextOptions{})
	}
	for i := 0; err == nil && i < len(asked); i++ {
		fallback.WriteByte('\n')
		err = Worth(&fallback, asked[i], TextOptions{})
	}
	if err != nil {
		return nil, err
	}
	return fill([]byte(data), fallback.String())
}

func wordsOf(r *try.Result) experimentWords {
	v := experimentWords{Label: signedVerdict(r.Outcome), Class: classOf(r.Outcome), Trials: trialsSentence(r),
		Host: hostLine(investigate.Host(r.Host)), Seed: strconv.FormatInt(r.Seed, 10)}
	v.Headlines = headlines(r)
	if r.Allowed > 0 {
		v.Costs = costViews(try.OverheadOf(r))
		v.Headlines = []string{"What monitors cost, against the " + percent(r.Allowed) + " allowed"}
	}
	v.Title = strings.ToUpper(visible(r.Outcome, 20)) + ": " + v.Headlines[0]
	for i := range r.Conditions {
		v.Conditions = append(v.Conditions, conditionName(r, i))
	}
	for _, effect := range r.Effects {
		v.Effects = append(v.Effects, rowOf(r, effect))
	}
	for _, list := range []listView{{"Trends", trendLines(r)}, {"Settings flipped", settingLines(r)},
		{"Drift", driftLines(r)}, {"Warnings", r.Warnings}, {"Blind spots", r.BlindSpots},
		{"Trials left out", leftOutLines(r)}} {
		if len(list.Lines) > 0 {
			v.Lists = append(v.Lists, listView{list.Name, limited(list.Lines)})
		}
	}
	return v
}

// limited makes lines visible, at most linesMax of them.
func limited(lines []string) []string {
	var shown []string
	for _, line := range lines[:min(len(lines), linesMax)] {
		shown = append(shown, visible(strings.ReplaceAll(line, space, " "), sentenceRunesMax))
	}
	if more := len(lines) - linesMax; more > 0 {
		shown = append(shown, grouped(float64(more))+" more in result.json")
	}
	return shown
}

func costViews(o *try.Overhead) []costView {
	var views []costView
	for _, cost := range o.Monitors {
		view := costView{Name: visible(cost.Monitor, nameRunesMax), Label: signedVerdict(cost.Verdict),
			Class: classOf(cost.Verdict)}
		for _, effect := range cost.Effects {
			view.Lines = append(view.Lines, costSentence(o, effect))
		}
		view.Lines = append(view.Lines, ownSentence(o, cost))
		views = append(views, view)
	}
	return views
}

// signedVerdict is a verdict with a sign, so that colour is never all that tells.
func signedVerdict(verdict string) string {
	signs := map[string]string{try.Worse: "✗ ", try.Over: "✗ ", try.Better: "✓ ", try.Within: "✓ ", try.Same: "= ",
		try.Undecided: "? "}
	return signs[verdict] + visible(verdict, 20)
}

// classOf names the colour of a verdict: orange for worse, blue for better, grey for all else.
func classOf(verdict string) string {
	switch verdict {
	case try.Worse, try.Over:
		return try.Worse
	case try.Better:
		return try.Better
	}
	return "grey"
}

func trendLines(r *try.Result) []string {
	var lines []string
	for _, trend := range r.Trends {
		does := trend.Verdict + " with"
		if trend.Verdict == try.Undecided {
			does = "cannot be said to rise or fall with"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s (%s)", metricNoun(trend.Metric), does,
			visible(trend.Factor, 60), trendTest(trend)))
	}
	return lines
}

func leftOutLines(r *try.Result) []string {
	var lines []string
	for _, trial := range r.Trials {
		if trial.Kind == kindMeasure && !trial.Valid {
			lines = append(lines, fmt.Sprintf("trial %d of %s: %s", trial.Order, conditionName(r, trial.Condition),
				visible(trial.Why, sentenceRunesMax/2)))
		}
	}
	return lines
}

// conditionName is a condition's letter and label.
func conditionName(r *try.Result, number int) string {
	if number < 0 || number >= len(r.Conditions) {
		return "unknown"
	}
	return mark(number) + " " + visible(r.Conditions[number].Label, nameRunesMax)
}

// rowOf is what is said of an effect.
func rowOf(r *try.Result, e try.Effect) effectRow {
	row := effectRow{Name: effectName(r, e), Label: signedVerdict(e.Verdict), Class: classOf(e.Verdict),
		Note: visible(e.Why, nameRunesMax)}
	if e.Verdict == try.Undecided && e.More > 0 && e.More < moreMax {
		row.Note += " about " + plural(e.More, "more block") + " would decide"
	}
	return row
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
