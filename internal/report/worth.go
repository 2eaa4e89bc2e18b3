package report

import (
	"fmt"
	"io"
	"strings"

	"culprit/internal/worth"
)

// Worth writes what a change costs and saves at each load, its break-even, the saving and the
// scaling law.
func Worth(w io.Writer, a *worth.Answer, opts TextOptions) error {
	p := newPage(opts)
	p.breakEven(a)
	p.saving(a)
	for _, scaling := range a.Scaling {
		p.scaling(a, scaling)
	}
	p.notes("warning", a.Warnings)
	if _, err := w.Write(p.out.Bytes()); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

// weighedText formats a mean with its bounds in one unit.
func weighedText(i worth.Interval, unit string) string {
	s := scaleFor(unit, i.Value, i.Low, i.High)
	return fmt.Sprintf("%s (95 %% between %s and %s)", withUnit(digits(i.Value*s.factor), s.unit),
		digits(i.Low*s.factor), digits(i.High*s.factor))
}

func (p *page) breakEven(a *worth.Answer) {
	if a.BreakEven == nil {
		return
	}
	name := visible(a.Change, nameRunesMax)
	label, style := "BREAK-EVEN", bold
	if !a.BreakEven.Found {
		label = "NO EVEN"
	}
	p.entry(label, a.BreakEven.Text, style, bold)
	p.entry("", fmt.Sprintf("A is %s=%s, B is %s=%s; load is %s; %d blocks", name, visible(a.A, nameRunesMax), name,
		visible(a.B, nameRunesMax), visible(a.Load, nameRunesMax), a.Blocks), plain, dim)
	p.blank()
	unit := visible(a.Unit, nameRunesMax)
	p.entry("load", "A → B, what B costs ("+visible(a.Metric, nameRunesMax)+")", dim, dim)
	for _, level := range a.Levels {
		style := plain
		switch level.Verdict {
		case worth.Worse:
			style = orange
		case worth.Better:
			style = blue
		}
		p.entry(digits(level.Load), fmt.Sprintf("%s, %s: %s", change(level.A, level.B, unit),
			weighedText(level.Difference, unit), level.Verdict), plain, style)
	}
}

func (p *page) saving(a *worth.Answer) {
	lines := savingLines(a)
	if len(lines) > 0 {
		p.blank()
	}
	for _, line := range lines {
		style := plain
		if line.label == "saving" {
			style = bold
		}
		p.entry(line.label, line.text, bold, style)
	}
}

// labelled is a line with what stands before it.
type labelled struct{ label, text string }

// savingLines say what a change saves on a host and over a fleet.
func savingLines(a *worth.Answer) []labelled {
	s := a.Saving
	if s == nil {
		return nil
	}
	words := map[string]string{worth.Better: "B saves", worth.Worse: "B costs", worth.Undecided: "undecided: B saves"}
	each, sign := s.PerHost, 1.0
	if s.Verdict == worth.Worse {
		each, sign = negated(each), -1
	}
	text := fmt.Sprintf("%s %s per host at these loads: %s", words[s.Verdict], weighedText(each, a.Unit),
		loadsText(s.Loads))
	if s.Relative != nil {
		text += "; that is " + percent(sign*s.Relative.Value) + " of A"
	}
	lines := []labelled{{"saving", text}}
	if s.Fleet == nil {
		return lines
	}
	verb, turn := "saves", func(i worth.Interval) worth.Interval { return i }
	if s.Verdict == worth.Worse {
		verb, turn = "costs", negated
	}
	lines = append(lines, labelled{"fleet", fmt.Sprintf("of %s hosts: %s %s", digits(s.Fleet.Hosts), verb,
		weighedText(turn(s.Fleet.Cores), "cores"))})
	if s.Fleet.EnergyPerYear != nil {
		lines = append(lines, labelled{"", verb + " in a year " + weighedText(turn(*s.Fleet.EnergyPerYear), "kWh")})
	}
	if s.Fleet.MoneyPerYear != nil {
		lines = append(lines, labelled{"", verb + " in a year " + weighedText(turn(*s.Fleet.MoneyPerYear), "") +
			", in the unit of the prices"})
	}
	return lines
}

func negated(i worth.Interval) worth.Interval {
	return worth.Interval{Value: -i.Value, Low: -i.High, High: -i.Low}
}

func loadsText(loads []worth.Load) string {
	var parts []string
	for _, load := range loads {
		parts = append(parts, fmt.Sprintf("%s for %s of the time", digits(load.Load), percent(load.Share)))
	}
	return strings.Join(parts, ", ")
}

// scalingHead says how far more workers help.
func scalingHead(a *worth.Answer, s worth.Scaling) string {
	side := ""
	if s.Side != "" {
		side = " with " + visible(a.Change, nameRunesMax) + "=" + visible(s.Side, nameRunesMax)
	}
	peak := "more always help, by the law"
	switch {
	case s.Law == nil:
		peak = visible(s.Unfitted, sentenceRunesMax)
	case s.Coherence == nil:
		few, many := s.Fitted()
		peak = fmt.Sprintf("with %s it is %s that with %s", digits(many.Workers), times(many.Measured/few.Measured),
			digits(few.Workers))
	case s.Peak > 0:
		peak = fmt.Sprintf("the most is reached with %s", digits(s.Peak))
	}
	return fmt.Sprintf("of %s with %s%s: %s", visible(s.Metric, nameRunesMax), visible(a.Load, nameRunesMax), side, peak)
}

// scalingTerms are the terms of the law with their intervals; "" where none was fitted.
func scalingTerms(s worth.Scaling) string {
	switch {
	case s.Law == nil || s.Contention == nil:
		return ""
	case s.Coherence == nil:
		return "contention and coherence together, as contention: " + term(*s.Contention)
	}
	return fmt.Sprintf("contention %s, coherence %s", term(*s.Contention), term(*s.Coherence))
}

func (p *page) scaling(a *worth.Answer, s worth.Scaling) {
	p.blank()
	p.entry("SCALING", scalingHead(a, s), bold, bold)
	if terms := scalingTerms(s); terms != "" {
		p.entry("", terms, plain, plain)
	}
	for i := range s.Levels {
		level := &s.Levels[i]
		text := fmt.Sprintf("%s of %s expected (%s)", digits(level.Measured), digits(level.Perfect),
			percent(level.Measured/level.Perfect))
		if level.Beyond {
			text += " of all CPUs"
		}
		if level.Law > 0 {
			text += "; the law says " + digits(level.Law)
		}
		if level.CPUCost > 0 {
			text += fmt.Sprintf("; a unit of work takes %s the CPU time", times(level.CPUCost))
		}
		p.entry(digits(level.Workers), text, plain, plain)
	}
	if text := lossText[s.Loss]; text != "" {
		p.entry("loss", text, plain, plain)
	}
}

// lossText says what a loss comes from, and what tells more.
var lossText = map[worth.Loss]string{
	worth.LossDearer: "the same work takes more CPU time beside others: they share cache lines, memory bandwidth, a " +
		"core or a lock that spins. Investigate the command with few against many, the same work on both sides, by " +
		"--metric cpu",
	worth.LossWaits: "workers wait: for locks, limits, input and output, or for CPUs that others use. Investigate the " +
		"command with few against many, the same work on both sides, by --metric wall",
}

// term is a part of one, with its interval.
func term(i worth.Interval) string {
	return fmt.Sprintf("%.4g (95 %% between %.4g and %.4g)", i.Value, i.Low, i.High)
}
