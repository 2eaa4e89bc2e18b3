package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"culprit/internal/bench"
)

const (
	benchNameWidth = 26
	benchCostWidth = 16
	benchSpanWidth = 22
	benchIndent    = 6
)

// print writes the findings for a person: cost, interval and a published figure in a row, what it
// is and how that was checked below.
func (d *benchDocument) print(w io.Writer) error {
	t := &table{}
	clock := d.Host.ClockSource
	t.line(fmt.Sprintf("%s on %s, Linux %s, %d × %s, clock source %s", d.Program, d.Host.Name, d.Host.Kernel,
		d.Host.CPUs, d.Host.CPU, orNone(clock)))
	fmt.Fprintf(&t.out, "\n  %s%s%s%s\n", fill("operation", benchNameWidth), fill("cost", benchCostWidth),
		fill("95 % interval", benchSpanWidth), "elsewhere")
	for i := range d.Findings {
		d.printFinding(t, &d.Findings[i])
	}
	for _, warning := range d.Warnings {
		t.note("warning", warning)
	}
	if _, err := w.Write(t.out.Bytes()); err != nil {
		return fmt.Errorf("write findings: %w", err)
	}
	return nil
}

func (d *benchDocument) printFinding(t *table, found *bench.Finding) {
	if found.Why != "" {
		fmt.Fprintf(&t.out, "  %snot measured\n", fill(found.Name, benchNameWidth))
		t.note("why", found.Why)
		return
	}
	cost := nanoseconds(found.Ns)
	if found.Clock == bench.ClockCPU {
		cost += " CPU"
	}
	figure := ""
	if published := nearest(found); published != nil {
		figure = fmt.Sprintf("%s, %s", nanoseconds(published.Ns), published.Where)
	}
	span := nanoseconds(found.Low) + " … " + nanoseconds(found.High)
	row := "  " + fill(found.Name, benchNameWidth) + fill(cost, benchCostWidth) + fill(span, benchSpanWidth)
	for i, line := range wrapText(figure, textWidth-utf8.RuneCountInString(row)) {
		if i > 0 {
			row = strings.Repeat(" ", utf8.RuneCountInString(row))
		}
		fmt.Fprintln(&t.out, strings.TrimRight(row+line, " "))
	}
	text := found.What
	if found.CPUNs > 0 {
		text += "; " + nanoseconds(found.CPUNs) + " of CPU each"
	}
	for _, line := range wrapText(strings.Join(append([]string{text}, found.Path...), "; "), textWidth-benchIndent) {
		fmt.Fprintf(&t.out, "%s%s\n", strings.Repeat(" ", benchIndent), line)
	}
}

// nearest is the published figure of the same clock source, else the first one, nil where there is
// none.
func nearest(found *bench.Finding) *bench.Figure {
	for i, figure := range found.Published {
		if found.ClockSource != "" && slices.Contains(figure.ClockSources, found.ClockSource) {
			return &found.Published[i]
		}
	}
	if len(found.Published) == 0 {
		return nil
	}
	return &found.Published[0]
}

func fill(text string, columns int) string {
	return text + strings.Repeat(" ", max(1, columns-utf8.RuneCountInString(text)))
}

// nanoseconds writes a cost in the unit that reads well.
func nanoseconds(ns float64) string {
	switch {
	case ns >= 1e6:
		return fmt.Sprintf("%.3g ms", ns/1e6)
	case ns >= 1e4:
		return fmt.Sprintf("%.3g µs", ns/1e3)
	case ns >= 100:
		return fmt.Sprintf("%.0f ns", ns)
	}
	return fmt.Sprintf("%.1f ns", ns)
}
