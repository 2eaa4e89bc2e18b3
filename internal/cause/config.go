package cause

import (
	"fmt"
	"regexp"
	"sort"
	"strings"

	"culprit/internal/compare"
)

// telling are the settings that can change how a program runs; others (a
// terminal, a path) differ without meaning.
var telling = []string{"target.environment.", "target.nice", "target.policy", "target.affinity", "target.thp",
	"target.cgroup.", "target.limit.", "target.timerslack_ns", "target.seccomp", "target.tracer", "target.memory_nodes",
	"target.speculation",
	"target.personality", "clocksource.current", "thp.", "transparent_hugepage", "vm.", "kernel.", "cpufreq", "smt",
	"mitigations", "vulnerabilities", "cpu.model", "microcode", "cgroup.", "block.", "mount.", "net.",
	"command."}

// changed lists the settings that differ among those whose names begin with one of the given.
func (s *scene) changed(names ...string) []compare.FactChange {
	var found []compare.FactChange
	seen := map[string]bool{} // what was read of the process is what its command line sets
	for _, change := range s.changes {
		seen[change.Name] = true
	}
	for _, change := range append(append([]compare.FactChange{}, s.changes...), s.commandSettings(seen)...) {
		for _, name := range names {
			if strings.HasPrefix(change.Name, name) {
				found = append(found, change)
				break
			}
		}
	}
	return found
}

// settings are the facts that differ and mean something, with those that the command lines themselves set.
func (s *scene) settings() []compare.FactChange {
	var list []compare.FactChange
	seen := map[string]bool{}
	for _, change := range s.changes {
		for _, name := range telling {
			if strings.HasPrefix(change.Name, name) && !seen[change.Name] {
				seen[change.Name] = true
				list = append(list, change)
			}
		}
	}
	return append(list, s.commandSettings(seen)...)
}

// commandSettings are the settings that the command lines set differently, without those already known.
func (s *scene) commandSettings(seen map[string]bool) []compare.FactChange {
	if s.oneSided {
		return nil
	}
	var list []compare.FactChange
	_, setA := splitCommand(s.commandA)
	_, setB := splitCommand(s.commandB)
	for _, name := range sortedNames(union(setA, setB)) {
		if setA[name] != setB[name] && !seen[name] {
			list = append(list, compare.FactChange{Name: name, A: setA[name], B: setB[name], Source: "command"})
		}
	}
	return list
}

func union(a, b map[string]string) map[string]bool {
	all := map[string]bool{}
	for name := range a {
		all[name] = true
	}
	for name := range b {
		all[name] = true
	}
	return all
}

var (
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	// runtimeVariable are variables that change how a program runs; others are arguments in another form.
	runtimeVariable = regexp.MustCompile(`^(LD_|GLIBC_TUNABLES|MALLOC_|GO(GC|DEBUG|MAXPROCS|MEMLIMIT|TRACEBACK)|` +
		`_?(JAVA|JDK)_|NODE_OPTIONS|UV_|PYTHON|OMP_|GOMP_|KMP_|MKL_|OPENBLAS_|RAYON_|TOKIO_|RUBY|PERL5|DOTNET_|` +
		`TCMALLOC|JE_MALLOC|LC_ALL|LANG|TZ|TMPDIR|FAKETIME|[ATU]B?SAN_)`)
	// wrapperOption is an option of nice, taskset, chrt, ionice or env, or its value.
	wrapperOption = regexp.MustCompile(`^(-[a-zA-Z0-9-]+(=.*)?|[0-9]+([,-][0-9]+)*|0x[0-9a-f]+)$`)
)

// shellWords splits a command at spaces outside quotes; quotes stay.
func shellWords(command string) (words []string) {
	quoted, start := byte(0), -1
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
			continue
		case c == ' ' || c == '\t' || c == '\n':
			if start >= 0 {
				words, start = append(words, command[start:i]), -1
			}
			continue
		case c == '"' || c == '\'':
			quoted = c
		}
		if start < 0 {
			start = i
		}
	}
	if start >= 0 {
		words = append(words, command[start:])
	}
	return words
}

