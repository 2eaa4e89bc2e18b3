package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Settings takes the settings at the head of a text apart from the rest: variables and wrappers
// before the program, and commands before it that only set them for the shell (export, a bare
// NAME=VALUE, taskset -p $$). Two texts with the same rest start the same program. A text that
// begins otherwise is the rest as a whole.
func Settings(text string) (settings []Piece, rest string) {
	if rest = canonical(text); rest == "" {
		return nil, ""
	}
	for {
		command, err := Parse(rest, "")
		if err != nil {
			return settings, rest
		}
		onShell, isSetting := command.onShell()
		switch {
		case isSetting && command.follows != "":
			settings, rest = append(append(settings, command.Head...), onShell), command.follows
			continue
		case command.onlySets() && command.follows != "":
			settings, rest = append(settings, command.Head...), command.follows
			continue
		}
		at := slices.IndexFunc(command.Head, func(piece Piece) bool { return piece.Kind == Tracer })
		if at < 0 {
			at = len(command.Head)
		}
		settings = append(settings, command.Head[:at]...)
		command.Head = command.Head[at:]
		return settings, command.tail()
	}
}

// onShell is a wrapper that changes the shell itself. What the shell starts later inherits it.
func (c Command) onShell() (Piece, bool) {
	last := len(c.Words) - 1
	if last < 1 || c.Words[last].Text != "$$" || grammars[c.Words[0].Value].kind != Wrapper {
		return Piece{}, false
	}
	return Piece{Wrapper, c.Words[0].Value, c.Words[:last]}, true
}

// onlySets tells that a command does nothing but set variables, for itself or with export.
func (c Command) onlySets() bool {
	return len(c.Words) == 0 && !slices.ContainsFunc(c.Head, func(piece Piece) bool {
		return piece.Kind != Variable && piece.Name != "export"
	})
}

// tail is the command from its program on, "" where it has none.
func (c Command) tail() string {
	if len(c.Head) == 0 && len(c.Words) == 0 {
		return strings.TrimSpace(c.before + c.After)
	}
	return strings.TrimSpace(c.Text())
}

// canonical prints a text as the parser does, so that blanks outside of quotes make no difference.
func canonical(text string) string {
	file, err := parse(text)
	if err != nil {
		return strings.TrimSpace(text)
	}
	var printed strings.Builder
	if syntax.NewPrinter(syntax.SingleLine(true)).Print(&printed, file) != nil {
		return strings.TrimSpace(text)
	}
	return strings.TrimSpace(printed.String())
}

// DifferingWord is the one word in which two texts differ, as it was typed; ok is false where
// there is no such word.
func DifferingWord(a, b string) (inA, inB string, ok bool) {
	a, b = canonical(a), canonical(b)
	wordsA, wordsB := allWords(a), allWords(b)
	if len(wordsA) != len(wordsB) {
		return "", "", false
	}
	for i, word := range wordsA {
		if other := wordsB[i]; word.Text != other.Text {
			same := a[:word.from] == b[:other.from] && a[word.end():] == b[other.end():]
			return word.Text, other.Text, same
		}
	}
	return "", "", false
}

// Words are the words of all commands of a text without their quotes, in order, also those within a
// word that is a text of its own, as "sh -c" and JAVA_TOOL_OPTIONS take one. A text that is none of
// a shell is split at blanks.
func Words(text string) (words []string) {
	return within(text, func(Word) bool { return true })
}

// Arguments are the words as Words gives them, where the value of a variable stays one word.
func Arguments(text string) (words []string) {
	return within(text, func(word Word) bool { return assigned.FindString(word.Text) == "" })
}

// within takes apart the words of a text, and those of them that are texts and may be split.
func within(text string, split func(Word) bool) (words []string) {
	all := allWords(text)
	if len(all) == 0 {
		return strings.Fields(text)
	}
	for _, word := range all {
		if strings.ContainsAny(word.Value, " \t\n") && word.Value != text && split(word) {
			words = append(words, within(word.Value, split)...)
		} else {
			words = append(words, word.Value)
		}
	}
	return words
}

// allWords are the words of all commands of a text, in order.
func allWords(text string) (words []Word) {
	file, err := parse(text)
	if err != nil {
		return nil
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Assign:
			words = append(words, assignmentOf(text, node))
			return false
		case *syntax.Word:
			words = append(words, wordOf(text, node, node))
			return false
		}
		return true
	})
	return words
}
