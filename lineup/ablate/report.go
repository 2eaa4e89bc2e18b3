package ablate

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// count is how many verdicts a variant changes in one way.
func (r Result) count(how string) (n int) {
	for _, change := range r.Changes {
		if change.How == how {
			n++
		}
	}
	return n
}

// worst is the worst way in which a variant changes a verdict, "" where no pair comes to it.
func (r Result) worst() string {
	switch {
	case len(r.Changes) > 0:
		return r.Changes[0].How
	case r.Reached > 0:
		return same
	}
	return ""
}

// shownPairs is how many pairs a line names.
const shownPairs = 8

// String is the line of a variant.
func (r Result) String() string {
	if r.Failed != "" {
		return fmt.Sprintf("%s: %s", r.Variant, r.Failed)
	}
	var parts []string
	for _, how := range []string{Wrong, Mended, First, Else} {
		if n := r.count(how); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, how))
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("%s: nothing, %d pairs come to it", r.Variant, r.Reached)
	}
	text := fmt.Sprintf("%s: %s", r.Variant, strings.Join(parts, ", "))
	if how := r.worst(); how != Else {
		var pairs []string
		for _, change := range r.Changes {
			if change.How == how && len(pairs) < shownPairs {
				pairs = append(pairs, change.Pair)
			}
		}
		text += " (" + strings.Join(pairs, ", ") + ")"
	}
	return text
}

// sections are the parts of the report, by the worst that a variant does.
var sections = []struct{ how, title string }{
	{Wrong, "Needed: a truth is missed"},
	{Mended, "Harmful: a truth is found"},
	{First, "Another first suspect or place is named, which is right as well"},
	{Else, "Only shares, levels or further suspects change"},
	{same, "No verdict changes, though pairs come to it"},
	{"", "No pair comes to it"},
}

// same stands for a variant that pairs come to, and that changes no verdict.
const same = "same"

// report writes which verdicts change, by variant.
func report(stdout io.Writer, path string, pairs int, results []Result) error {
	var b strings.Builder
	fmt.Fprintf(&b,
		"# What each rule and each threshold is good for\n\n%d variants, %d verdicts each.\n",
		len(results), pairs)
	for _, section := range sections {
		var lines []string
		for _, r := range results {
			if r.Failed == "" && r.worst() == section.how {
				lines = append(lines, r.markdown())
			}
		}
		fmt.Fprintf(&b, "\n## %s (%d)\n\n%s", section.title, len(lines), strings.Join(lines, ""))
		fmt.Fprintf(stdout, "%4d  %s\n", len(lines), section.title)
	}
	if slices.ContainsFunc(results, func(r Result) bool { return r.Failed != "" }) {
		b.WriteString("\n## Not judged\n\n")
	}
	for _, r := range results {
		if r.Failed != "" {
			fmt.Fprintf(&b, "- %s\n", r)
		}
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	fmt.Fprintln(stdout, "report:", path)
	return nil
}

// markdown lists the verdicts that a variant changes, those of which only shares change in number.
func (r Result) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "- %s", r.Variant)
	if r.worst() == same {
		fmt.Fprintf(&b, ": %d pairs", r.Reached)
	}
	if r.Alone != "" {
		fmt.Fprintf(&b, " (compiled by itself: %s)", r.Alone)
	}
	b.WriteString("\n")
	for _, change := range r.Changes {
		if change.How != Else {
			fmt.Fprintf(&b, "  - %s: %s: %s → %s\n", change.How, change.Pair, change.Was, change.Is)
		}
	}
	if n := r.count(Else); n > 0 {
		fmt.Fprintf(&b, "  - %d more with other shares, levels or further suspects\n", n)
	}
	return b.String()
}
