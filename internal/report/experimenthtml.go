package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the page
	"encoding/base64"
	"fmt"
	pages "html/template"
	"strconv"
	"strings"

	"culprit/internal/investigate"
	"culprit/internal/try"
)

// experimentPage is the page of an experiment. It has no script: what it shows does not move.
//
//go:embed assets/experiment.html
var experimentPage string

//go:embed assets/experiment.css
var experimentStyle string

// styleMark stands in the page's policy where the hash of its style goes.
const styleMark = "@style@"

// Limits of the page. JSON keeps everything.
const (
	dotsMax  = 400 // in one row: more cannot be told apart
	linesMax = 200 // in one list
)

// experimentView is what the page shows, already in words.
type experimentView struct {
	Title, Answer, Class, Command, Trials, Host string

	Style     pages.CSS
	Headlines []string
	Costs     []costView
	Charts    []chartView
	Table     []effectView
	Lists     []listView
}

// costView is what one monitor costs.
type costView struct {
	Name, Answer, Class string
	Lines               []string
}

// listView is a heading with lines.
type listView struct {
	Name  string
	Lines []string
}

// ExperimentHTML writes what an experiment found as one self-contained page: the words of
// Experiment, or of Overhead where a budget is held, a chart for each metric, and a table of all
// effects. The file appears under its name only when it is whole.
func ExperimentHTML(path string, r *try.Result) error {
	text, err := renderExperiment(r)
	if err != nil {
		return err
	}
	return writePage(path, text)
}

func renderExperiment(r *try.Result) ([]byte, error) {
	if r == nil {
		return nil, fmt.Errorf("write report: no experiment given")
	}
	hash := sha256.Sum256([]byte(experimentStyle))
	source := strings.Replace(experimentPage, styleMark, base64.StdEncoding.EncodeToString(hash[:]), 1)
	page, err := pages.New("experiment").Parse(source)
	if err != nil {
		return nil, fmt.Errorf("read page of experiment: %w", err)
	}
	var out bytes.Buffer
	if err := page.Execute(&out, viewOf(r)); err != nil {
		return nil, fmt.Errorf("fill page of experiment: %w", err)
	}
	return out.Bytes(), nil
}

func viewOf(r *try.Result) experimentView {
	v := experimentView{Style: pages.CSS(experimentStyle), Answer: signedVerdict(r.Outcome), Class: classOf(r.Outcome),
		Command: visible(r.Command, sentenceRunesMax), Trials: trialsSentence(r),
		Host: hostLine(investigate.Host(r.Host)) + ", seed " + strconv.FormatInt(r.Seed, 10)}
	if r.Allowed > 0 {
		v.Costs = costViews(try.OverheadOf(r))
		v.Headlines = []string{"What monitors cost, against the " + percent(r.Allowed) + " allowed"}
	} else {
		v.Headlines = headlines(r)
	}
	v.Title = strings.ToUpper(visible(r.Outcome, 20)) + ": " + v.Headlines[0]
	for _, metric := range r.Metrics {
		v.Charts = append(v.Charts, chartOf(r, metric))
	}
	for _, effect := range r.Effects {
		v.Table = append(v.Table, tableRow(r, effect))
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
		view := costView{Name: visible(cost.Monitor, nameRunesMax), Answer: signedVerdict(cost.Verdict),
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
		lines = append(lines, fmt.Sprintf("%s %s %s (Kendall’s tau %.2f, p %.2g)", metricNoun(trend.Metric), does,
			visible(trend.Factor, 60), trend.Tau, trend.P))
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
