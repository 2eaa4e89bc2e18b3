package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"culprit/internal/cause"
	"culprit/internal/investigate"

	"github.com/rivo/uniseg"
)

// Why writes how a verdict came about: what was recognised, which rule gave, moved or took back how
// much, what ordered the suspects, what became none, and what would have made the second one the
// first.
func Why(w io.Writer, c *investigate.Case, opts TextOptions) error {
	if c == nil {
		return fmt.Errorf("write why: no case given")
	}
	p := newPage(opts)
	p.why(c)
	if _, err := w.Write(p.out.Bytes()); err != nil {
		return fmt.Errorf("write why: %w", err)
	}
	return nil
}

// whyWords is what the terminal and the page say alike of how the suspects came about.
type whyWords struct {
	Head      string   `json:"head"`   // what is divided
	Rest      string   `json:"rest"`   // of what no claim got
	Passed    []string `json:"passed"` // what was recognised and is worth no claim, by reasons
	OrderedBy string   `json:"ordered_by"`
}

// wordsOfWhy is nil where a case has no ledger: where nothing was recorded, and in cases of the
// first schema.
func wordsOfWhy(c *investigate.Case) *whyWords {
	if c.Why == nil || !finite(c.Why.Growth) || c.Why.Growth == 0 {
		return nil
	}
	words := &whyWords{Head: whyHead(c), Rest: "to nobody", Passed: passedOver(c.Why)}
	if c.Why.Nobody < 0 {
		words.Rest += ": what no claim got became cheaper"
	}
	words.OrderedBy = orderedBy(c)
	return words
}

func (p *page) why(c *investigate.Case) {
	words := wordsOfWhy(c)
	if words == nil {
		p.entry("why", nothingJudged(c), bold, plain)
		return
	}
	p.entry("why", words.Head, bold, bold)
	p.blank()
	p.steps(c.Why, words)
	p.blank()
	p.order(c, words)
	p.apart(c.Why)
}

// whyHead says what the rules divide.
func whyHead(c *investigate.Case) string {
	of := ""
	if noun := metricNoun(c.Metric.Name); c.Metric.Unit == "s" {
		of = " of " + noun
	}
	text := amount(c.Why.Growth, "s") + of + " per " + perOf(c)
	if c.B == nil {
		return text + " to be divided among causes"
	}
	return text + " more on the dearer side, to be divided among causes"
}

// nothingJudged says why a case has no ledger.
func nothingJudged(c *investigate.Case) string {
	switch c.Outcome {
	case investigate.Same:
		return "nothing was judged: there is no difference to explain"
	case investigate.Undecided:
		return "nothing was judged: whether there is a difference is not decided"
	}
	return "nothing was judged: nothing was recorded, what was recorded changed the other way, or " +
		"the case is of a culprit that did not keep it"
}

// steps writes the ledger, an entry a line; what was recognised and is worth no claim follows in
// short.
func (p *page) steps(why *cause.Why, words *whyWords) {
	label := "recognised"
	for _, entry := range why.Entries {
		if entry.Action != cause.Passed {
			p.numbered(label, amount(entry.Seconds, "s"), visible(string(entry.Action), 20), actionWidth,
				entryText(entry, p.width))
			label = ""
		}
	}
	p.numbered(label, amount(why.Nobody, "s"), "left", actionWidth, words.Rest)
	for _, group := range words.Passed {
		p.entry("passed", group, dim, plain)
	}
}

// entryText says to or from which cause, by which rule, and why: `to timer.ticker (tick) from
// lock.contended, by the rule "ticker": …`.
func entryText(entry cause.Entry, width int) string {
	text := "to "
	if entry.Action == cause.TookBack {
		text = "from "
	}
	text += named(entry.Cause, entry.Place, width)
	for i, from := range entry.From {
		text += []string{" from ", " and "}[min(i, 1)] + visible(string(from), 60)
	}
	text += ", by " + ruleText(entry.Rule)
	if entry.Because != "" {
		text += ": " + visible(entry.Because, sentenceRunesMax)
	}
	return text
}

func ruleText(rule cause.Rule) string { return `the rule "` + visible(string(rule), 60) + `"` }

