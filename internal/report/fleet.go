package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"culprit/internal/fleet/ask"
	"culprit/internal/stat"
)

// Fleet writes the answer to a question over many hosts.
func Fleet(w io.Writer, a *ask.Answer, opts TextOptions) error {
	p := newPage(opts)
	for _, what := range a.Incomplete {
		p.entry("INCOMPLETE", visible(what, sentenceRunesMax), orange, bold)
	}
	switch {
	case a.Bands != nil:
		p.fleetBands(a)
	case a.Compare != nil:
		p.fleetCompare(a)
	case a.Changes != nil:
		p.fleetChanges(a)
	case a.Facts != nil:
		p.fleetFacts(a.Facts)
	case a.Top != nil:
		p.fleetTop(a)
	case a.Worth != nil:
		p.fleetWorth(a)
	case a.Question == ask.Services:
		p.fleetServices(a)
	case a.Question == ask.Hosts:
		p.fleetHosts(a)
	}
	p.blank()
	if a.Question == ask.Services {
		return p.endFleet(w, a)
	}
	p.entry("asked", fmt.Sprintf("%s of %s over %s, %s to %s, %s", visible(a.Unit, sentenceRunesMax),
		visible(a.Service, nameRunesMax), plural(a.Hosts, "host"), utc(a.From), utc(a.Until),
		plural(int(a.Windows), "window")), dim, dim)
	for _, look := range a.Look {
		p.entry("look at", visible(look.Host, nameRunesMax)+": "+visible(look.Why, sentenceRunesMax), bold, plain)
		for _, command := range look.Commands {
			// In one line, to be copied.
			fmt.Fprintf(&p.out, "%*s %s\n", labelWidth, "", visible(command, commandRunesMax))
		}
	}
	return p.endFleet(w, a)
}

