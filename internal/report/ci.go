package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"culprit/internal/cause"
	"culprit/internal/ci"
	"culprit/internal/investigate"
)

// CIOptions say where a summary points to.
type CIOptions struct {
	Picture string // address or path of the picture; "" for none
	Page    string // of the whole case; "" for none
}

// Limits of a summary: hosted services cut comments at 65,536 characters.
const (
	ciSuspects = 3
	ciPlaces   = 2
	ciNotes    = 10
	ciRunes    = 160 // of a command or a place
	ciStrip    = 48  // columns of the picture in text
)

// CISummary writes a check as Markdown that can be put into a comment as it is.
func CISummary(w io.Writer, r *ci.Result, options CIOptions) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "### culprit: %s\n\n%s\n\n", ciTitle(r), ciAnswer(r))
	ciSides(&out, r)
	if len(r.Metrics) > 0 {
		ciTable(&out, r)
		ciDots(&out, r)
	}
	if options.Picture != "" && len(r.Metrics) > 0 {
		fmt.Fprintf(&out, "![a dot for each run, and the change with its interval](<%s>)\n\n", mdAddress(options.Picture))
	}
	for i, suspect := range r.Suspects[:min(len(r.Suspects), ciSuspects)] {
		ciSuspect(&out, i, suspect)
	}
	if r.Outcome == investigate.Worse && len(r.Suspects) == 0 {
		out.WriteString("No cause of the catalogue explains it; the report has the differences.\n\n")
	}
	ciFootnotes(&out, r, options)
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}

// CIDocument writes the result as one document; what is not known is null.
func CIDocument(w io.Writer, r *ci.Result) error { return ExperimentJSON(w, r) }

func ciTitle(r *ci.Result) string {
	switch r.Outcome {
	case investigate.Worse:
		return "worse by more than " + percent(r.FailOver)
	case ci.Refused:
		return "not judged"
	case investigate.Better, investigate.Same:
		return string(r.Outcome)
	}
	return string(investigate.Undecided)
}

// ciAnswer is the answer in a sentence.
func ciAnswer(r *ci.Result) string {
	if r.Outcome == ci.Refused {
		return mdText(r.Why, sentenceRunesMax) + "."
	}
	if len(r.Metrics) == 0 {
		return "Nothing was measured."
	}
	first := r.Metrics[0]
	switch r.Outcome {
	case investigate.Same:
		return fmt.Sprintf("B and A differ by less than %s.", percent(r.MustShow))
	case investigate.Undecided:
		return fmt.Sprintf("%s; whether that is more than %s is not decided.", span(first.Effect, first.Metric.Name),
			percent(r.FailOver))
	}
	return compared(first.Effect, first.Metric) + "."
}

func ciSides(out *bytes.Buffer, r *ci.Result) {
	fmt.Fprintf(out, "- **A** %s\n- **B** %s\n\n", mdCode(r.A, ciRunes), mdCode(r.B, ciRunes))
}

func ciTable(out *bytes.Buffer, r *ci.Result) {
	out.WriteString("| | A | B | change | |\n|---|--:|--:|--:|---|\n")
	for _, v := range r.Metrics {
		a, b := v.Kinds.Centre(v.MedianA, v.MedianB)
		unit := scaleFor(v.Metric.Unit, a, b)
		show := func(value float64) string { return withUnit(digits(value*unit.factor), unit.unit) }
		fmt.Fprintf(out, "| %s | %s | %s | %s (%s to %s) | %s |\n", mdText(metricNoun(v.Metric.Name), 60), show(a), show(b),
			signedRatio(v.Effect.Ratio), signedRatio(v.Effect.Low), signedRatio(v.Effect.High), v.Outcome)
	}
	out.WriteString("\n")
	for _, v := range r.Metrics {
		if v.Kinds == nil {
			continue
		}
		text := slowRuns(v.Kinds)
		if v.Kinds.Decides {
			text += "; the table has the means of all runs"
		}
		fmt.Fprintf(out, "%s: %s.\n\n", mdText(metricNoun(v.Metric.Name), 60), text)
	}
}

