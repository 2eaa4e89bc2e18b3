package report

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"culprit/internal/cause"
	"culprit/internal/investigate"
)

// TextOptions says how the terminal is.
type TextOptions struct {
	Width  int    // columns; 0 means 100
	Colour bool   // use colour and bold
	Report string // where the page is; "" means report.html in the case directory
}

const (
	widthDefault = 100
	widthMin     = 40
	widthMax     = 140 // longer lines are hard to read
	labelWidth   = 10
	suspectsMax  = 6 // shown; the report has all
	itemsMax     = 8
	placesMax    = 3
	evidenceMax  = 3
	notesMax     = 8
)

// Text writes the verdict for a person at a terminal: the answer, the first
// suspect in full, the others in a line, then what limits the answer.
func Text(w io.Writer, c *investigate.Case, opts TextOptions) error {
	if c == nil {
		return fmt.Errorf("write verdict: no case given")
	}
	p, words := newPage(opts), verdictOf(c)
	p.verdict(c, words)
	p.differs(words.Differs)
	if c.B != nil && c.Profile == nil {
		p.entry("differs", differsUnknown, bold, plain)
	}
	p.suspects(c)
	p.alsoSeen(words.AlsoSeen)
	p.limits(c, words)
	p.place(c, opts)
	if _, err := w.Write(p.out.Bytes()); err != nil {
		return fmt.Errorf("write verdict: %w", err)
	}
	return nil
}

// page collects lines of text.
type page struct {
	out    bytes.Buffer
	width  int
	colour bool
}

// The styles of text; nothing is said by colour alone.
const (
	plain  = ""
	bold   = "1"
	dim    = "2"
	orange = "1;33"
	blue   = "1;36"
)

func newPage(opts TextOptions) *page {
	if opts.Width <= 0 {
		opts.Width = widthDefault
	}
	return &page{width: min(max(opts.Width, widthMin), widthMax), colour: opts.Colour}
}

