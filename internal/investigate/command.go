package investigate

import (
	"regexp"
	"slices"
	"strings"

	"culprit/internal/cause"
)

// shellCommand is the first simple command of a shell's text, taken apart. Words stand as they were typed, with their
// quotes, so that putting them together again gives the same command.
type shellCommand struct {
	pieces  []piece
	program string
	options []string // of the run time: what begins with a dash right behind the program
	rest    []string
	tail    string // from the first operator of the shell on
}

// piece is something at the head of a command: a variable, a wrapper or a tracer with all their words.
type piece struct {
	part, name string
	words      []string
}

var (
	assignedWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	// wrapperWord is an option of a wrapper, or the value of one.
	wrapperWord = regexp.MustCompile(`^(-[a-zA-Z0-9-]+(=.*)?|[0-9]+([,-][0-9]+)*|0x[0-9a-f]+)$`)
	// ofProcess is the option of taskset, chrt, ionice and prlimit that names a process.
	ofProcess = regexp.MustCompile(`^(-[a-oq-z]*p|--pid)`)
)

// wrappers run another program under changed settings; carriers run it unchanged.
var (
	wrappers = []string{"taskset", "numactl", "nice", "chrt", "ionice", "setarch", "prlimit"}
	carriers = []string{"env", "exec", "export", "command"}
	// tracers by name: the letters of those of their options that take a value in the next word.
	tracers = map[string]string{"strace": "aeEIoOpPsSuUXb", "ltrace": "aAeDlFnopsux", "perf": "oeFCptcmGIrxDg",
		"gdb": "", "valgrind": "", "bpftrace": "eopc"}
)

// operators of the shell end a simple command.
const operators = ";|&<>(){}`\n"

// splitWords cuts a command into words as they stand. What begins with an unquoted operator, or the blanks before it,
// is the tail.
func splitWords(command string) (words []string, tail string) {
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	quote := byte(0)
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
			if c == '\\' && quote == '"' && i+1 < len(command) {
				word.WriteByte(c)
				i++
				c = command[i]
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '\\' && i+1 < len(command):
			word.WriteByte(c)
			i++
			c = command[i]
		case c == ' ' || c == '\t':
			flush()
			continue
		case strings.IndexByte(operators, c) >= 0:
			flush()
			return words, command[len(strings.TrimRight(command[:i], " \t")):]
		}
		word.WriteByte(c)
	}
	flush()
	return words, ""
}

// parseCommand takes a command apart; other is the other side's, whose words tell where a tracer's own end.
func parseCommand(command, other string) shellCommand {
	words, tail := splitWords(command)
	parsed := shellCommand{tail: tail}
	for len(words) > 0 {
		took := parsed.piece(words, other)
		if took == 0 {
			break
		}
		words = words[took:]
	}
	if len(words) == 0 {
		return parsed
	}
	parsed.program, words = words[0], words[1:]
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		parsed.options, words = append(parsed.options, words[0]), words[1:]
	}
	parsed.rest = words
	return parsed
}

// piece takes one piece off the words and returns how many they were; 0: the program begins.
func (c *shellCommand) piece(words []string, other string) int {
	word := words[0]
	took, part, name := 1, "", word
	switch {
	case assignedWord.MatchString(word):
		part = cause.PartVariable
		name, _, _ = strings.Cut(word, "=")
	case slices.Contains(carriers, word):
		part = "carrier"
	case slices.Contains(wrappers, word):
		part = cause.PartWrapper
		for took < len(words) && wrapperWord.MatchString(words[took]) {
			if ofProcess.MatchString(words[took]) {
				return 0 // it changes a process that runs, and wraps none
			}
			took++
		}
	default:
		letters, known := tracers[word]
		if !known {
			return 0
		}
		part, took = cause.PartTracer, tracerWords(words, letters, other)
	}
	c.pieces = append(c.pieces, piece{part, name, words[:took]})
	return took
}

// tracerWords counts the words of a tracer: up to a bare --, or where the other side's command begins, or as far as its
// options go.
func tracerWords(words []string, letters, other string) int {
	if at := slices.Index(words, "--"); at > 0 {
		return at + 1
	}
	if theirs, _ := splitWords(other); len(theirs) > 0 && len(theirs) < len(words) &&
		slices.Equal(words[len(words)-len(theirs):], theirs) {
		return len(words) - len(theirs)
	}
	took := 1
	if words[0] == "perf" && len(words) > 1 {
		took++ // its own verb
	}
	for took < len(words) && strings.HasPrefix(words[took], "-") {
		option := words[took]
		took++
		if len(option) == 2 && strings.Contains(letters, option[1:]) && took < len(words) {
			took++
		}
	}
	return took
}

// text puts the command together again.
func (c shellCommand) text() string {
	var words []string
	for _, each := range c.pieces {
		words = append(words, each.words...)
	}
	if c.program != "" {
		words = append(words, c.program)
	}
	words = append(append(words, c.options...), c.rest...)
	text := strings.Join(words, " ")
	if text == "" {
		text = ":"
	}
	return text + c.tail
}

// concerns tells whether a flip changes a piece.
func concerns(flip cause.Flip, each piece) bool {
	switch {
	case flip.What == cause.PartHead && (each.part == cause.PartVariable || each.part == cause.PartWrapper):
		return true
	case flip.What != each.part:
		return false
	}
	return len(flip.Names) == 0 || slices.ContainsFunc(flip.Names, func(name string) bool {
		return strings.HasPrefix(each.name, name)
	})
}

// restarted is a command with those parts as the other side has them, or without where it has none; from and to say
// what was changed. ok is false where the flip changes nothing.
func restarted(command, other string, flip cause.Flip) (text, from, to string, ok bool) {
	ours, theirs := parseCommand(command, other), parseCommand(other, command)
	var kept []piece
	var out, in []string
	for _, each := range theirs.pieces {
		if concerns(flip, each) && flip.What != cause.PartTracer {
			kept = append(kept, each)
			in = append(in, each.words...)
		}
	}
	for _, each := range ours.pieces {
		if concerns(flip, each) {
			out = append(out, each.words...)
		} else {
			kept = append(kept, each)
		}
	}
	ours.pieces = kept
	if (flip.What == cause.PartOption || flip.What == cause.PartHead) && ours.program == theirs.program && other != "" {
		out, in = append(out, ours.options...), append(in, theirs.options...)
		ours.options = theirs.options
	}
	if slices.Equal(out, in) || ours.program == "" {
		return "", "", "", false
	}
	return ours.text(), orBare(out, in), orBare(in, out), true
}

// orBare names one side's words that the other lacks.
func orBare(words, without []string) string {
	var own []string
	for _, word := range words {
		if !slices.Contains(without, word) {
			own = append(own, word)
		}
	}
	if len(own) == 0 {
		return "nothing of it"
	}
	return strings.Join(own, " ")
}
