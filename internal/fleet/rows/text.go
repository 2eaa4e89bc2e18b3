package rows

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// brief makes one line of bounded length out of a text of a recording: engines refuse what is no
// UTF-8.
func brief(text string) string {
	if len(text) > maxText {
		text = text[:maxText] + "…"
	}
	plain := utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
	if plain {
		return text
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}