// endFleet writes what an answer could not see, and all of it.
func (p *page) endFleet(w io.Writer, a *ask.Answer) error {
	p.notes("note", a.Notes)
	if _, err := w.Write(p.out.Bytes()); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

// commandRunesMax is enough for two paths of a store.
const commandRunesMax = 4000

func utc(second int64) string { return time.Unix(second, 0).UTC().Format("2006-01-02 15:04") }

// changeWords are a ratio − 1 with its bounds; half a per cent of a fleet has two digits behind the
// point.
func changeWords(i stat.Interval) string {
	return fmt.Sprintf("%s (95 %% between %s and %s)", points(i.Value), points(i.Low), points(i.High))
}

func points(fraction float64) string {
	if fraction > -0.1 && fraction < 0.1 {
		return strings.Replace(fmt.Sprintf("%+.2f %%", 100*fraction), "-", "−", 1)
	}
	return signed(fraction)
}

// hostValue says values in ns as times.
func hostValue(value float64, unit string) string {
	if strings.HasSuffix(unit, ", ns") {
		return amount(value/1e9, "s")
	}
	return digits(value)
}

func (p *page) fleetBands(a *ask.Answer) {
	b := a.Bands
	if !b.Two {
		text := b.Why
		if b.Findable > 1 { // where hosts differ at all
			text += fmt.Sprintf("; a band of 12 %% of the hosts that is %s as dear would be found in 95 of 100",
				times(b.Findable))
		}
		p.entry("ONE BAND", text, bold, bold)
		if len(b.Outliers) > 0 {
			p.entry("apart", hostNames(b.Outliers), plain, plain)
		}
		if b.Facts != nil {
			p.fleetFacts(b.Facts)
		}
		return
	}
	p.entry("TWO BANDS", fmt.Sprintf("%s apart: %s on %s of the hosts, %s on %s", times(b.Ratio),
		hostValue(b.Low.Value, a.Unit), percent(b.Low.Share), hostValue(b.High.Value, a.Unit), percent(b.High.Share)),
		orange, bold)
	p.entry("", fmt.Sprintf("hosts of a band scatter by %s, so the bands are %s of that apart; one band fits "+
		"as well in %s of fleets drawn from it", percent(b.Spread), times(b.Separation), atMost(b.P)), plain, plain)
	p.entry("dear", hostNames(b.High.Hosts), plain, plain)
	p.entry("cheap", hostNames(b.Low.Hosts), plain, plain)
	if len(b.Between) > 0 {
		p.entry("between", hostNames(b.Between), plain, plain)
	}
	if b.LoadTaken > 0.01 {
		p.entry("load", fmt.Sprintf("explains %s of the variance between hosts, and was taken out", percent(b.LoadTaken)),
			plain, plain)
	}
	if b.Lasts != nil {
		p.entry("lasts", b.Lasts.Words(), plain, plain)
	}
	p.blank()
	if b.Facts != nil {
		p.fleetFacts(b.Facts)
	}
	p.fleetFrames("dear", b.Frames)
}

func atMost(p float64) string {
	if p < 0.001 {
		return "fewer than 1 in 1,000"
	}
	return percent(p)
}

func hostNames(names []string) string {
	const most = 8
	shown := make([]string, 0, most)
	for _, name := range names[:min(len(names), most)] {
		shown = append(shown, visible(name, nameRunesMax))
	}
	text := plural(len(names), "host") + ": " + strings.Join(shown, ", ")
	if len(names) > most {
		text += ", …"
	}
	return text
}

func (p *page) fleetFacts(f *ask.FactsFound) {
	asked := fmt.Sprintf("%d facts cut the hosts in %d ways", f.Facts, f.Partitions)
	if len(f.Findings) == 0 {
		p.entry("FACTS", "none goes with it; "+asked, bold, plain)
		for _, finding := range f.Nearest[:min(len(f.Nearest), 1)] {
			p.entry("nearest", fmt.Sprintf("%s, p = %s", factNames(finding.Facts), digits(finding.P)), dim, dim)
		}
		return
	}
	for i, finding := range f.Findings {
		label := ""
		if i == 0 {
			label = "FACTS"
		}
		effect := times(exp(finding.Effect)) + " as dear"
		if f.Banded {
			effect = fmt.Sprintf("%s more of them are in the dear band than of the others", percent(finding.Effect))
		}
		p.entry(label, fmt.Sprintf("%s on %s: %s, p = %s after %s", factNames(finding.Facts),
			plural(len(finding.With), "host"), effect, digits(finding.P), asked), bold, plain)
	}
}

func (p *page) fleetFrames(dear string, frames []ask.Difference) {
	for i, frame := range frames {
		label := ""
		if i == 0 {
			label = "CODE"
		}
		name := visible(frame.Name, nameRunesMax)
		if frame.Module != "" {
			name += " (" + visible(frame.Module, nameRunesMax) + ")"
		}
		kind := "with what it calls"
		if frame.Self {
			kind = "in its own code"
		}
		p.entry(label, fmt.Sprintf("%s, %s: %s of all, on top of %s, on the %s side", name, kind, changeWords(frame.Change),
			percent(frame.A), dear), bold, plain)
	}
}

func (p *page) fleetCompare(a *ask.Answer) {
	c := a.Compare
	label, style, verdict := "NO DIFFERENCE", bold, "none is seen: "
	switch {
	case c.P < 0.05 && c.Change.Value > 0:
		label, style, verdict = "B IS DEARER", orange, ""
	case c.P < 0.05:
		label, style, verdict = "B IS CHEAPER", blue, ""
	}
	p.entry(label, fmt.Sprintf("%s%s, p = %s", verdict, changeWords(c.Change), digits(c.P)), style, bold)
	p.entry("", fmt.Sprintf("A is %s, B is %s; %d and %d %s, %s", visible(c.NameA, nameRunesMax),
		visible(c.NameB, nameRunesMax), c.A, c.B, c.Units, c.Words()), plain, dim)
	p.entry("", fmt.Sprintf("%s differ by %s; four of five such comparisons find %s", c.Units, percent(c.Residual),
		points(c.Smallest)), plain, dim)
	for _, other := range c.Confounded {
		p.entry("also", visible(other, sentenceRunesMax)+": its effect cannot be told from the one asked for", orange, plain)
	}
	p.fleetFrames("B", c.Frames)
}

// exp turns a difference of logarithms into a ratio.
func exp(x float64) float64 { return stat.Interval{Value: x}.Exp().Value }
