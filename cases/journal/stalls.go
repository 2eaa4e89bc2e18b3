package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// limitMicroseconds is the longest time that a line may take.
const limitMicroseconds = 10_000

// counted is what one program's lines in one trial say.
type counted struct {
	Program   string
	Lines     int
	Over      int // lines over the limit
	Stalls    int
	StalledMs float64
	LongestMs float64
}

// countedForm is how a trial prints it, and how it is read again. The stalled time counts from 1
// ms, as culprit's own latency.stalled does: a ratio needs a number above zero.
const countedForm = "%s: %d lines, %d over 10 ms, %d stalls, longest %f ms, stalled and one %f ms\n"

func (c counted) String() string {
	return fmt.Sprintf(countedForm, c.Program, c.Lines, c.Over, c.Stalls, c.LongestMs, c.StalledMs+1)
}

// pattern finds the stalled time of a program in it.
func pattern(program string) string {
	return fmt.Sprintf(`%s=%s: .* stalled and one ([0-9.]+) ms`, program, program)
}

// readCounted reads the programs' lines of one trial's output.
func readCounted(path string) ([]counted, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []counted
	for line := range strings.Lines(string(text)) {
		var c counted
		form := strings.Replace(countedForm, "%s:", "%s", 1) // Sscanf's %s takes the colon
		_, err := fmt.Sscanf(line, form, &c.Program, &c.Lines, &c.Over, &c.Stalls, &c.LongestMs, &c.StalledMs)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, line, err)
		}
		c.Program, c.StalledMs = strings.TrimSuffix(c.Program, ":"), c.StalledMs-1
		all = append(all, c)
	}
	return all, nil
}

// count reads lines of when one was due and how much later it was done, in microseconds. Slow lines
// that overlap, or follow within the limit, are one stall: one wait makes many slow lines through
// the logger's lock.
func count(from io.Reader) (counted, error) {
	type line struct{ due, took float64 }
	var c counted
	var slow []line
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		var one line
		if _, err := fmt.Sscan(lines.Text(), &one.due, &one.took); err != nil {
			return c, fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		c.Lines++
		c.LongestMs = max(c.LongestMs, one.took/1e3)
		if one.took > limitMicroseconds {
			slow = append(slow, one)
		}
	}
	if c.Lines == 0 {
		return c, fmt.Errorf("no line was logged: %w", cmp.Or(lines.Err(), io.ErrUnexpectedEOF))
	}
	c.Over = len(slow)
	slices.SortFunc(slow, func(a, b line) int { return cmp.Compare(a.due, b.due) })
	end := 0.0
	for i, one := range slow {
		done := one.due + one.took
		if i == 0 || one.due > end+limitMicroseconds {
			c.Stalls++
			end = one.due
		}
		c.StalledMs += max(0, done-max(end, one.due)) / 1e3
		end = max(end, done)
	}
	return c, lines.Err()
}