func (p *page) style(text, style string) string {
	if !p.colour || style == plain || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// entry writes text beside a label, wrapped under itself.
func (p *page) entry(label, text, labelStyle, textStyle string) {
	if text == "" {
		return
	}
	for i, line := range wrap(text, p.width-labelWidth-1) {
		if i > 0 {
			label = ""
		}
		padded := fmt.Sprintf("%-*s", labelWidth, label)
		fmt.Fprintf(&p.out, "%s %s\n", p.style(padded, labelStyle), p.style(line, textStyle))
	}
}

func (p *page) blank() { p.out.WriteByte('\n') }

func (p *page) verdict(c *investigate.Case, words verdict) {
	labels := map[investigate.Outcome][2]string{
		investigate.Worse: {"WORSE", orange}, investigate.Better: {"BETTER", blue}, investigate.Same: {"SAME", bold},
		investigate.Undecided: {"UNDECIDED", bold}, investigate.Listed: {"LISTED", bold},
	}
	label, found := labels[c.Outcome]
	if !found {
		label = [2]string{"UNKNOWN", bold}
	}
	p.entry(label[0], words.Headline, label[1], bold)
	p.entry("", words.Detail, plain, plain)
	for _, other := range words.Others {
		p.entry("", other, plain, dim)
	}
	p.entry("", words.Next, plain, plain)
}

func (p *page) suspects(c *investigate.Case) {
	p.blank()
	if len(c.Suspects) == 0 {
		p.noSuspect(c)
		return
	}
	p.first(c, c.Suspects[0])
	if len(c.Suspects) == 1 {
		return
	}
	p.blank()
	for i, suspect := range c.Suspects[1:min(len(c.Suspects), suspectsMax)] {
		place := ""
		if len(suspect.Where) > 0 {
			place = " · " + visiblePath(suspect.Where[0], p.width/2)
		}
		p.entry(fmt.Sprintf("suspect %d", i+2), inShort(c, suspect)+place+followsShort(suspect.Follows), dim, plain)
	}
	if more := len(c.Suspects) - suspectsMax; more > 0 {
		p.entry("", fmt.Sprintf("and %s in the report", plural(more, "more suspect")), dim, dim)
	}
}

func (p *page) alsoSeen(lines []string) {
	if len(lines) > 0 {
		p.blank()
	}
	for i, line := range lines {
		label := "also seen"
		if i > 0 {
			label = ""
		}
		p.entry(label, line, dim, plain)
	}
}

func (p *page) noSuspect(c *investigate.Case) {
	if decided := c.Outcome != investigate.Same && c.Outcome != investigate.Undecided; decided && c.Profile == nil {
		p.entry("suspects", "not looked for: nothing was recorded", bold, plain)
		return
	}
	switch c.Outcome {
	case investigate.Same:
		p.entry("suspects", "none: there is no difference to explain", bold, plain)
	case investigate.Undecided:
		text := "not looked for: whether there is a difference is not decided"
		if c.Profile == nil {
			p.entry("suspects", text, bold, plain)
			return
		}
		p.entry("suspects", text+"; what was recorded differs most in", bold, plain)
		p.items(c)
	case investigate.Listed:
		p.entry("costs most", "no cause of the catalogue matches; the largest amounts are", bold, plain)
		p.items(c)
	default:
		p.entry("suspects", "none: no cause of the catalogue explains enough; the largest differences are", bold, plain)
		p.items(c)
	}
}

func (p *page) items(c *investigate.Case) {
	shown := 0
	for _, item := range c.Items {
		if shown == itemsMax {
			break
		}
		if !item.Decided && c.B != nil && c.Outcome != investigate.Undecided {
			continue
		}
		shown++
		text := visible(item.Signal, 20) + " " + visiblePath(item.Name, p.width/2) + via(item.Where) + "  "
		if c.B == nil {
			text += amount(item.A, item.Unit)
		} else {
			text += change(item.A, item.B, item.Unit)
		}
		p.entry("", text, plain, plain)
	}
	if shown == 0 {
		p.entry("", "nothing that can be told from zero", plain, dim)
	}
}

// via is the program's own function behind an item, as the table of compare shows it.
func via(where string) string {
	if where == "" {
		return ""
	}
	return " ‹ " + visible(where, nameRunesMax)
}

func (p *page) first(c *investigate.Case, suspect cause.Suspect) {
	p.entry("suspect 1", inShort(c, suspect), orange, bold)
	p.entry("", visible(suspect.Claim, sentenceRunesMax), plain, plain)
	label := "where"
	for i, place := range suspect.Where {
		if i >= placesMax && (i >= len(suspect.Places) || suspect.Places[i].Role != cause.HeldIn) {
			continue // of those behind only who held the lock is told here
		}
		p.entry(label, visiblePath(place, p.width*3/2), dim, plain)
		label = ""
	}
	for i, evidence := range suspect.Evidence[:min(len(suspect.Evidence), evidenceMax)] {
		label := "seen"
		if i > 0 {
			label = ""
		}
		p.entry(label, evidenceLine(c, evidence), dim, plain)
	}
	p.sharedLine(suspect.Line)
	p.entry("predicted", predictionLine(c, suspect.Prediction), dim, plain)
	p.entry("follows", followsLine(suspect.Follows), dim, plain)
	for _, against := range suspect.Against {
		p.entry("against", visible(against, sentenceRunesMax), dim, plain)
	}
	label = "remedy"
	if suspect.Gain {
		label = "holds"
	}
	p.entry(label, visible(suspect.Remedy, sentenceRunesMax), dim, bold)
	p.entry("price", priceLine(suspect.Price), dim, bold)
	if suspect.Proof != nil {
		p.entry("proof", proofLine(c.Metric, *suspect.Proof), dim, plain)
	}
}

// limits writes what bounds the answer: footnotes, never left out.
func (p *page) limits(c *investigate.Case, words verdict) {
	p.blank()
	p.entry("left out", words.LeftOut.String(), dim, plain)
	p.notes("warning", c.Warnings)
	p.notes("blind spot", c.BlindSpots)
	for i, line := range words.Cost {
		label := "recording"
		if i > 0 {
			label = ""
		}
		p.entry(label, line, dim, dim)
	}
}

func (p *page) notes(label string, notes []string) {
	for i, note := range notes {
		if i == notesMax {
			p.entry("", fmt.Sprintf("and %d more in the report", len(notes)-notesMax), dim, dim)
			return
		}
		if i > 0 {
			label = ""
		}
		p.entry(label, visible(note, sentenceRunesMax), dim, plain)
	}
}

func (p *page) place(c *investigate.Case, opts TextOptions) {
	report := opts.Report
	if report == "" && c.Dir != "" {
		report = filepath.Join(c.Dir, "report.html")
	}
	if report == "" {
		return
	}
	p.reportLine(report)
}

// reportLine says where the page is. Not wrapped: a path is there to be copied.
func (p *page) reportLine(path string) {
	fmt.Fprintf(&p.out, "%s %s\n", p.style(fmt.Sprintf("%-*s", labelWidth, "report"), dim), visible(path, 4096))
}
