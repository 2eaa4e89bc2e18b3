package report

import (
	"math"
	"strings"
)

// mdEscaped are the characters that mean something to Markdown, to HTML within it, or to a hosted
// service (mentions, references to issues).
const mdEscaped = "\\`*_{}[]()<>#+!|~&@"

// mdText is text of the data as Markdown shows it: nothing in it is markup, a link or a mention.
func mdText(text string, limit int) string {
	var out strings.Builder
	for _, r := range visible(strings.ReplaceAll(text, space, " "), limit) {
		switch {
		case r == '@' || r == '#' || r == '<' || r == '&': // a backslash does not stop mentions everywhere
			out.WriteString(map[rune]string{'@': "&#64;", '#': "&#35;", '<': "&lt;", '&': "&amp;"}[r])
		case strings.ContainsRune(mdEscaped, r):
			out.WriteByte('\\')
			out.WriteRune(r)
		default:
			out.WriteRune(r)
		}
	}
	text = out.String()
	for _, scheme := range []string{"http://", "https://", "www."} { // no address of the data becomes a link
		text = strings.ReplaceAll(text, scheme, scheme[:len(scheme)-1]+"\u200b"+scheme[len(scheme)-1:])
	}
	return text
}

// mdCode is text of the data as a code span, whose fence is longer than any run of back quotes in
// it.
func mdCode(text string, limit int) string {
	text = visible(text, limit)
	longest, run := 0, 0
	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + " " + strings.ReplaceAll(text, "|", "¦") + " " + fence
}

// mdFence is text of the data within a fenced block, which it cannot end.
func mdFence(text string) string {
	return strings.ReplaceAll(visible(text, nameRunesMax), "```", "'''")
}

// mdAddress is an address within angle brackets.
func mdAddress(text string) string {
	return strings.NewReplacer("<", "%3C", ">", "%3E", "\n", "", "\r", "").Replace(text)
}

// bounds are the smallest and the largest of all values; 0 and 0 where there is none.
func bounds(lists ...[]float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, list := range lists {
		for _, value := range list {
			low, high = math.Min(low, value), math.Max(high, value)
		}
	}
	if !finite(low) || !finite(high) {
		return 0, 0
	}
	return low, high
}