// signedRatio is a ratio as a change: "+5.1 %", "2.31×".
func signedRatio(ratio float64) string {
	if ratio >= farFrom || !finite(ratio) {
		return times(ratio)
	}
	return signed(ratio - 1)
}

// ciDots is the picture in text, for where none is shown.
func ciDots(out *bytes.Buffer, r *ci.Result) {
	out.WriteString("```text\n")
	for _, v := range r.Metrics {
		values := r.Values[v.Metric.Name]
		low, high := bounds(values.A, values.B)
		for i, side := range [][]float64{values.A, values.B} {
			label := ""
			if i == 0 {
				label = metricNoun(v.Metric.Name)
			}
			fmt.Fprintf(out, "%s %c %s\n", fit(mdFence(label), levelWidth), 'A'+rune(i),
				strings.TrimRight(strip(side, low, high, ciStrip), " "))
		}
		unit := scaleFor(v.Metric.Unit, low, high)
		left, right := withUnit(digits(low*unit.factor), unit.unit), withUnit(digits(high*unit.factor), unit.unit)
		gap := max(1, ciStrip-utf8.RuneCountInString(left)-utf8.RuneCountInString(right))
		fmt.Fprintf(out, "%s   %s%s%s\n", strings.Repeat(" ", levelWidth), left, strings.Repeat(" ", gap), right)
	}
	out.WriteString("```\n\n")
}

func ciSuspect(out *bytes.Buffer, i int, suspect cause.Suspect) {
	share := ""
	if finite(suspect.Share.Value) && suspect.Share.Value != 0 {
		share = ", " + percent(suspect.Share.Value) + " of the change"
		if finite(suspect.Share.Low) && finite(suspect.Share.High) && suspect.Share.Low > -1 {
			share += fmt.Sprintf(" (%s to %s)", percent(suspect.Share.Low), percent(suspect.Share.High))
		}
	}
	fmt.Fprintf(out, "**Suspect %d** %s%s, %s: %s\n", i+1, mdCode(string(suspect.Cause), 60), share,
		levelWord(suspect.Level), mdText(suspect.Claim, sentenceRunesMax))
	if i == 0 {
		for _, place := range suspect.Where[:min(len(suspect.Where), ciPlaces)] {
			fmt.Fprintf(out, "- where %s\n", mdCode(visiblePath(place, ciRunes), 2*ciRunes))
		}
		if suspect.Remedy != "" {
			fmt.Fprintf(out, "- remedy: %s\n", mdText(suspect.Remedy, sentenceRunesMax))
		}
	}
	out.WriteString("\n")
}

// ciFootnotes say what the answer rests on.
func ciFootnotes(out *bytes.Buffer, r *ci.Result, options CIOptions) {
	out.WriteString("<details><summary>What this host can show</summary>\n\n")
	of := "pairs of A against itself"
	if r.Batches > 0 {
		of = "stored batches"
	}
	for _, noise := range r.Noise {
		shows := "nothing"
		if noise.CanShow != nil {
			shows = "a change of " + percent(*noise.CanShow)
		}
		fmt.Fprintf(out, "- %s: %d %s differ by %s; in 4 of 5 such checks %s would fail\n",
			mdText(metricNoun(noise.Metric), 60), noise.Of, of, percent(noise.Spread), shows)
	}
	for _, note := range append(append([]string{}, r.LeftOut...), r.Warnings...)[:min(ciNotes, len(r.LeftOut)+
		len(r.Warnings))] {
		fmt.Fprintf(out, "- %s\n", mdText(note, sentenceRunesMax))
	}
	fmt.Fprintf(out, "- host: %s\n", mdText(hostLine(r.Host), sentenceRunesMax))
	if options.Page != "" {
		fmt.Fprintf(out, "- report: %s\n", mdCode(options.Page, 4*ciRunes))
	}
	out.WriteString("\n</details>\n")
}
