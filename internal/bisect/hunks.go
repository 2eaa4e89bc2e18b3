package bisect

import (
	"bufio"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Hunk is one changed stretch of a file.
type Hunk struct {
	File     string `json:"file"`
	Function string `json:"function,omitempty"` // the grown function, or one on the way to it, that it touches
	Touches  string `json:"touches,omitempty"`  // "definition", or "call" where only a line of it names the function
	Line     int    `json:"line"`               // of the new file; of the old one where the file went
	Text     string `json:"text"`               // lines with +, − or a blank before them

	old, new    span
	oldFile     string
	linesOfHunk []string
}

// Change is what a culprit changed.
type Change struct {
	Files []string `json:"files"`
	Hunks []Hunk   `json:"hunks"`         // those that touch what grew, the innermost function first
	All   int      `json:"all"`           // hunks in the whole diff
	Why   string   `json:"why,omitempty"` // nothing can be shown
}

// span is a stretch of lines, 1-based; the last one belongs to it.
type span struct{ first, last int }

func (s span) meets(other span) bool { return s.first <= other.last && other.first <= s.last }

// The limits of what is kept of a diff.
const (
	maxDiff   = 64 << 20 // bytes
	maxHunks  = 12
	linesKept = 60 // of a hunk
)

// touched fills in what a culprit changed in the functions that grew.
func (s *state) touched(ctx context.Context, c *Culprit) error {
	c.Change = &Change{Files: []string{}, Hunks: []Hunk{}}
	text, err := s.source.diff(ctx, c.Before, c.Position)
	if err != nil {
		c.Change.Why = err.Error()
		return ctx.Err()
	}
	hunks := parseDiff(text)
	c.Change.All = len(hunks)
	for _, hunk := range hunks {
		if !slices.Contains(c.Change.Files, hunk.File) {
			c.Change.Files = append(c.Change.Files, hunk.File)
		}
	}
	if c.Inside == nil {
		return nil
	}
	files := map[string]string{}
	read := func(position int, name string) string {
		key := fmt.Sprint(position, ":", name)
		if _, known := files[key]; !known {
			files[key], _ = s.source.read(ctx, position, name) // a file that one side does not have is empty
		}
		return files[key]
	}
	for _, one := range frames(c.Inside.Suspects) {
		c.Change.Hunks = append(c.Change.Hunks, touching(hunks, one, func(h Hunk) (string, string) {
			return read(c.Before, h.oldFile), read(c.Position, h.File)
		})...)
	}
	if len(c.Change.Hunks) == 0 {
		c.Change.Hunks = append(c.Change.Hunks, calling(hunks, frames(c.Inside.Suspects))...)
	}
	c.Change.Hunks = c.Change.Hunks[:min(len(c.Change.Hunks), maxHunks)]
	return nil
}

// hunkHeader is "@@ -10,6 +10,8 @@ …".
var hunkHeader = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// parseDiff reads a unified diff of git.
func parseDiff(text string) []Hunk {
	var hunks []Hunk
	oldFile, file := "", ""
	left, right := 0, 0 // lines of each side that the open hunk still has
	scanner := bufio.NewScanner(strings.NewReader(text[:min(len(text), maxDiff)]))
	scanner.Buffer(nil, maxDiff)
	for scanner.Scan() {
		line := scanner.Text()
		header := hunkHeader.FindStringSubmatch(line)
		switch {
		case left > 0 || right > 0:
			last := &hunks[len(hunks)-1]
			last.linesOfHunk = append(last.linesOfHunk, line)
			if !strings.HasPrefix(line, "+") && !strings.HasPrefix(line, `\`) {
				left--
			}
			if !strings.HasPrefix(line, "-") && !strings.HasPrefix(line, `\`) {
				right--
			}
		case strings.HasPrefix(line, "--- "):
			oldFile, file = strings.TrimPrefix(line, "--- a/"), strings.TrimPrefix(line, "--- a/")
		case strings.HasPrefix(line, "+++ b/"):
			file = strings.TrimPrefix(line, "+++ b/")
		case header != nil:
			hunk := Hunk{File: unquoted(file), oldFile: unquoted(oldFile), old: spanOf(header[1], header[2]),
				new: spanOf(header[3], header[4])}
			left, right = hunk.old.last-hunk.old.first+1, hunk.new.last-hunk.new.first+1
			hunks = append(hunks, hunk)
		}
	}
	return hunks
}

// unquoted takes away what git puts after a name with blanks in it.
func unquoted(name string) string { return strings.TrimSuffix(name, "\t") }

func spanOf(first, count string) span {
	begin, _ := strconv.Atoi(first) // the pattern lets digits through alone
	lines := 1
	if count != "" {
		lines, _ = strconv.Atoi(count)
	}
	if lines == 0 {
		begin++ // git names the line before an empty stretch
	}
	return span{begin, begin + lines - 1}
}

// touching are the hunks that meet a definition of a function, in the old file or the new one, cut
// to it.
func touching(hunks []Hunk, one frame, read func(Hunk) (before, after string)) []Hunk {
	var found []Hunk
	for _, hunk := range hunks {
		before, after := read(hunk)
		for _, within := range definitions(after, hunk.File, one) {
			if !within.meets(hunk.new) {
				continue
			}
			if cut, changed := hunk.within(within); changed {
				cut.Function, cut.Touches = one.String(), "definition"
				found = append(found, cut)
			}
		}
		if len(found) > 0 && found[len(found)-1].new == hunk.new && found[len(found)-1].File == hunk.File {
			continue
		}
		for _, within := range definitions(before, hunk.oldFile, one) {
			if removed, changed := hunk.removedWithin(within); changed && within.meets(hunk.old) {
				removed.Function, removed.Touches = one.String(), "definition"
				found = append(found, removed)
				break
			}
		}
	}
	return found
}

// around is how many lines before a change are shown with it.
const around = 2

// within is the part of a hunk that lies in a stretch of the new file, and whether anything changed
// there.
func (h Hunk) within(s span) (Hunk, bool) { return h.cut(s, h.new.first, "-") }

// removedWithin is the part of a hunk that lies in a stretch of the old file.
func (h Hunk) removedWithin(s span) (Hunk, bool) { return h.cut(s, h.old.first, "+") }

// cut keeps the lines of a hunk that lie in a stretch of the file whose lines are counted from
// first; absent is the mark of lines that this file does not have.
func (h Hunk) cut(s span, first int, absent string) (Hunk, bool) {
	line, changed := first, false
	var kept []string
	h.Line = 0
	for _, text := range h.linesOfHunk {
		marked := strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-")
		if inside := line >= s.first && line <= s.last; inside {
			if h.Line == 0 {
				h.Line = line
			}
			changed = changed || marked
			kept = append(kept, text)
		}
		if !strings.HasPrefix(text, absent) && !strings.HasPrefix(text, `\`) {
			line++
		}
	}
	at := slices.IndexFunc(kept, func(text string) bool {
		return strings.HasPrefix(text, "+") ||
			strings.HasPrefix(text, "-")
	})
	if at > around {
		kept, h.Line = kept[at-around:], h.Line+at-around
	}
	h.Text = strings.Join(kept[:min(len(kept), linesKept)], "\n")
	return h, changed
}

// calling are the hunks of which a changed line names a function: it is called more, or otherwise.
func calling(hunks []Hunk, all []frame) []Hunk {
	var found []Hunk
	for _, one := range all {
		if !one.telling() {
			continue
		}
		for _, hunk := range hunks {
			if !slices.ContainsFunc(hunk.linesOfHunk, func(line string) bool {
				return (strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-")) && holds(line[1:], one.function)
			}) {
				continue
			}
			hunk.Function, hunk.Touches, hunk.Line = one.String(), "call", hunk.new.first
			hunk.Text = strings.Join(hunk.linesOfHunk[:min(len(hunk.linesOfHunk), linesKept)], "\n")
			found = append(found, hunk)
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}
