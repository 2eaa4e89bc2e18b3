package report

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	counted "culprit/internal/count"
)

// CountOptions says how counts are shown.
type CountOptions struct {
	TextOptions
	Top int // rows; 0: all
}

// Widths of the table of counts.
const (
	countKeyMax = 44
	countGap    = 2
)

// Counts writes an interval of counts as a table.
func Counts(out io.Writer, interval *counted.Interval, opts CountOptions) error {
	p := newPage(opts.TextOptions)
	rows := interval.Rows
	hidden := 0
	if opts.Top > 0 && len(rows) > opts.Top {
		hidden = len(rows) - opts.Top
		rows = rows[:opts.Top]
	}
	fmt.Fprintf(&p.out, "%s  %s s by %s\n", interval.Begin.Format("2006-01-02 15:04:05"), digits(interval.Seconds),
		interval.By)
	if len(rows) == 0 {
		p.out.WriteString("nobody of them ran\n")
	}
	names := append(slices.Clone(interval.Events), interval.DerivedNames()...)
	cells := [][]string{append([]string{interval.By}, names...)}
	for _, row := range rows {
		cells = append(cells, countCells(row, interval.Events, interval.DerivedNames()))
	}
	if len(rows) > 0 {
		writeCells(p, cells)
	}
	if hidden > 0 {
		fmt.Fprintf(&p.out, "… and %s more (--top 0 shows all)\n", digits(float64(hidden)))
	}
	_, err := io.WriteString(out, p.out.String())
	if err != nil {
		return fmt.Errorf("write counts: %w", err)
	}
	return nil
}

// countCells is one line.
func countCells(row counted.Row, events, derived []string) []string {
	cells := []string{visible(row.Key, countKeyMax)}
	for _, name := range events {
		number, found := row.Counts[name]
		if !found {
			cells = append(cells, "not counted")
			continue
		}
		cells = append(cells, countCell(number))
	}
	for _, name := range derived {
		ratio, found := row.Derived[name]
		if !found {
			cells = append(cells, "–")
			continue
		}
		cells = append(cells, digits(ratio.Value)+plusMinus(ratio.Value, ratio.Low, ratio.High))
	}
	return cells
}

// countCell is one number: "1,234", "812 ms", "4.1 million ±3 %".
func countCell(n counted.Number) string {
	value, unit := n.Value, n.Unit
	if unit == "ns" {
		return amount(value/1e9, "s")
	}
	text := digits(value)
	switch {
	case value >= 1e10:
		text = digits(value/1e9) + space + "G"
	case value >= 1e7:
		text = digits(value/1e6) + space + "M"
	case value >= 1000:
		text = grouped(math.Round(value))
	}
	return withUnit(text, unit) + plusMinus(value, n.Low, n.High)
}

// plusMinus is how far off a number may be, "" where it was counted all the time.
func plusMinus(value, low, high float64) string {
	half := max(value-low, high-value)
	if half <= 0 || value == 0 {
		return ""
	}
	return space + "±" + percent(half/value)
}

// writeCells writes a table: the first column to the left, the others to the right.
func writeCells(p *page, cells [][]string) {
	widths := make([]int, len(cells[0]))
	for _, line := range cells {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for at, line := range cells {
		for i, cell := range line {
			fill := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				text := cell + fill
				if at == 0 {
					text = p.style(text, bold)
				}
				p.out.WriteString(text)
				continue
			}
			p.out.WriteString(strings.Repeat(" ", countGap) + fill + cell)
		}
		p.out.WriteByte('\n')
	}
}

// CountNotes are the footnotes of counts: what the numbers mean, and what is not in them.
func CountNotes(interval *counted.Interval, apart []string) []string {
	var notes []string
	if interval.By == counted.ByCPU {
		notes = append(notes, "counted per CPU, idling included: time goes on while nobody runs")
	} else {
		notes = append(notes, "counters of whole CPUs, booked to who ran: time stands still while they sleep")
	}
	if interval.Nested {
		notes = append(notes, "each cgroup holds what is below it (--own leaves that out)")
	}
	if least, most := shares(interval.Booked); least > 0 {
		notes = append(notes, fmt.Sprintf("booked %.2f %% to %.2f %% of what the CPUs counted", 100*least, 100*most))
	}
	if len(interval.Multiplexed) > 0 {
		notes = append(notes, strings.Join(interval.Multiplexed, ", ")+
			" shared counters with others and counted part of the time: ± is the 95 % interval")
	}
	for _, pair := range apart {
		notes = append(notes, pair+" is not formed: the two counted at different times; put them into one group: {"+
			strings.ReplaceAll(pair, " / ", ",")+"}")
	}
	for _, what := range slices.Sorted(maps.Keys(interval.Lost)) {
		if lost := interval.Lost[what]; lost > 0 {
			notes = append(notes, fmt.Sprintf("%s: %s (their counts are in %s)", what, digits(float64(lost)), counted.RestKey))
		}
	}
	return notes
}

func shares(booked map[string]float64) (least, most float64) {
	for _, share := range booked {
		if least == 0 || share < least {
			least = share
		}
		most = max(most, share)
	}
	return least, most
}
