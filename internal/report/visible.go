package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of what is shown of one text from the data. JSON keeps the whole of it.
const (
	nameRunesMax     = 200  // a function, process or command
	sentenceRunesMax = 1000 // a claim, a warning
	marksMax         = 2    // combining marks on one letter; more paint over the lines above
)

// visible returns text as it may be shown: control, direction, zero-width and
// invalid characters spelled out, at most limit runes.
func visible(text string, limit int) string {
	var out strings.Builder
	marks := 0
	for shown := 0; len(text) > 0; shown++ {
		if shown == limit {
			out.WriteRune('…')
			break
		}
		r, size := utf8.DecodeRuneInString(text)
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && size <= 1:
			fmt.Fprintf(&out, `\x%02x`, text[0])
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\t':
			out.WriteString(`\t`)
		case r < utf8.RuneSelf && unicode.IsControl(r):
			fmt.Fprintf(&out, `\x%02x`, r)
		case r != ' ' && !unicode.IsPrint(r), marks > marksMax:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
		text = text[size:]
	}
	return out.String()
}

// visiblePath shows a path of frames "main;loop;write" with arrows. Where it is
// longer than limit runes the outer frames go: the inner ones tell more.
func visiblePath(path string, limit int) string {
	frames := strings.Split(path, ";")
	text := ""
	for i := len(frames) - 1; i >= 0; i-- {
		name := visible(frames[i], nameRunesMax)
		if text == "" {
			text = name
			continue
		}
		if utf8.RuneCountInString(name)+utf8.RuneCountInString(text)+3 > limit {
			return "… › " + text
		}
		text = name + " › " + text
	}
	return text
}

// Line returns an error as one printable line.
func Line(err error) string {
	if err == nil {
		return ""
	}
	lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' })
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return visible(strings.Join(lines, "; "), sentenceRunesMax)
}
