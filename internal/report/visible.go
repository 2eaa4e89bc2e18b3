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
// longer than limit runes the outer frames go: the inner ones tell more. But the
// program's own function that called a library stays: "… › main.load › … › sql.(*DB).Query".
func visiblePath(path string, limit int) string {
	frames := strings.Split(path, ";")
	for i := range frames {
		frames[i] = visible(frames[i], nameRunesMax)
	}
	whole := strings.Join(frames, arrow)
	if utf8.RuneCountInString(whole) <= limit {
		return whole
	}
	own, inner := ownCaller(frames), len(frames)-1
	text := frames[inner]
	for ; inner > 0; inner-- {
		longer := frames[inner-1] + arrow + text
		if utf8.RuneCountInString(caller(frames, own, inner-1)+longer) > limit {
			break
		}
		text = longer
	}
	return caller(frames, own, inner) + text
}

const arrow = " › "

// caller is what stands before the frames from inner on: what was left out, with the program's own
// function if it is among that.
func caller(frames []string, own, inner int) string {
	const gap = "…" + arrow
	switch {
	case inner == 0:
		return ""
	case own < 0 || own >= inner:
		return gap
	}
	text := frames[own] + arrow
	if own > 0 {
		text = gap + text
	}
	if own < inner-1 {
		text += gap
	}
	return text
}

// ownCaller is the innermost frame of the package or crate that a program's main function is in, as
// far as names tell: Go's package main, and Rust's crate of a "shop::main", but for what derive
// generates there. -1 where none does.
func ownCaller(frames []string) int {
	prefixes := []string{"main."}
	for _, frame := range frames {
		if crate, found := strings.CutSuffix(frame, "::main"); found && crate != "" {
			prefixes = append(prefixes, crate+"::")
		}
	}
	for i := len(frames) - 1; i >= 0; i-- {
		for _, prefix := range prefixes {
			if strings.HasPrefix(frames[i], prefix) && !strings.Contains(frames[i], "<impl ") {
				return i
			}
		}
	}
	return -1
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
