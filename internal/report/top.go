package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"culprit/internal/cause"
	"culprit/internal/top"
)

// TopOptions say how a look is shown.
type TopOptions struct {
	TextOptions
	Rows     int // of the table; 0: all
	Order    string
	Show     string
	Selected int // a row, −1: none
	Paused   bool
	Own      float64 // CPUs that looking itself took, beside the recorder
	Keys     bool    // tell which keys there are
}

// Columns of the table.
const (
	topClass = 9
	topRate  = 9
	// rateLeast is a tenth of a millisecond in a second: less is not worth a line.
	rateLeast = 1e-4
)

// Top writes one look.
func Top(w io.Writer, v *top.View, o TopOptions) error {
	p := newPage(o.TextOptions)
	p.topHead(v, o)
	p.topRows(v, o)
	p.topRequests(v)
	if o.Keys {
		p.line("q quit · space pause · s sort · c class · ↑ ↓ select · Enter explain the row", dim)
	}
	return p.send(w, "look")
}

func (p *page) send(w io.Writer, what string) error {
	if _, err := w.Write(p.out.Bytes()); err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	return nil
}

// line writes one line, cut to the width.
func (p *page) line(text, style string) {
	fmt.Fprintf(&p.out, "%s\n", p.style(strings.TrimRight(fit(text, p.width), " "), style))
}

func (p *page) topHead(v *top.View, o TopOptions) {
	state := ""
	if o.Paused {
		state = " · paused"
	}
	p.line(fmt.Sprintf("%s  %s · %s CPUs · %s of %s%s", v.Time.Format("15:04:05"), visible(v.Target, 60), digits(v.CPUs),
		plural(v.Samples, "sample"), amount(v.Seconds, "s"), state), bold)
	if v.Restart != nil {
		p.line(fmt.Sprintf("the service was restarted: process %d gave way to process %d", v.Restart.Pid, v.Restart.NewPid),
			bold)
	}
	p.line(fmt.Sprintf("recording takes %s of a CPU, looking %s", percent(v.Recorder), percent(o.Own)), dim)
	var had []string
	for _, one := range v.Had {
		name := visible(one.Comm, 20)
		switch {
		case one.Comm == "":
			name = "nobody (a quota, or the hypervisor)"
		case one.Own:
			name += " (its own)"
		}
		had = append(had, name+" "+digits(one.Rate))
	}
	if len(had) > 0 {
		p.line("had the CPU meanwhile: "+strings.Join(had, ", "), plain)
	}
}

func (p *page) topRows(v *top.View, o TopOptions) {
	rows := v.Sorted(o.Order, o.Show)
	if o.Rows > 0 {
		rows = slices.DeleteFunc(rows, func(r top.Row) bool { return r.Rate < rateLeast && r.Before < rateLeast })
	}
	p.line(fmt.Sprintf("%-*s %*s %*s  %s", topClass, "class", topRate, "s/s", topRate, "change", "where and what"), dim)
	first, last := window(len(rows), o.Rows, o.Selected)
	for i := first; i < last; i++ {
		row, change := &rows[i], ""
		if row.Known {
			change = changeOfRate(row.Rate - row.Before)
		}
		what := visible(row.Name, nameRunesMax)
		if row.What != "" {
			what += ": " + visible(row.What, nameRunesMax)
		}
		if row.Parts > 1 {
			what += fmt.Sprintf(" and %d more", row.Parts-1)
		}
		style, mark := plain, " "
		if i == o.Selected {
			style, mark = bold, ">"
		}
		p.line(fmt.Sprintf("%-*s %*s %*s %s%s", topClass, row.Class, topRate, digits(row.Rate), topRate, change, mark, what),
			style)
	}
	if rest := len(rows) - (last - first); rest > 0 {
		p.line("and "+plural(rest, "more row"), dim)
	}
	if len(rows) == 0 {
		p.line("nothing of this class was seen: the target slept", dim)
	}
}

