package shell

import (
	"fmt"
	"regexp"
	"strings"
)

// Kind says what a piece before the program does.
type Kind int

const (
	Variable Kind = iota // NAME=VALUE
	Carrier              // exec, command, env, export: it starts the program, or hands variables over
	Wrapper              // nice, taskset …: it starts the program under changed settings
	Tracer               // strace, perf …: it watches the program
)

// Piece is one thing before the program with its words: a variable, or a wrapper with its options.
type Piece struct {
	Kind  Kind
	Name  string // of the variable or of the wrapper
	Words []Word
}

// Value is what a piece sets: a variable's value, or the words behind a wrapper's name.
func (p Piece) Value() string {
	if p.Kind != Variable {
		return strings.Join(texts(p.Words[1:]), " ")
	}
	_, value, _ := strings.Cut(p.Words[0].Value, "=")
	if !p.Words[0].static {
		value = strings.Trim(value, `"'`)
	}
	return value
}

// Unsets are the variables that env takes out, where it does nothing else.
func (p Piece) Unsets() (names []string) {
	if p.Kind != Carrier || p.Name != "env" {
		return nil
	}
	for at := 1; at < len(p.Words); at++ {
		word := p.Words[at].Value
		name, long := strings.CutPrefix(word, "--unset=")
		switch {
		case long:
		case (word == "-u" || word == "--unset") && at+1 < len(p.Words):
			at++
			name = p.Words[at].Value
		case strings.HasPrefix(word, "-u"):
			name = word[len("-u"):]
		default:
			return nil
		}
		names = append(names, name)
	}
	return names
}

// assigned is a word that sets a variable; a quote may stand before the name where env reads it.
var assigned = regexp.MustCompile(`^["']?([A-Za-z_][A-Za-z0-9_]*)=`)

// split divides words into the pieces at their head and the program. The first words, as many as
// variables says, are variables of the shell.
func split(words []Word, variables int, other string) (head []Piece, program []Word, err error) {
	environment := false // NAME=VALUE is read by env
	for at := 0; at < len(words); {
		word := words[at]
		name := assigned.FindStringSubmatch(word.Text)
		if name != nil && (at < variables || environment) {
			head = append(head, Piece{Variable, name[1], words[at : at+1]})
			at++
			continue
		}
		if word.Value == "export" {
			return append(head, exported(words[at:])...), nil, nil
		}
		known, isWrapper := grammars[word.Value]
		if !isWrapper {
			return head, words[at:], nil
		}
		took := known.words(words[at:], other)
		if took == 0 {
			return head, words[at:], nil
		}
		head = append(head, Piece{known.kind, word.Value, words[at : at+took]})
		environment = word.Value == "env"
		at += took
		hasOptions := known.kind == Wrapper || environment
		if hasOptions && took == 1 && at < len(words) && words[at].mayBeMany() {
			err := fmt.Errorf("what %s expands to may be options of %s", words[at].Text, word.Value)
			return nil, nil, err
		}
	}
	return head, nil, nil
}

// mayBeMany tells that a word is expanded without quotes, so that it may become several or none.
func (w Word) mayBeMany() bool {
	return strings.HasPrefix(w.Text, "$") || strings.HasPrefix(w.Text, "`")
}

// exported are the pieces of export: its variables, and what else it is given.
func exported(words []Word) []Piece {
	carrier := Piece{Carrier, "export", words[:1:1]}
	var variables []Piece
	for _, word := range words[1:] {
		if name := assigned.FindStringSubmatch(word.Text); name != nil {
			variables = append(variables, Piece{Variable, name[1], []Word{word}})
		} else {
			carrier.Words = append(carrier.Words, word)
		}
	}
	return append([]Piece{carrier}, variables...)
}
