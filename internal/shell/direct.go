package shell

import "strings"

// Direct is a text that runs the same one program in place of the shell: "GOGC=25 exec ./serve". ""
// where the text is more than a program with its arguments and variables, or its name may be one of
// the shell's own commands.
func Direct(text string) string {
	command, err := Parse(text, "")
	if err != nil || len(command.Words) == 0 || strings.TrimSpace(command.After) != "" ||
		strings.TrimSpace(command.before) != "" || command.follows != "" {
		return ""
	}
	for _, piece := range command.Head {
		if piece.Kind != Variable {
			return ""
		}
	}
	program := command.Words[0]
	if !program.static || !strings.Contains(program.Value, "/") && builtins[program.Value] {
		return ""
	}
	return text[:program.from] + "exec " + text[program.from:]
}

// builtins are commands of the shell's own (POSIX, 2.9.1 and 2.14; dash(1)). Some are programs as
// well, which do not always do the same.
var builtins = map[string]bool{".": true, ":": true, "[": true, "alias": true, "bg": true, "break": true, "cd": true,
	"chdir": true, "command": true, "continue": true, "echo": true, "eval": true, "exec": true, "exit": true,
	"export": true, "false": true, "fg": true, "getopts": true, "hash": true, "jobs": true, "kill": true, "local": true,
	"printf": true, "pwd": true, "read": true, "readonly": true, "return": true, "set": true, "shift": true,
	"test": true, "time": true, "times": true, "trap": true, "true": true, "type": true, "ulimit": true, "umask": true,
	"unalias": true, "unset": true, "wait": true}
