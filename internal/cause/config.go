package cause

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strings"

	"culprit/internal/compare"
	"culprit/internal/shell"
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
	all := slices.Concat(s.changes, s.commandSettings())
	return slices.DeleteFunc(all, func(change compare.FactChange) bool {
		begins := func(name string) bool { return strings.HasPrefix(change.Name, name) }
		return !slices.ContainsFunc(names, begins)
	})
}

// settings are the facts that differ and mean something, with those that the command lines
// themselves set.
func (s *scene) settings() []compare.FactChange { return s.changed(telling...) }

// commandSettings are the settings that the command lines set differently, without those that were
// read of the process.
func (s *scene) commandSettings() (list []compare.FactChange) {
	if s.oneSided {
		return nil
	}
	seen := map[string]bool{}
	for _, change := range s.changes {
		seen[change.Name] = true
	}
	_, setA := splitCommand(s.commandA)
	_, setB := splitCommand(s.commandB)
	both := maps.Clone(setA)
	maps.Copy(both, setB)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if setA[name] != setB[name] && !seen[name] {
			list = append(list, compare.FactChange{Name: name, A: setA[name], B: setB[name], Source: "command"})
		}
	}
	return list
}

// runtimeVariable are variables that change how a program runs; others are arguments in another
// form.
var runtimeVariable = regexp.MustCompile(`^(LD_|GLIBC_TUNABLES|MALLOC_|GO(GC|DEBUG|MAXPROCS|MEMLIMIT|TRACEBACK)|` +
	`_?(JAVA|JDK)_|NODE_OPTIONS|UV_|PYTHON|OMP_|GOMP_|KMP_|MKL_|OPENBLAS_|RAYON_|TOKIO_|RUBY|PERL5|DOTNET_|` +
	`TCMALLOC|JE_MALLOC|LC_ALL|LANG|TZ|TMPDIR|FAKETIME|[ATU]B?SAN_)`)

// splitCommand takes the settings at the head of a shell command apart from
// the rest: VAR=VALUE, and wrappers such as "nice -n 5" or "taskset -c 0".
func splitCommand(command string) (rest string, settings map[string]string) {
	pieces, rest := shell.Settings(command)
	settings = map[string]string{}
	var arguments []string
	for _, piece := range pieces {
		switch name := "command." + piece.Name; {
		case piece.Unsets() != nil: // which is the same as not to set them
		case piece.Kind != shell.Variable:
			settings[name] = strings.TrimSpace(settings[name] + " " + piece.Value())
		case runtimeVariable.MatchString(piece.Name):
			settings["target.environment."+piece.Name] = piece.Value()
		default:
			arguments = append(arguments, piece.Words[0].Text)
		}
	}
	return strings.TrimSpace(strings.Join(append(arguments, rest), " ")), settings
}

// giveSetting claims what nobody owns for settings where the two commands are the same but for
// them: the same code with the same input. A setting that another claim names is that one's, and so
// is the rest then.
func (l *ledger) giveSetting(rule transfer) {
	settings := l.settings()
	if l.explained || len(settings) == 0 || !l.sameProgram() || l.onlyOtherCPUs() {
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

// sameProgram reports whether both sides run the same program with the same arguments: by the
// commands, or, where scripts hide them, by what the kernel says was run in the end.
func (s *scene) sameProgram() bool {
	restA, _ := splitCommand(s.commandA)
	restB, _ := splitCommand(s.commandB)
	if restA == restB {
		return restA != ""
	}
	a, b := s.factsA["target.command"], s.factsB["target.command"]
	return a == b && a != "" && len(a) < wholeCommand && a != s.commandA && a != s.commandB
}

// wholeCommand is the length in bytes from which on the fact may be only the beginning of a command
// line.
const wholeCommand = 500

// alsoTold is how many settings are told with a place in code, which is the stronger explanation.
const alsoTold = 3

// giveUnexplained claims what even code did not explain, when settings differ and nothing strong
// was found.
func (l *ledger) giveUnexplained(rule transfer) {
	settings := l.unnamed(l.settings())
	if l.explained || len(settings) == 0 {
		return
	}
	for _, c := range l.claims {
		for i := 0; i < min(alsoTold, len(settings)) && c.rule == ruleCode; i++ {
			c.note("facts", "also differs: "+describe(settings[i]))
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

// namers are the claims that name a setting which differs, by the setting's place in the list; nil
// where none does.
func (l *ledger) namers(settings []compare.FactChange) []*claim {
	by := make([]*claim, len(settings))
	for n, setting := range settings {
		for _, c := range l.claims {
			named := slices.ContainsFunc(c.evidence, func(e Evidence) bool { return e.Setting == setting.Name })
			if named && (by[n] == nil || l.grew(c) > l.grew(by[n])) {
				by[n] = c
			}
		}
	}
	return by
}

// unnamed are the settings that no claim names yet.
func (l *ledger) unnamed(settings []compare.FactChange) []compare.FactChange {
	var left []compare.FactChange
	for n, c := range l.namers(settings) {
		if c == nil {
			left = append(left, settings[n])
		}
	}
	return left
}

// giveRest gives what nobody owns to the one claim that names all settings in which the sides
// differ: the same code with the same input took longer for them. A heap that is collected more
// often costs the caches of all other code as well. It reports false where there is no such claim,
// or where the rest is larger: that has another mechanism.
func (l *ledger) giveRest(rule transfer, settings []compare.FactChange) bool {
	var c *claim
	for _, namer := range l.namers(settings) {
		if namer == nil || c != nil && namer != c {
			return false
		}
		c = namer
	}
	if c == nil {
		return false
	}
	rest := l.all(l.free)
	left := l.grew(rest)
	if left > l.grew(c) {
		return false
	}
	if left <= 0 {
		return true
	}
	before, known := l.shareOf(c)
	both := &claim{members: slices.Concat(c.members, rest.members)}
	if after, _ := l.shareOf(both); !known || after.Low < before.Low {
		return true // too few runs, or too unequal ones, to tell it: it stays unexplained
	}
	a, b := l.seconds(rest)
	c.add("cpu", "of it in other code, which is the same on both sides", means(a, b), "s/run")
	l.move(rule.rule, c, rest.members, "the same code with the same input took longer for the setting that it names")
	return true
}

// followSettings tells of claims that more is done, where the sides run the same program with the
// same arguments under settings that no cause is known for, that it is done for these: Python's
// debug mode of asyncio keeps a stack of each task, and looks at the files of its lines for that.
// Where the setting is the only difference, what the threads do to each other follows from it as
// well.
func (l *ledger) followSettings() {
	settings, of := l.settings(), l.of(ConfigDiffers)
	if len(settings) == 0 || !l.sameProgram() {
		return
	}
	namers := l.namers(settings)
	for _, c := range l.claims {
		switch {
		case of != nil && (c.cause.is(doneMore) || c.onlySetting) && !slices.Contains(namers, c):
			c.ofSetting = true
			for n, setting := range settings[:min(len(settings), whereLimit)] {
				if namers[n] == of {
					c.note("facts", "the same program under another setting: "+describe(setting))
				}
			}
		case of == nil && c.onlySetting && len(settings) == 1: // nothing is left that only the setting explains
			c.addSetting(settings[0])
		}
	}
}
