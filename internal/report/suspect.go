package report

import (
	"fmt"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/investigate"
)

// shareOf says how much a suspect accounts for: "93 % of the change (88 % to 97 %)".
func shareOf(c *investigate.Case, suspect cause.Suspect) string {
	whole := "the change"
	if c.B == nil {
		whole = metricNoun(c.Metric.Name)
	}
	share := suspect.Share
	if !finite(share.Value) || share == (compare.Interval{}) {
		return "share of " + whole + " unknown"
	}
	text := percent(share.Value) + " of " + whole
	// The recordings differ too much among themselves: the ends are where the sum was cut.
	if share.Low <= -1 {
		return text + " (with no useful interval)"
	}
	if finite(share.Low) && finite(share.High) && share.Low != share.High {
		text += fmt.Sprintf(" (%s to %s)", percent(share.Low), percent(share.High))
	}
	return text
}

// inShort names a suspect with its share and level.
func inShort(c *investigate.Case, suspect cause.Suspect) string {
	return visible(string(suspect.Cause), 60) + ", " + shareOf(c, suspect) + ", " +
		levelWord(suspect.Level)
}

// levelWord says what a level of evidence means to somebody who has not read the catalogue.
func levelWord(level cause.Level) string {
	switch level {
	case cause.Observed:
		return "observed, no more"
	case cause.Explains:
		return "explains"
	case cause.Predicted:
		return "predicted by count × cost"
	case cause.Proven:
		return "PROVEN by flipping it"
	case cause.Refuted:
		return "REFUTED: flipping it did not help"
	}
	return "level unknown"
}

func evidenceLine(c *investigate.Case, evidence cause.Evidence) string {
	text := visible(evidence.Text, sentenceRunesMax)
	if evidence.A == 0 && evidence.B == 0 {
		return text
	}
	if c.B == nil {
		return text + ": " + amount(evidence.A, evidence.Unit)
	}
	return text + ": " + change(evidence.A, evidence.B, evidence.Unit)
}

// proofLine says what flipping a knob showed.
func proofLine(metric investigate.Metric, proof cause.Proof) string {
	text := fmt.Sprintf("%s: %s from %s to %s in %s", visible(proof.Verdict, 20), visible(proof.Knob, 60),
		visible(proof.From, 60), visible(proof.To, 60), plural(proof.Trials, "trial"))
	if known(&proof.Effect) {
		effect := proof.Effect
		text += fmt.Sprintf(" made %s %s of what it was (%s between %s and %s)",
			metricNoun(metric.Name), times(effect.Ratio), confidence(effect), times(effect.Low), times(effect.High))
	}
	if proof.Why != "" {
		text += "; " + visible(proof.Why, sentenceRunesMax)
	}
	return text
}

// predictionLine says what count × cost gives beside what was observed: "3,000,000 × 229 ns = 687
// ms per run by number × cost here (clock read …), observed 720 ms: agrees"; of a floor, how much
// of what was observed it is; "" where nothing is predicted.
func predictionLine(c *investigate.Case, p *cause.Prediction) string {
	if p == nil || !finite(p.Predicted.Value) || !finite(p.Observed.Value) {
		return ""
	}
	least, agreement := "", "does not agree"
	if p.AtLeast {
		least = "at least "
	}
	switch {
	case p.Agrees && p.AtLeast && p.Predicted.Value < p.Observed.Value:
		agreement = percent(p.Predicted.Value/p.Observed.Value) + " of that"
	case p.Agrees:
		agreement = "agrees"
	}
	seen := amount(p.Observed.Value, "s")
	if finite(p.Observed.Low) && finite(p.Observed.High) && p.Observed.Low < p.Observed.High {
		seen += fmt.Sprintf(" (%s to %s)", amount(p.Observed.Low, "s"), amount(p.Observed.High, "s"))
	}
	return fmt.Sprintf("%s%s × %s = %s per %s by number × cost here (%s), observed %s: %s", least, digits(p.Count),
		amount(p.CostNs.Value/1e9, "s"), amount(p.Predicted.Value, "s"), perOf(c), visible(p.Operation, 100), seen,
		agreement)
}
