package report

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rivo/uniseg"

	"culprit/internal/cause"
	"culprit/internal/compare/lines"
)

const (
	wordsMax     = 12 // of a line, on a terminal
	usersMax     = 3  // of a word
	wordNameMost = 40 // columns
)

// sharedLine draws a cache line: its words by offset, who writes and who reads them, and where
// padding belongs.
func (p *page) sharedLine(line *cause.SharedLine) {
	if line == nil {
		return
	}
	p.entry("line", fmt.Sprintf("%d bytes, in the run that was sampled most there; samples that write and read each "+
		"word, ✓ where a debug register saw it", lines.Bytes), dim, plain)
	shown := line.Words[:min(len(line.Words), wordsMax)]
	names, columns := make([]string, len(shown)), 0
	for i := range shown {
		if names[i] = wordName(&shown[i]); uniseg.StringWidth(names[i]) > columns {
			columns = uniseg.StringWidth(names[i])
		}
	}
	for i := range shown {
		if shown[i].Apart {
			p.entry("", strings.Repeat(space, 5)+"── padding belongs here ──", plain, bold)
		}
		pad := strings.Repeat(space, columns-uniseg.StringWidth(names[i]))
		offset := fmt.Sprintf("+%d", shown[i].Offset)
		p.entry("", space+offset+strings.Repeat(space, max(4-len(offset), 0))+strings.ReplaceAll(names[i], " ", space)+pad+
			space+space+wordUsers(&shown[i]), plain, plain)
	}
	if more := len(line.Words) - len(shown); more > 0 {
		p.entry("", fmt.Sprintf("and %s in the report", plural(more, "more word")), plain, dim)
	}
	for _, text := range blocksIn(shown) {
		p.entry("block", text, dim, plain)
	}
	p.entry("apart", visible(line.String(), sentenceRunesMax), dim, plain)
}

func wordName(word *lines.Word) string {
	name := visible(word.Name, wordNameMost)
	if name == "" {
		name = "?"
	}
	return fmt.Sprintf("%s (%d)", name, word.Size)
}

// blocksIn says which heap blocks words lie in, and who asked for them: "+16, +24 in a block of 16
// bytes, allocated by make_stats (stats.cpp:8)".
func blocksIn(words []lines.Word) (list []string) {
	type start struct{ line, size int64 } // of a block, from the begin of the line
	in := map[start][]string{}
	var order []start
	for i := range words {
		if block := words[i].Block; block != nil {
			at := start{int64(words[i].Offset) - block.Offset, block.Size}
			if in[at] == nil {
				order = append(order, at)
			}
			in[at] = append(in[at], fmt.Sprintf("+%d", words[i].Offset))
		}
	}
	for i := range words {
		block := words[i].Block
		if block == nil {
			continue
		}
		at := start{int64(words[i].Offset) - block.Offset, block.Size}
		if len(order) == 0 || order[0] != at {
			continue
		}
		order = order[1:]
		text := fmt.Sprintf("%s in a block of %s bytes", strings.Join(in[at], ", "), digits(float64(block.Size)))
		if block.By != "" {
			text += ", allocated by " + visible(block.By, nameRunesMax)
		}
		if block.File != "" {
			text += fmt.Sprintf(" (%s:%d)", visible(filepath.Base(block.File), wordNameMost), block.Line)
		}
		list = append(list, text)
	}
	return list
}

// wordUsers says who touches a word: "parse/7101 writes 190, reads 4 ✓".
func wordUsers(word *lines.Word) string {
	var list []string
	for i := range word.Users[:min(len(word.Users), usersMax)] {
		user := &word.Users[i]
		var does []string
		if user.Writes > 0 {
			does = append(does, "writes "+digits(user.Writes))
		}
		if user.Reads > 0 {
			does = append(does, "reads "+digits(user.Reads))
		}
		text := visible(user.Name, nameRunesMax) + " " + strings.Join(does, ", ")
		if user.Hits > 0 {
			text = strings.TrimSpace(text) + space + "✓"
		}
		list = append(list, text)
	}
	if more := len(word.Users) - len(list) + word.More; more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, "; ")
}

// priceLine says what threads gain where no line moves; "" where it is not known.
func priceLine(price *cause.Price) string {
	if price == nil || !known(&price.Gain) {
		return ""
	}
	return fmt.Sprintf("%s: held on one CPU, where no line moves, the threads do %s the work in the same CPU time (%s "+
		"between %s and %s), which is about what they would gain by sharing none", visible(string(price.Verdict), 20),
		times(price.Gain.Ratio), confidence(price.Gain), times(price.Gain.Low), times(price.Gain.High))
}
