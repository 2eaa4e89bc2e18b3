// Package shell takes a command for sh apart: the variables and wrappers before a program, the
// program's words, and what follows. It reads with the parser of mvdan.cc/sh. It refuses what
// begins with no simple command (a subshell, a loop, a function), and says what that is.
//
//	command, err := shell.Parse(`GOGC=25 taskset -c 0 ./serve -n 5 >log`, "")
//	// Head:  the variable GOGC=25, the wrapper "taskset -c 0"
//	// Words: ./serve -n 5
//	// After: " >log"
package shell

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Word is one word of a command.
type Word struct {
	Text   string // as it was typed, with its quotes
	Value  string // as the program gets it; the same as Text where the shell expands something
	static bool   // the shell expands nothing in it
	from   int    // where it begins in the text
}

func (w Word) end() int { return w.from + len(w.Text) }

// Command is the first simple command of a text for sh.
type Command struct {
	Head    []Piece // what stands before the program, in order
	Words   []Word  // the program and its arguments up to the first redirection; may be none
	After   string  // what stands behind them, as it was typed: redirections, operators, commands
	before  string  // a comment, a redirection or blanks in front of the first word
	follows string  // the text that the same shell runs next, "" where there is none
}

// Parse takes the first simple command of a text apart. other is the other side's command, "" for
// none: where its words begin, the options of a tracer end.
func Parse(text, other string) (Command, error) {
	simple, err := firstOf(text)
	if err != nil {
		return Command{}, err
	}
	words := simple.words(text)
	if len(words) == 0 {
		return Command{}, errors.New("a redirection stands before the program")
	}
	command := Command{before: text[:words[0].from], After: text[words[len(words)-1].end():]}
	if simple.follows > 0 {
		command.follows = text[simple.follows:]
	}
	command.Head, command.Words, err = split(words, len(simple.call.Assigns), other)
	return command, err
}

// Text puts a command together again.
func (c Command) Text() string {
	var words []string
	for _, piece := range c.Head {
		words = append(words, texts(piece.Words)...)
	}
	text := strings.Join(append(words, texts(c.Words)...), " ")
	if text == "" {
		text = ":" // nothing but redirections would not be a command to every shell
	}
	return c.before + text + c.After
}

func texts(words []Word) (list []string) {
	for _, word := range words {
		list = append(list, word.Text)
	}
	return list
}

// simple is a simple command in the tree of a text.
type simple struct {
	statement *syntax.Stmt
	call      *syntax.CallExpr
	follows   int // where the command begins that the same shell runs next, 0 where there is none
}

// parse reads as sh does, or as bash, which some systems have for sh.
func parse(text string) (*syntax.File, error) {
	read := func(language syntax.LangVariant) (*syntax.File, error) {
		return syntax.NewParser(syntax.Variant(language)).Parse(strings.NewReader(text), "")
	}
	file, err := read(syntax.LangPOSIX)
	if err == nil {
		return file, nil
	}
	if file, errInBash := read(syntax.LangBash); errInBash == nil {
		return file, nil
	}
	return nil, err
}

// firstOf finds the first simple command: of a list, of a pipeline or alone.
func firstOf(text string) (simple, error) {
	file, err := parse(text)
	if err != nil {
		return simple{}, fmt.Errorf("sh cannot read the command: %w", err)
	}
	if len(file.Stmts) == 0 {
		return simple{}, errors.New("no command is given")
	}
	found := simple{statement: file.Stmts[0]}
	if len(file.Stmts) > 1 {
		found.follows = int(file.Stmts[1].Pos().Offset())
	}
	for {
		statement := found.statement
		if statement.Negated {
			return simple{}, errors.New("the command begins with !")
		}
		if statement.Background {
			found.follows = 0 // a process of its own runs it
		}
		switch command := statement.Cmd.(type) {
		case *syntax.CallExpr:
			found.call = command
			return found, nil
		case *syntax.BinaryCmd:
			found.statement, found.follows = command.X, 0
			if command.Op == syntax.AndStmt && !statement.Background {
				found.follows = int(command.Y.Pos().Offset())
			}
		default:
			return simple{}, fmt.Errorf("the command begins with %s", called(command))
		}
	}
}

// called names what is no simple command.
func called(command syntax.Command) string {
	switch command.(type) {
	case nil:
		return "a redirection"
	case *syntax.Subshell:
		return "a subshell"
	case *syntax.Block:
		return "a group"
	case *syntax.FuncDecl:
		return "a function"
	case *syntax.IfClause, *syntax.CaseClause, *syntax.TestClause:
		return "a condition"
	case *syntax.ForClause, *syntax.WhileClause:
		return "a loop"
	}
	return "a keyword of the shell"
}

// words are the words of a command up to the first redirection behind one of them.
func (s simple) words(text string) (words []Word) {
	for _, assign := range s.call.Assigns {
		words = append(words, assignmentOf(text, assign))
	}
	for _, arg := range s.call.Args {
		words = append(words, wordOf(text, arg, arg))
	}
	for i, word := range words {
		for _, redirect := range s.statement.Redirs {
			if at := int(redirect.Pos().Offset()); words[0].from < at && at < word.from {
				return words[:i]
			}
		}
	}
	return words
}

func assignmentOf(text string, assign *syntax.Assign) Word {
	word := wordOf(text, assign, assign.Value)
	if word.static && assign.Value != nil {
		word.Value = assign.Name.Value + "=" + word.Value
	}
	return word
}

func wordOf(text string, node syntax.Node, value *syntax.Word) Word {
	from := int(node.Pos().Offset())
	word := Word{Text: text[from:node.End().Offset()], from: from}
	word.Value, word.static = word.Text, true
	if value != nil {
		word.Value, word.static = literal(value, word.Text)
	}
	return word
}

// literal is a word without its quotes, or text where the shell expands something in it, which
// static denies.
func literal(word *syntax.Word, text string) (value string, static bool) {
	var plain strings.Builder
	if strings.HasPrefix(text, "~") || !unquote(&plain, word.Parts, false) {
		return text, false
	}
	return plain.String(), true
}

// unquote writes parts without their quotes. It refuses those that the shell expands.
func unquote(to *strings.Builder, parts []syntax.WordPart, inQuotes bool) bool {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			for i := 0; i < len(part.Value); i++ {
				escaped := part.Value[i] == '\\' && i+1 < len(part.Value)
				if escaped && (!inQuotes || strings.IndexByte("\"\\$`", part.Value[i+1]) >= 0) {
					i++
				}
				to.WriteByte(part.Value[i])
			}
		case *syntax.SglQuoted:
			if part.Dollar {
				return false
			}
			to.WriteString(part.Value)
		case *syntax.DblQuoted:
			if part.Dollar || !unquote(to, part.Parts, true) {
				return false
			}
		default:
			return false
		}
	}
	return true
}
