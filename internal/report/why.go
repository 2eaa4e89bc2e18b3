package report

import (
	"fmt"
	"io"

	"culprit/internal/cause"
	"culprit/internal/investigate"
)

// Why writes how a verdict came about: what was recognised, which rule gave, moved or took how much, what ordered the
// suspects, and what would have made the second one the first.
func Why(w io.Writer, c *investigate.Case, opts TextOptions) error {
	if opts.Width <= 0 {
		opts.Width = widthDefault
	}
	p := &page{width: min(max(opts.Width, widthMin), widthMax), colour: opts.Colour}
	p.why(c)
	if _, err := w.Write(p.out.Bytes()); err != nil {
		return fmt.Errorf("write why: %w", err)
	}
	return nil
}

func (p *page) why(c *investigate.Case) {
	why := c.Why
	if why == nil || why.Growth == 0 {
		p.entry("why", "nothing was judged: "+nothingJudged(c), bold, plain)
		return
	}
	unit := c.Metric.Unit
	p.entry("why", fmt.Sprintf("%s per %s had to be explained; %s of it is nobody's", amount(why.Growth, unit), perOf(c),
		amount(why.Nobody, unit)), bold, bold)
	p.blank()
	p.steps(why)
	p.blank()
	p.order(c, why)
}

// nothingJudged says why a case has no ledger.
func nothingJudged(c *investigate.Case) string {
	switch c.Outcome {
	case investigate.Same, investigate.Undecided:
		return "no change was shown that could have a cause"
	}
	return "there was no evidence, or the recorded runs changed the other way"
}

// actions are what the entries of the ledger did, in the reader's words.
var actions = map[cause.Action]string{cause.Gave: "gave", cause.Moved: "moved", cause.TookBack: "took back",
	cause.Passed: "passed over"}

func (p *page) steps(why *cause.Why) {
	for i, entry := range why.Entries {
		label := ""
		if i == 0 {
			label = "recognised"
		}
		text := fmt.Sprintf("%-26s %-11s %9s  %s", visible(string(entry.Rule), nameRunesMax), actions[entry.Action],
			fmt.Sprintf("%+.3g s", entry.Seconds), entry.Cause)
		for _, from := range entry.From {
			text += ", from " + string(from)
		}
		if entry.Because != "" {
			text += ": " + entry.Because
		}
		p.entry(label, text, dim, plain)
	}
}

func (p *page) order(c *investigate.Case, why *cause.Why) {
	p.entry("order", "by what each surely accounts for", dim, plain)
	for _, suspect := range c.Suspects {
		p.entry("", fmt.Sprintf("%-26s %.0f %% (%.0f to %.0f)", suspect.Cause, 100*suspect.Share.Value,
			100*suspect.Share.Low, 100*suspect.Share.High), plain, plain)
	}
	for _, move := range why.Moves {
		p.entry("moved", fmt.Sprintf("%s: %s before %s, because %s", move.Rule, move.First, move.Before, move.Because), dim,
			plain)
	}
	if why.Second != nil {
		p.entry("second", fmt.Sprintf("%s: %s", why.Second.Cause, why.Second.Needs), dim, plain)
	}
}