// passedOver names what was recognised and is worth no claim, all of one reason in one text.
func passedOver(why *cause.Why) []string {
	reasons, groups := []string{}, []string{}
	for _, entry := range why.Entries {
		if entry.Action != cause.Passed {
			continue
		}
		text := visible(string(entry.Rule), 60) + space + amount(entry.Seconds, "s")
		if at := slices.Index(reasons, entry.Because); at >= 0 {
			groups[at] += ", " + text
			continue
		}
		reasons = append(reasons, entry.Because)
		because := visible(entry.Because, sentenceRunesMax)
		groups = append(groups, "recognised, but "+because+": "+text)
	}
	return groups
}

// order writes the suspects in their order, and what moved them.
func (p *page) order(c *investigate.Case, words *whyWords) {
	if len(c.Suspects) == 0 {
		p.entry("order", "no claim became a suspect", dim, plain)
	}
	for i, suspect := range c.Suspects {
		label, place := "", ""
		if i == 0 {
			label = "order"
		}
		if where := suspect.Where; len(where) > 0 {
			place = where[0]
		}
		p.numbered(label, percent(suspect.Share.Value), spread(suspect), spreadWidth,
			named(suspect.Cause, place, p.width))
	}
	p.entry("", words.OrderedBy, dim, dim)
	for _, move := range c.Why.Moves {
		first := named(move.First, move.FirstPlace, p.width)
		before := named(move.Before, move.BeforePlace, p.width)
		p.entry("moved", fmt.Sprintf("%s before %s, by %s: %s", first, before, ruleText(move.Rule),
			visible(move.Because, sentenceRunesMax)), dim, plain)
	}
}

// orderedBy says what puts suspects in order before any rule does; "" of a single one.
func orderedBy(c *investigate.Case) string {
	switch {
	case len(c.Suspects) < 2:
		return ""
	case !slices.ContainsFunc(c.Suspects, func(s cause.Suspect) bool { return spread(s) != "" }):
		return "by share: no interval is known"
	}
	return "by where the interval of each begins; those of less than 20 %, and those whose interval " +
		"begins below zero, come behind them, by share"
}

// spread is the interval of a suspect's share: "(84 % to 100 %)".
func spread(suspect cause.Suspect) string {
	low, high := suspect.Share.Low, suspect.Share.High
	switch {
	case !finite(low) || !finite(high) || low == high:
		return ""
	case low <= -1: // as shareOf has it
		return "(no useful one)"
	}
	return "(" + percent(low) + " to " + percent(high) + ")"
}

// apart writes what is no suspect after all, and what the second one lacks.
func (p *page) apart(why *cause.Why) {
	for i, left := range why.LeftOut {
		label := ""
		if i == 0 {
			label = "left out"
		}
		p.entry(label, named(left.Cause, left.Place, p.width)+": "+
			visible(left.Because, sentenceRunesMax), dim, plain)
	}
	if why.Second != nil {
		p.entry("second", named(why.Second.Cause, why.Second.Place, p.width)+": "+
			visible(why.Second.Needs, sentenceRunesMax), dim, plain)
	}
}

// named is a cause with its place.
func named(id cause.ID, place string, width int) string {
	text := visible(string(id), 60)
	if place == "" {
		return text
	}
	return text + " (" + visiblePath(place, width/2) + ")"
}

// The columns of a row, after its label.
const (
	numberWidth = 7
	actionWidth = 9
	spreadWidth = 16
)

// numbered writes a number, a remark of some columns and a text beside a label, the text wrapped
// under itself; on a narrow terminal all of it is one text.
func (p *page) numbered(label, number, remark string, columns int, text string) {
	beside := right(number, numberWidth) + "  " + pad(remark, columns) + "  "
	before := labelWidth + 1 + uniseg.StringWidth(beside)
	if p.width < 2*before {
		p.entry(label, number+" "+remark+" "+text, dim, plain)
		return
	}
	beside = strings.ReplaceAll(beside, space, " ")
	for _, line := range wrap(text, p.width-before) {
		fmt.Fprintf(&p.out, "%s %s%s\n", p.style(pad(label, labelWidth), dim), beside, line)
		label, beside = "", pad("", uniseg.StringWidth(beside))
	}
}
