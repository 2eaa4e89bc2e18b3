package bisect

import (
	"bufio"
	"context"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"culprit/internal/cause"
)

// Hunk is one changed stretch of a file.
type Hunk struct {
	File     string `json:"file"`
	Header   string `json:"header"`             // "@@ -10,6 +10,8 @@ def f(x):"
	Function string `json:"function,omitempty"` // the grown function, or one on its way, that it belongs to
	Text     string `json:"text"`
}

// Change is what a culprit changed.
type Change struct {
	Files []string `json:"files"`
	Hunks []Hunk   `json:"hunks"` // those that touch what grew, the innermost function first
	All   int      `json:"all"`   // hunks in the whole diff
}

// The limits of what is kept of a diff.
const (
	maxDiff     = 64 << 20 // bytes
	maxHunks    = 12
	maxHunkText = 8 << 10 // bytes
)

// attributes has git name the function of each hunk by the rules of its language, which it knows and does not apply
// unless told to.
const attributes = `*.py diff=python
*.go diff=golang
*.c diff=cpp
*.h diff=cpp
*.cc diff=cpp
*.cpp diff=cpp
*.cxx diff=cpp
*.hpp diff=cpp
*.rs diff=rust
*.java diff=java
*.kt diff=kotlin
*.rb diff=ruby
*.php diff=php
*.cs diff=csharp
*.sh diff=bash
*.pl diff=perl
`

// touched fills in what a culprit changed in the functions that grew.
func (s *state) touched(ctx context.Context, c *Culprit) error {
	file := filepath.Join(s.options.Case, "attributes")
	if err := os.WriteFile(file, []byte(attributes), 0o644); err != nil {
		return err
	}
	text, err := s.source.diff(ctx, c.Before, c.Position, file)
	if err != nil {
		return err
	}
	hunks := parseDiff(text)
	c.Change = &Change{Files: []string{}, Hunks: []Hunk{}, All: len(hunks)}
	for _, hunk := range hunks {
		if !slices.Contains(c.Change.Files, hunk.File) {
			c.Change.Files = append(c.Change.Files, hunk.File)
		}
	}
	if c.Inside != nil {
		c.Change.Hunks = touching(hunks, c.Inside.Suspects)
	}
	return nil
}

// parseDiff reads a unified diff of git.
func parseDiff(text string) []Hunk {
	var hunks []Hunk
	file, open := "", false
	scanner := bufio.NewScanner(strings.NewReader(text[:min(len(text), maxDiff)]))
	scanner.Buffer(nil, maxDiff)
	for scanner.Scan() {
		line := scanner.Text()
		switch {
		case strings.HasPrefix(line, "diff --git "):
			file, open = "", false
		case !open && strings.HasPrefix(line, "--- a/"):
			file = strings.TrimPrefix(line, "--- a/")
		case !open && strings.HasPrefix(line, "+++ b/"):
			file = strings.TrimPrefix(line, "+++ b/")
		case strings.HasPrefix(line, "@@ "):
			hunks, open = append(hunks, Hunk{File: file, Header: line}), true
		case open:
			last := &hunks[len(hunks)-1]
			if len(last.Text) < maxHunkText {
				last.Text += line + "\n"
			}
		}
	}
	return hunks
}

// word is a name in a program's text.
var word = regexp.MustCompile(`[\p{L}_$][\p{L}\p{N}_$]*`)

// frame is a function as a place of a suspect names it, with the file where the language tells.
type frame struct{ function, file string }

// frames are the functions of the places of suspects, the innermost first, the first suspect's before all others.
func frames(suspects []cause.Suspect) []frame {
	var list []frame
	for _, suspect := range suspects {
		for _, place := range suspect.Places {
			if place.Kind != cause.InCode && place.Kind != cause.InLock {
				continue
			}
			names := strings.Split(place.Name, ";")
			slices.Reverse(names)
			for _, name := range names {
				if one := frameOf(name); one.function != "" && !slices.Contains(list, one) {
					list = append(list, one)
				}
			}
		}
	}
	return list
}

// fileName is a file with an ending that a place may name beside a function: "Sheet.cells (reader.py:41)".
var fileName = regexp.MustCompile(`[\w./@+-]+\.(?:py|js|mjs|cjs|ts|go|c|cc|cpp|cxx|h|hpp|rs|java|kt|rb|php|cs|pl|sh)\b`)

func frameOf(name string) frame {
	var one frame
	if file := fileName.FindString(name); file != "" {
		one.file = path.Base(file)
		name = strings.ReplaceAll(name, file, "")
	}
	name, _, _ = strings.Cut(name, "(")
	words := word.FindAllString(name, -1)
	for i := len(words) - 1; i >= 0; i-- {
		// Go's closures and Rust's are parts of the function around them.
		if !generated.MatchString(words[i]) {
			one.function = words[i]
			break
		}
	}
	return one
}

var generated = regexp.MustCompile(`^(func\d+|closure|lambda|anonymous|module|main|__main__|impl)$`)

// touching are the hunks that belong to the functions of suspects: to the innermost that any hunk belongs to, and to
// those on the way to it. A hunk belongs to a function by the name that stands in its header or in its lines.
func touching(hunks []Hunk, suspects []cause.Suspect) []Hunk {
	var found []Hunk
	taken := map[int]bool{}
	for _, one := range frames(suspects) {
		for i, hunk := range hunks {
			if taken[i] || len(found) == maxHunks || one.file != "" && path.Base(hunk.File) != one.file {
				continue
			}
			if _, header, _ := strings.Cut(strings.TrimPrefix(hunk.Header, "@@"), "@@"); !holds(header, one.function) &&
				!defines(hunk.Text, one.function) {
				continue
			}
			taken[i] = true
			hunk.Function = one.function
			found = append(found, hunk)
		}
	}
	return found
}

func holds(text, name string) bool { return slices.Contains(word.FindAllString(text, -1), name) }

// defines says whether a line of a hunk names a function, as its definition does and its calls.
func defines(text, name string) bool { return holds(text, name) }
