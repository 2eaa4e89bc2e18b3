package report

import (
	"fmt"
	"io"
	"strings"

	"culprit/internal/tail"
)

// Shown of a tail; its document has all.
const (
	slowestMax   = 10
	stretchesMax = 4
	restartsMax  = 5
)

// Tail writes why slow requests are slow.
func Tail(w io.Writer, r *tail.Result, opts TextOptions) error {
	p := newPage(opts)
	p.entry("TAIL", tailHeadline(r), bold, bold)
	p.tailSuspects(r)
	p.tailKinds(r)
	p.tailLines(r)
	p.tailLimits(r)
	if _, err := w.Write(p.out.Bytes()); err != nil {
		return fmt.Errorf("write tail: %w", err)
	}
	return nil
}

// tailHeadline is what was slow, in one sentence.
func tailHeadline(r *tail.Result) string {
	slow, all := int64(0), int64(0)
	for _, kind := range r.Requests {
		slow += kind.Slow.Count
		all += kind.Count
	}
	if all == 0 {
		return "no request was answered in " + amount(r.Seconds, "s")
	}
	text := fmt.Sprintf("%s of %s requests in %s were slow", digits(float64(slow)), digits(float64(all)),
		amount(r.Seconds, "s"))
	if r.Extra > 0 {
		text += ", those kept took " + amount(r.Extra, "s") + " more than ordinary ones together"
	}
	return text
}

func (p *page) tailSuspects(r *tail.Result) {
	p.blank()
	if len(r.Suspects) == 0 {
		p.entry("suspects", "none: "+r.Why, bold, plain)
		return
	}
	for i, suspect := range r.Suspects[:min(len(r.Suspects), suspectsMax)] {
		style := plain
		label := fmt.Sprintf("suspect %d", i+1)
		if i == 0 {
			style = bold
		}
		p.entry(label, fmt.Sprintf("%s: %s of the extra time (%s to %s), %s", suspect.Cause,
			percent(suspect.Share.Value), percent(suspect.Share.Low), percent(suspect.Share.High),
			plural(r.Stalls[i], "stall")), style, style)
		for _, where := range suspect.Where {
			p.entry("", visiblePath(where, p.width-labelWidth-2), plain, plain)
		}
		if i == 0 {
			p.entry("", suspect.Claim, plain, dim)
			p.entry("remedy", suspect.Remedy, dim, plain)
		}
	}
	if len(r.Same) > 0 {
		var words []string
		for _, same := range r.Same {
			words = append(words, same.Class)
		}
		p.entry("the same", strings.Join(words, ", "), dim, dim)
	}
}

func (p *page) tailKinds(r *tail.Result) {
	p.blank()
	var kinds []tail.Kind
	for _, kind := range r.Requests {
		kinds = append(kinds, kind.Kind)
	}
	if len(kinds) > 0 {
		p.requests(kinds)
	}
}

// tailLines draws the slowest requests, one a line.
func (p *page) tailLines(r *tail.Result) {
	if len(r.Slowest) == 0 {
		return
	}
	p.blank()
	for i, line := range r.Slowest[:min(len(r.Slowest), slowestMax)] {
		label := ""
		if i == 0 {
			label = "slowest"
		}
		p.entry(label, fmt.Sprintf("%s %s, at %s: %s", amount(line.Seconds, "s"), visible(line.Kind, 40),
			amount(line.Started, "s"), stretchesText(&line)), bold, plain)
	}
}

func stretchesText(line *tail.Line) string {
	var words []string
	for _, stretch := range line.Parts {
		if stretch.Seconds < 0.05*line.Seconds || len(words) == stretchesMax {
			continue
		}
		text := stretch.Class + " " + amount(stretch.Seconds, "s")
		if stretch.Before {
			text = "unread, thread: " + text
		}
		if stretch.Where != "" {
			text += " in " + visible(stretch.Where, 40)
		}
		if stretch.HeldBy != "" {
			text += " (" + visible(stretch.HeldBy, 50) + ")"
		}
		words = append(words, text)
	}
	return strings.Join(words, " → ")
}

func (p *page) tailLimits(r *tail.Result) {
	p.tailRestarts(r)
	if len(r.Unseen.Why) == 0 {
		return
	}
	p.blank()
	label := "not seen"
	for _, why := range r.Unseen.Why {
		p.entry(label, visible(why, 300), dim, dim)
		label = ""
	}
}

// tailRestarts says when the service was restarted, and what that may have to do with slow
// requests.
func (p *page) tailRestarts(r *tail.Result) {
	if len(r.Restarts) == 0 {
		return
	}
	p.blank()
	label := "disturbed"
	for i, restart := range r.Restarts {
		if i == restartsMax {
			p.entry("", fmt.Sprintf("and %d more in the document", len(r.Restarts)-restartsMax), dim, dim)
			break
		}
		p.entry(label, "the service did not run all the time: "+restart.String(), bold, plain)
		label = ""
	}
	if r.Cold > 0 {
		p.entry("", fmt.Sprintf("%s of those that were kept began within %v after one, when the service was cold",
			plural(r.Cold, "slow request"), tail.ColdFor), plain, plain)
	}
}
