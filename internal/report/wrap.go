package report

import (
	"strings"

	"github.com/rivo/uniseg"
)

// wrap breaks text at blanks into lines of at most width columns, counted as a
// terminal does; a word that is longer is cut between characters.
func wrap(text string, width int) []string {
	width = max(width, 10)
	var lines []string
	line, used := "", 0
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' }) {
		for _, piece := range cut(word, width) {
			columns := uniseg.StringWidth(piece)
			if used > 0 && used+1+columns > width {
				lines, line, used = append(lines, line), "", 0
			}
			if used > 0 {
				line, used = line+" ", used+1
			}
			line, used = line+piece, used+columns
		}
	}
	if used > 0 || len(lines) == 0 {
		lines = append(lines, line)
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], space, " ")
	}
	return lines
}

// cut splits a word into pieces of at most width columns.
func cut(word string, width int) []string {
	if uniseg.StringWidth(word) <= width {
		return []string{word}
	}
	var pieces []string
	piece, used, state := "", 0, -1
	for len(word) > 0 {
		var cluster string
		var columns int
		cluster, word, columns, state = uniseg.FirstGraphemeClusterInString(word, state)
		if used+columns > width && used > 0 {
			pieces, piece, used = append(pieces, piece), "", 0
		}
		piece, used = piece+cluster, used+columns
	}
	return append(pieces, piece)
}
