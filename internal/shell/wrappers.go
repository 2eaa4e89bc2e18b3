package shell

import (
	"regexp"
	"slices"
	"strings"
)

// grammar says which words behind a wrapper are its own; its manual page is the source.
type grammar struct {
	kind    Kind
	letters string         // short options whose value may be the next word
	long    []string       // long options, the same
	alone   string         // short options with which it starts no program that its words name
	operand *regexp.Regexp // what one word before the program is like; nil: there is none
	verb    bool           // its first word is a command of its own
}

// aloneLong are the long options that name a running process, and env's that splits a text.
var aloneLong = []string{"--pid", "--pgid", "--uid", "--split-string"}

var (
	anyWord  = regexp.MustCompile(`^`)
	priority = regexp.MustCompile(`^[0-9]+$`)
	// architecture is what setarch knows as one, or has uname print.
	architecture = regexp.MustCompile("^(\"?(\\$\\(|`) *(uname -m|arch)\\b.*|linux(32|64)|uname26|" +
		"x86_64|i[3-6]86|athlon|aarch64|" +
		"(arm|ppc|powerpc|s390|sparc|mips|parisc|ia64|alpha|riscv|loongarch)[a-z0-9]*)$")
)

// grammars of coreutils, util-linux, numactl, the shell and the tracers.
var grammars = map[string]grammar{
	"exec":    {kind: Carrier, letters: "a"},
	"command": {kind: Carrier},
	"env":     {kind: Carrier, letters: "uC", long: []string{"unset", "chdir"}, alone: "S"},

	"nice":    {kind: Wrapper, letters: "n", long: []string{"adjustment"}},
	"taskset": {kind: Wrapper, alone: "p", operand: anyWord},
	"chrt": {kind: Wrapper, letters: "TPD", alone: "p", operand: priority,
		long: []string{"sched-runtime", "sched-period", "sched-deadline"}},
	"ionice": {kind: Wrapper, letters: "cn", alone: "pPu", long: []string{"class", "classdata"}},
	"numactl": {kind: Wrapper, letters: "iwpPmNC", long: []string{"interleave",
		"weighted-interleave", "preferred", "preferred-many", "membind", "cpunodebind", "physcpubind",
		"cpubind"}},
	"setarch": {kind: Wrapper, operand: architecture},
	"prlimit": {kind: Wrapper, letters: "o", alone: "p", long: []string{"output"}},

	"strace":   {kind: Tracer, letters: "aeEIoOpPsSuUXb"},
	"ltrace":   {kind: Tracer, letters: "aAeDlFnopsux"},
	"perf":     {kind: Tracer, letters: "oeFCptcmGIrxDg", verb: true},
	"gdb":      {kind: Tracer},
	"valgrind": {kind: Tracer},
	"bpftrace": {kind: Tracer, letters: "eopc"},
}

// words counts the words of a wrapper: its name, its options with their values, its operand. 0: it
// starts no program that these words name.
func (g grammar) words(words []Word, other string) int {
	if g.kind == Tracer {
		if took := untilProgram(words, other); took > 0 {
			return took
		}
	}
	took, operand := 1, g.operand
	if g.verb && len(words) > 1 {
		took++
	}
	for took < len(words) {
		word := words[took]
		switch {
		case word.Value == "--":
			return took + 1
		case strings.HasPrefix(word.Value, "--"):
			name, _, joined := strings.Cut(word.Value, "=")
			if g.kind != Tracer && slices.Contains(aloneLong, name) {
				return 0
			}
			if !joined && slices.Contains(g.long, name[2:]) {
				took++
			}
		case strings.HasPrefix(word.Value, "-"):
			if strings.ContainsAny(g.valueless(word.Value[1:]), g.alone) {
				return 0
			}
			if g.wantsNext(word.Value[1:]) {
				took++
			}
		case operand != nil && operand.MatchString(word.Value):
			operand = nil
		default:
			return took
		}
		took++
	}
	return min(took, len(words))
}

// valueless are the letters of a cluster of short options up to, and with, the first that takes a
// value.
func (g grammar) valueless(letters string) string {
	if at := strings.IndexAny(letters, g.letters); at >= 0 {
		return letters[:at+1]
	}
	return letters
}

// wantsNext tells whether the last letter of a cluster takes the next word for its value.
func (g grammar) wantsNext(letters string) bool {
	at := strings.IndexAny(letters, g.letters)
	return at >= 0 && at == len(letters)-1
}

// untilProgram counts a tracer's words up to a bare --, or to where the other side's command
// begins; 0: neither is there. A table of all options of tracers would depend on their versions.
func untilProgram(words []Word, other string) int {
	list := texts(words)
	if at := slices.Index(list, "--"); at > 0 {
		return at + 1
	}
	if other == "" {
		return 0
	}
	theirs, err := firstOf(other)
	if err != nil {
		return 0
	}
	bare := texts(theirs.words(other))
	if len(bare) > 0 && len(bare) < len(list) && slices.Equal(list[len(list)-len(bare):], bare) {
		return len(list) - len(bare)
	}
	return 0
}