// settingWrappers are standard programs that run another one under changed settings.
var settingWrappers = map[string]bool{"env": true, "nice": true, "taskset": true, "chrt": true, "ionice": true,
	"numactl": true, "setarch": true, "prlimit": true, "exec": true, "export": true}

// splitCommand takes the settings at the head of a shell command apart from
// the rest: VAR=VALUE, and wrappers such as "nice -n 5" or "taskset -c 0".
func splitCommand(command string) (rest string, settings map[string]string) {
	settings = map[string]string{}
	words := shellWords(command)
	wrapper := ""
	var arguments []string
	for len(words) > 0 {
		word := words[0]
		switch {
		case assignment.MatchString(word):
			name, value, _ := strings.Cut(word, "=")
			if runtimeVariable.MatchString(name) {
				settings["target.environment."+name] = strings.Trim(value, `"';`)
			} else {
				arguments = append(arguments, word)
			}
			wrapper = ""
		case settingWrappers[word]:
			wrapper = word
			settings["command."+word] = ""
		case wrapper != "" && wrapperOption.MatchString(word):
			settings["command."+wrapper] = strings.TrimSpace(settings["command."+wrapper] + " " + word)
		default:
			return strings.Join(append(arguments, words...), " "), settings
		}
		words = words[1:]
	}
	return strings.Join(arguments, " "), settings
}

// giveSetting claims what nobody owns for settings where the two commands are the same but for them: the same code with
// the same input. A setting that another claim names is that one's, and so is the rest then.
func (l *ledger) giveSetting(rule transfer) {
	settings := l.settings()
	if l.explained || len(settings) == 0 || !l.sameProgram() {
		return
	}
	if l.explained = l.giveRest(rule, settings); l.explained {
		return
	}
	if left := l.unnamed(settings); len(left) > 0 {
		settings = left
	}
	l.explained = l.configClaim(rule, settings) != nil
}

// sameProgram reports whether both sides run the same program with the same arguments: by the commands, or, where
// scripts hide them, by what the kernel says was run in the end.
func (s *scene) sameProgram() bool {
	restA, _ := splitCommand(s.commandA)
	restB, _ := splitCommand(s.commandB)
	if restA == restB {
		return restA != ""
	}
	a, b := s.factsA["target.command"], s.factsB["target.command"]
	return a == b && a != "" && len(a) < wholeCommand && a != s.commandA && a != s.commandB
}

// wholeCommand is the length in bytes from which on the fact may be only the beginning of a command line.
const wholeCommand = 500

// alsoTold is how many settings are told with a place in code, which is the stronger explanation.
const alsoTold = 3

// giveUnexplained claims what even code did not explain, when settings differ and nothing strong was found.
func (l *ledger) giveUnexplained(rule transfer) {
	settings := l.unnamed(l.settings())
	if l.explained || len(settings) == 0 {
		return
	}
	for _, c := range l.claims {
		for i := 0; i < min(alsoTold, len(settings)) && c.rule == ruleCode; i++ {
			c.add("facts", "also differs: "+describe(settings[i]), 0, 0, "")
		}
	}
	l.configClaim(rule, settings)
}

func (l *ledger) configClaim(rule transfer, settings []compare.FactChange) *claim {
	return l.claim(rule.rule, finding{cause: ConfigDiffers, match: everything, tell: func(c *claim) {
		for _, setting := range settings {
			c.at(inSetting(setting))
			if len(c.evidence) < whereLimit {
				c.addSetting(setting)
			}
			if setting.Name == "clocksource.current" {
				c.knob = "clocksource"
			}
		}
		l.locate(c, "")
	}})
}

func describe(setting compare.FactChange) string {
	return fmt.Sprintf("%s: %s against %s", setting.Name, orNone(setting.A), orNone(setting.B))
}

func sortEvidence(list []Evidence) {
	sort.SliceStable(list, func(i, j int) bool { return list[i].B-list[i].A > list[j].B-list[j].A })
}
