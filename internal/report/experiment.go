package report

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"culprit/internal/try"
)

// ExperimentJSON writes a document of package try: as JSON does for a case, a list without elements
// is [] and a number that is not finite null.
func ExperimentJSON(w io.Writer, document any) error {
	e := &encoder{}
	if err := e.value(document); err != nil {
		return fmt.Errorf("encode experiment: %w", err)
	}
	e.out.WriteByte('\n')
	if _, err := w.Write(e.out.Bytes()); err != nil {
		return fmt.Errorf("write experiment: %w", err)
	}
	return nil
}

// Experiment writes for a person at a terminal what an experiment found: the answer, a table of the
// levels with a dot for each trial, and what limits the answer.
func Experiment(w io.Writer, r *try.Result, opts TextOptions) error {
	p := newPage(opts)
	p.experimentVerdict(r)
	for _, metric := range r.Metrics {
		p.blank()
		p.levels(r, metric)
	}
	p.blank()
	p.experimentLimits(r)
	if _, err := w.Write(p.out.Bytes()); err != nil {
		return fmt.Errorf("write experiment: %w", err)
	}
	return nil
}

// experimentVerdict is the answer: the effects that were shown, or that none was.
func (p *page) experimentVerdict(r *try.Result) {
	styles := map[string]string{try.Worse: orange, try.Over: orange, try.Better: blue}
	label := strings.ToUpper(r.Outcome)
	for _, line := range headlines(r) {
		p.entry(label, line, styleOr(styles, r.Outcome, bold), bold)
		label = ""
	}
}

// headlines tells the effects that have the outcome's verdict, or that no level was compared on its
// own.
func headlines(r *try.Result) []string {
	var lines []string
	for _, effect := range r.Effects {
		if effect.Verdict != r.Outcome || effect.Control || effect.Negative || effect.Interaction {
			continue
		}
		if lines = append(lines, effectSentence(r, effect)); len(lines) == effectsMax {
			break
		}
	}
	if len(lines) == 0 {
		lines = []string{"no level was compared on its own; see the table"}
	}
	return lines
}

// effectsMax is how many effects of the same verdict are told in a sentence; the table has all.
const effectsMax = 4

func styleOr(styles map[string]string, verdict, usual string) string {
	if style, found := styles[verdict]; found {
		return style
	}
	return usual
}

// effectSentence tells one effect.
func effectSentence(r *try.Result, e try.Effect) string {
	name := visible(e.Factor, 60) + "=" + visible(e.Level, 80)
	noun, against := metricNoun(e.Metric), visible(e.Against, 80)
	if r.Allowed > 0 {
		name = visible(e.Level, 100)
	}
	interval := ""
	if finite(e.Ratio) && finite(e.Low) && finite(e.High) {
		interval = fmt.Sprintf(" (%s, %s to %s)", ratioText(e.Ratio), ratioText(e.Low), ratioText(e.High))
	}
	switch e.Verdict {
	case try.Over:
		return fmt.Sprintf("%s costs more %s than the %s allowed%s", name, noun, percent(r.Allowed), interval)
	case try.Within:
		return fmt.Sprintf("%s costs less %s than the %s allowed%s", name, noun, percent(r.Allowed), interval)
	case try.Worse, try.Better:
		return fmt.Sprintf("%s is %s than %s on %s%s", name, e.Verdict, against, noun, interval)
	case try.Same:
		return fmt.Sprintf("%s and %s are the same within %s on %s%s", name, against, percent(r.Smallest), noun, interval)
	}
	text := fmt.Sprintf("%s cannot be told from %s on %s yet%s", name, against, noun, interval)
	// The trials agree, but are few for their test.
	if interval != "" && (e.Low > 1+r.Smallest || e.High < 1-r.Smallest) {
		text = fmt.Sprintf("%s seems to differ from %s on %s%s in too few blocks", name, against, noun,
			interval)
	}
	if r.Allowed > 0 {
		text = fmt.Sprintf("%s cannot be held against the %s allowed on %s yet%s", name, percent(r.Allowed), noun, interval)
	}
	if e.More > 0 && e.More < moreMax {
		text += fmt.Sprintf("; about %s would decide", plural(e.More, "more block"))
	}
	return text
}

// moreMax is from when "so many more blocks" is no advice any more.
const moreMax = 1000

// experimentLimits says what was flipped and put back, and what limits the answer.
func (p *page) experimentLimits(r *try.Result) {
	for _, line := range settingLines(r) {
		p.entry("setting", line, dim, plain)
	}
	for _, line := range driftLines(r) {
		p.entry("drift", line, dim, plain)
	}
	for _, warning := range r.Warnings {
		p.entry("warning", visible(warning, sentenceRunesMax), dim, plain)
	}
	for _, blind := range r.BlindSpots {
		p.entry("blind spot", visible(blind, sentenceRunesMax), dim, plain)
	}
	p.entry("trials", trialsSentence(r), dim, dim)
	p.reportLine(filepath.Join(r.Dir, "report.html"))
}

func settingLines(r *try.Result) []string {
	var lines []string
	for _, setting := range r.Settings {
		state := "put back"
		if !setting.Restored {
			state = "NOT PUT BACK: is " + visible(setting.Now, 80)
		}
		lines = append(lines, fmt.Sprintf("%s was %s, tried %s: %s", visible(setting.Name, 80),
			visible(setting.Original, 80), visible(strings.Join(setting.Tried, ", "), 200), state))
	}
	return lines
}

func driftLines(r *try.Result) []string {
	var lines []string
	for _, drift := range r.Drift {
		lines = append(lines, fmt.Sprintf("%s is %s, was %s before (not by culprit)", visible(drift.Name, 80),
			visible(drift.After, 80), visible(drift.Before, 80)))
	}
	return lines
}

func trialsSentence(r *try.Result) string {
	return fmt.Sprintf("%s in %s, %d left out as disturbed; design %s, seed %d; intervals hold with 95 %% for "+
		"all comparisons together (that of \"the same\" with 90 %%)", plural(len(r.Trials), "trial"),
		amount(r.ElapsedS, "s"), r.Excluded, r.Design, r.Seed)
}

// Rehearsal writes what an experiment would do.
func Rehearsal(w io.Writer, r *try.Rehearsal) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "Nothing was run and nothing changed. Design %s, budget %s, at least %s to decide.\n", r.Design,
		amount(r.BudgetS, "s"), plural(r.Needs, "block"))
	for _, setting := range r.Settings {
		wait := ""
		if setting.WashOutS > 0 {
			wait = "; " + amount(setting.WashOutS, "s") + " to wash out"
		}
		fmt.Fprintf(&out, "flip      %s: now %s, then %s, then back (%s%s; %s)\n", visible(setting.Name, 80),
			visible(setting.Current, 80), visible(strings.Join(setting.Levels, ", "), 200), setting.Effect, wait, setting.Path)
	}
	for i, condition := range r.Conditions {
		fmt.Fprintf(&out, "%-9s %s: %s\n", "run "+mark(i), visible(condition.Label, 80), visible(condition.Command, 300))
	}
	fmt.Fprintf(&out, "order     of the first block: %s\n", visible(strings.Join(r.FirstBlock, ", "), 400))
	for _, asked := range r.Comparisons {
		fmt.Fprintf(&out, "compare   %s: %s against %s\n", visible(asked.Factor, 80), visible(asked.Level, 80),
			visible(asked.Against, 80))
	}
	if _, err := w.Write([]byte(strings.ReplaceAll(out.String(), space, " "))); err != nil {
		return fmt.Errorf("write rehearsal: %w", err)
	}
	return nil
}
