package shell

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// plain words mean the same whatever quotes are around them.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./:@%+-]+$`)

// IsPlain tells whether a word means the same to a shell with and without quotes, of either kind.
func IsPlain(word string) bool { return plain.MatchString(word) && !syntax.IsKeyword(word) }

// Quote makes a text one word of a shell.
func Quote(word string) string {
	if IsPlain(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Join makes a command of words that the program gets as they are.
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = Quote(word)
	}
	return strings.Join(quoted, " ")
}
