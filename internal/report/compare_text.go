package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/rivo/uniseg"

	"culprit/internal/cause"
	"culprit/internal/compare/perrun"
	"culprit/internal/compare/rank"
	"culprit/internal/investigate"
	"culprit/internal/stat"
)

const (
	comparedItems  = 14 // rows of the table; JSON and the page have all
	comparedBeside = 6
	// Items whose change is less than this part of the metric in A are left to the page, but for
	// the first few.
	comparedLeast  = 0.002
	comparedFewest = 3
	// callsLeast is the part of the metric in A from which on more calls are told from dearer ones.
	callsLeast = 0.05
)

// ComparisonText writes a comparison for a person at a terminal: the answer, the ranking with A and
// B side by side, the suspects, and what limits it. Page is where the HTML page is, "" for none.
func ComparisonText(w io.Writer, c *Comparison, opts TextOptions) error {
	if opts.Width <= 0 {
		opts.Width = widthDefault
	}
	p := &page{width: min(max(opts.Width, widthMin), widthDefault), colour: opts.Colour}
	p.comparedVerdict(c)
	p.comparedRequests(c)
	p.comparedTable(c)
	p.comparedSuspects(c)
	p.blank()
	p.notes("warning", c.Warnings)
	p.notes("blind spot", c.BlindSpots)
	if opts.Report != "" {
		fmt.Fprintf(&p.out, "%s %s\n", p.style(fmt.Sprintf("%-*s", labelWidth, "report"), dim), visible(opts.Report, 4096))
	}
	if _, err := w.Write(p.out.Bytes()); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

func (p *page) comparedVerdict(c *Comparison) {
	styles := map[investigate.Outcome]string{investigate.Worse: orange, investigate.Better: blue}
	style := styles[c.Outcome]
	if style == "" {
		style = bold
	}
	p.entry(strings.ToUpper(string(c.Outcome)), c.headline(), style, bold)
	p.entry("", c.detail(), plain, plain)
	p.entry("", c.seen(), plain, dim)
	titleA, titleB := c.titles()
	p.entry("A", visible(titleA, nameRunesMax), blue, plain)
	p.entry("B", visible(titleB, nameRunesMax), orange, plain)
	if c.Differs != nil {
		p.differs(differsLine(c.Differs))
	}
	if c.FailOver != nil {
		p.entry("limit", fmt.Sprintf("fails when the interval's lower end is over +%s", percent(*c.FailOver)), dim, plain)
	}
}

// The columns of the table: mark, signal, name, A, B, change, share.
const (
	signalColumns = 9
	numberColumns = 9
	shareColumns  = 17
)

func (p *page) nameColumns() int {
	return p.width - 2 - signalColumns - 3*(numberColumns+1) - shareColumns - 2
}

func (p *page) comparedTable(c *Comparison) {
	p.blank()
	p.row("", "signal", "where it went", "A", "B", "change", "share of change", dim)
	whole, shown := stat.Average(c.Ranking.A), 0
	for i := range c.Ranking.Items {
		item := &c.Ranking.Items[i]
		small := math.Abs(item.Change.Value) < comparedLeast*whole
		if shown == comparedItems || small && shown >= comparedFewest {
			break
		}
		shown++
		p.comparedItem(c, item)
	}
	if rest := len(c.Ranking.Items) - shown; rest > 0 {
		p.row("", "", fmt.Sprintf("and %s with less", plural(rest, "item")), "", "", "", "", dim)
	}
	p.comparedBeside(c)
	p.entry("", "▲ more in B, ▼ less in B, · cannot be told from no change; + only B has it, − only A; seconds of "+
		metricNoun(c.Ranking.Metric)+" per "+c.Ranking.Per.Name, plain, dim)
}

// comparedItem writes one row and, where calls were counted, whether there were more or dearer
// ones.
func (p *page) comparedItem(c *Comparison, item *rank.Item) {
	mark, style := markOf(item)
	scale := scaleFor(item.Unit, item.A, item.B)
	number := func(value float64) string { return digits(value*scale.factor) + shortUnit(scale.unit) }
	name := visible(item.Name, nameRunesMax)
	name += via(item.Where)
	if len(item.Merged) > 0 {
		name += " (with " + visible(strings.Join(item.Merged, ", "), nameRunesMax) + ")"
	}
	p.row(mark, item.Signal, name, number(item.A), number(item.B), plus(number(item.Change.Value)),
		shareCell(c, item), style)
	if calls := item.Calls; calls != nil && item.Signal == rank.SignalCall && math.Abs(item.OfA) >= callsLeast {
		p.row("", "", callsLine(calls, c.Ranking.Per.Name), "", "", "", "", dim)
	}
}

// callsLine says whether something was done more often, or each time at a higher cost.
func callsLine(calls *perrun.Calls, per string) string {
	text := fmt.Sprintf("  %s calls/%s × %s", change(calls.A, calls.B, ""), per, change(calls.CostA, calls.CostB, "s"))
	often, dearer := calls.Often.Value, calls.Dearer.Value
	if all := math.Abs(often) + math.Abs(dearer); all > 0 {
		text += fmt.Sprintf(": %s of it by number, %s by cost", percent(math.Abs(often)/all), percent(math.Abs(dearer)/all))
	}
	return text
}

func plus(number string) string {
	if strings.HasPrefix(number, "−") || strings.HasPrefix(number, "0") && strings.Trim(number, "0. smµn") == "" {
		return number
	}
	return "+" + number
}

func shortUnit(unit string) string {
	if unit == "" {
		return ""
	}
	return " " + unit
}

func markOf(item *rank.Item) (mark, style string) {
	switch {
	case !item.Decided:
		return "·", dim
	case item.Change.Value > 0:
		mark, style = "▲", orange
	default:
		mark, style = "▼", blue
	}
	if item.New() {
		mark += "+"
	} else if item.Gone() {
		mark += "−"
	}
	return mark, style
}

// shareCell is the share with its interval; where the metric's change is unknown, the part of A's
// time instead.
func shareCell(c *Comparison, item *rank.Item) string {
	if item.Signal == rank.SignalCounted {
		return ""
	}
	if !item.ShareKnown || c.Outcome == investigate.Undecided || c.Outcome == investigate.Same {
		return signed(item.OfA) + " of A"
	}
	return fmt.Sprintf("%s (%s…%s)", percent(item.Share.Value), bare(item.Share.Low), bare(item.Share.High))
}

// bare is a percentage without its sign.
func bare(fraction float64) string { return strings.TrimSuffix(percent(fraction), space+"%") }

// comparedBeside writes what was counted and has no seconds of its own.
func (p *page) comparedBeside(c *Comparison) {
	shown := 0
	for i := range c.Ranking.Beside {
		item := &c.Ranking.Beside[i]
		if shown == comparedBeside || !item.Decided {
			break
		}
		if item.New() || item.Gone() || math.Abs(item.OfA) >= c.Smallest {
			shown++
		} else {
			continue // a count that hardly varies is decided by next to nothing
		}
		mark, style := markOf(item)
		scale := scaleFor(item.Unit, item.A, item.B)
		unit := ""
		if item.Unit == "bytes" || item.Unit == "s" {
			unit = shortUnit(scale.unit)
		}
		ratio := ""
		if item.A > 0 && item.B > 0 {
			ratio = times(item.B / item.A)
		}
		p.row(mark, item.Signal, visible(item.Name, nameRunesMax), digits(item.A*scale.factor)+unit,
			digits(item.B*scale.factor)+unit, ratio, "", style)
	}
}

// row writes one line of the table; a name that is too long loses its end.
func (p *page) row(mark, signal, name, a, b, difference, share, style string) {
	room := p.nameColumns()
	if a == "" && b == "" {
		room = p.width - 3 - signalColumns
	}
	line := fmt.Sprintf("%s %s%s %s %s %s  %s", pad(mark, 2), pad(signal, signalColumns), pad(name, room),
		right(a, numberColumns), right(b, numberColumns), right(difference, numberColumns), share)
	line = strings.TrimRight(strings.ReplaceAll(line, space, " "), " ")
	fmt.Fprintf(&p.out, "%s\n", p.style(line, style))
}

// pad fills or cuts text to a number of columns.
func pad(text string, columns int) string {
	if uniseg.StringWidth(text) > columns {
		text = cut(text, max(columns-1, 1))[0] + "…"
	}
	return text + strings.Repeat(" ", max(0, columns-uniseg.StringWidth(text)))
}

func right(text string, columns int) string {
	return strings.Repeat(" ", max(0, columns-uniseg.StringWidth(text))) + text
}

func (p *page) comparedSuspects(c *Comparison) {
	p.blank()
	if len(c.Suspects) == 0 {
		text := "none: no cause of the catalogue explains enough of the change"
		if c.ByParts() {
			text = "not looked for: parts of a profile have no total that could be explained"
		} else if c.Ranking.Known && (c.Outcome == investigate.Same || c.Outcome == investigate.Undecided) {
			text = "none: there is no difference to explain"
		}
		p.entry("suspects", text, bold, plain)
		return
	}
	shown := c.asCase()
	p.first(shown, c.Suspects[0])
	for i, suspect := range c.Suspects[1:min(len(c.Suspects), suspectsMax)] {
		p.entry(fmt.Sprintf("suspect %d", i+2), inShort(shown, suspect)+placeOf(&suspect, p.width/2)+
			followsShort(suspect.Follows), dim, plain)
	}
}

func placeOf(suspect *cause.Suspect, limit int) string {
	if len(suspect.Where) == 0 {
		return ""
	}
	return " · " + visiblePath(suspect.Where[0], limit)
}