// window is which rows are shown so that the selected one is among them.
func window(all, shown, selected int) (first, last int) {
	if shown <= 0 || shown >= all {
		return 0, all
	}
	first = min(max(0, selected-shown+1), all-shown)
	return first, first + shown
}

// changeOfRate is 0 where it is less than what is worth a line.
func changeOfRate(change float64) string {
	if math.Abs(change) < rateLeast {
		return "0"
	}
	return signedDigits(change)
}

func signedDigits(value float64) string {
	text := digits(value)
	if value > 0 && text != "0" {
		return "+" + text
	}
	return text
}

func (p *page) topRequests(v *top.View) {
	if len(v.Requests) == 0 {
		return
	}
	p.line(fmt.Sprintf("%*s %*s %*s %*s  %s", topRate, "req/s", topRate, "p50", topRate, "p99", topRate, "max",
		"requests"), dim)
	for i := range v.Requests[:min(len(v.Requests), 4)] {
		kind := &v.Requests[i]
		p.line(fmt.Sprintf("%*s %*s %*s %*s  %s of %s", topRate, digits(kind.Throughput), topRate,
			amount(kind.Latency.P50, "s"), topRate, amount(kind.Latency.P99, "s"), topRate, amount(kind.Latency.Max, "s"),
			visible(kindTitle(kind), 40), serviceTitle(kind)), plain)
	}
}

// TopRow explains one row: the ways to it, and the causes that match this window.
func TopRow(w io.Writer, row *top.Row, suspects []cause.Suspect, o TextOptions) error {
	p := newPage(o)
	p.entry(row.Class, visible(row.Name, nameRunesMax), bold, bold)
	p.entry("", topMeans(row.Class), plain, dim)
	p.entry("rate", digits(row.Rate)+" seconds a second", dim, plain)
	for i, stack := range row.Stacks {
		p.blank()
		text := fmt.Sprintf("%s s/s in thread %s", digits(stack.Rate), visible(stack.Comm, 20))
		if stack.Call != "" {
			text += ", in " + visible(stack.Call, 40)
		}
		if stack.Waker != "" {
			verb := ", woken by "
			if row.Class == "runqueue" {
				verb = ", which waited for "
			}
			text += verb + visible(stack.Waker, 20)
		}
		p.entry(fmt.Sprintf("way %d", i+1), text, dim, plain)
		p.entry("", visiblePath(strings.Join(stack.Frames, ";"), 6*p.width), plain, plain)
		if len(stack.Holder) > 0 {
			p.entry("", "held in "+visiblePath(strings.Join(stack.Holder, ";"), 2*p.width), plain, plain)
		}
	}
	for i, suspect := range suspects[:min(len(suspects), ciSuspects)] {
		p.blank()
		p.entry(fmt.Sprintf("suspect %d", i+1), visible(string(suspect.Cause), 60)+": "+
			visible(suspect.Claim, sentenceRunesMax), orange, plain)
		p.entry("remedy", visible(suspect.Remedy, sentenceRunesMax), dim, plain)
	}
	if len(suspects) == 0 {
		p.blank()
		p.entry("suspects", "no cause of the catalogue matches in this window; a longer recording sees more", dim, plain)
	}
	return p.send(w, "row")
}

// topMeans says what the seconds of a class are.
func topMeans(class string) string {
	switch class {
	case "cpu":
		return "the function's own time in user space, in CPUs"
	case "syscall":
		return "the kernel's work for this call, in CPUs"
	case "fault":
		return "page faults of the function that touches the memory, in CPUs"
	case "kernel":
		return "interrupts and what else the kernel did unasked, in CPUs"
	case "lock":
		return "threads that waited for a user-space lock"
	case "runqueue":
		return "threads that could run and had no CPU"
	}
	return "threads that were blocked there"
}

// Lines gives text as lines that each end as a terminal in raw mode wants it.
func Lines(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\n"), []byte("\x1b[K\r\n")) }
