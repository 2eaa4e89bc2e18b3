package report

import (
	"fmt"
	"io"
	"strings"

	"culprit/internal/try"
)

// Overhead writes for a person at a terminal what monitors cost a workload, against what is
// allowed.
func Overhead(w io.Writer, o *try.Overhead, opts TextOptions) error {
	p := newPage(opts)
	for _, cost := range o.Monitors {
		style := bold
		if cost.Verdict == try.Over {
			style = orange
		}
		p.entry(strings.ToUpper(cost.Verdict), visible(cost.Monitor, nameRunesMax), style, bold)
		for _, effect := range cost.Effects {
			p.entry("", costSentence(o, effect), plain, plain)
		}
		if cost.Findable > 0 {
			p.entry("", fmt.Sprintf("a cost of %s or more would have been told; the longer it is measured (--time), the less",
				costOfRatio(1+cost.Findable)), plain, plain)
		}
		p.entry("", ownSentence(o, cost), plain, dim)
	}
	for _, metric := range o.Experiment.Metrics {
		p.blank()
		p.levels(o.Experiment, metric)
	}
	p.blank()
	p.experimentLimits(o.Experiment)
	if _, err := w.Write(p.out.Bytes()); err != nil {
		return fmt.Errorf("write overhead: %w", err)
	}
	return nil
}

// ownSentence says what a monitor itself used, and what the workload paid for each context switch.
func ownSentence(o *try.Overhead, cost try.MonitorCost) string {
	per := "run"
	if o.Experiment.Design == try.Switchback {
		per = "second"
	}
	own := fmt.Sprintf("the monitor itself used %s of CPU a %s, %s of the workload's", amount(cost.OwnCPUS, "s"), per,
		percent(cost.OwnShare))
	if finite(cost.SwitchNS) && cost.SwitchNS > 0 {
		own += fmt.Sprintf("; the workload paid %s of CPU more for each context switch", amount(cost.SwitchNS/1e9, "s"))
	}
	return own
}

// costSentence holds one metric's cost against the budget.
func costSentence(o *try.Overhead, effect try.Effect) string {
	noun := metricNoun(effect.Metric)
	if !finite(effect.Ratio) || !finite(effect.Low) || !finite(effect.High) {
		return noun + ": unknown"
	}
	verdict := visible(effect.Verdict, 20)
	if effect.Verdict == try.Undecided {
		verdict = "cannot be held yet against"
	}
	if o.TooFew(effect) {
		verdict = "too few trials, give a longer --time, to hold it against"
	}
	return fmt.Sprintf("%s %s (95 %% between %s and %s): %s the %s allowed", noun, costOfRatio(effect.Ratio),
		costOfRatio(effect.Low), costOfRatio(effect.High), verdict, percent(o.Allowed))
}

// costOfRatio says a ratio as a cost: "+2.1 %", or "4.50×" where it is large.
func costOfRatio(ratio float64) string {
	if ratio >= 2 {
		return times(ratio)
	}
	return signed(ratio - 1)
}
