package differs

import (
	"regexp"
	"slices"
	"strings"

	"culprit/internal/shell"
	"culprit/recording"
)

// commandName is what words are called that stand in a command without a name of their own.
const commandName = "the command’s"

// setBy are the settings of the process, by the beginnings of their names, that each wrapper of a
// command sets.
var setBy = map[string][]string{
	"nice": {"target.nice"}, "chrt": {"target.policy", "target.nice"}, "ionice": {"target.io"},
	"taskset": {"target.affinity"}, "numactl": {"target.affinity", "target.memory_nodes"},
	"setarch": {"target.personality"}, "prlimit": {"target.limit."},
}

func beginsWithAny(name string, beginnings []string) bool {
	return slices.ContainsFunc(beginnings, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// ofCommands lists what differs in how the sides were called: variables and wrappers by their
// names, then the words.
func ofCommands(a, b []*recording.Recording) (list []Difference) {
	commandA, commandB := sameOf(a, started), sameOf(b, started)
	if commandA == "" && commandB == "" {
		commandA, commandB = sameOf(a, runningAs), sameOf(b, runningAs)
	}
	if commandA == "" || commandB == "" || commandA == commandB {
		return nil
	}
	piecesA, restA := shell.Settings(commandA)
	piecesB, restB := shell.Settings(commandB)
	valuesA, names := named(piecesA, nil)
	valuesB, names := named(piecesB, names)
	for _, key := range names {
		if x, y := valuesA[key], valuesB[key]; x != y {
			kind := Option
			if key.variable {
				kind = Variable
			}
			list = append(list, Difference{Kind: kind, Name: key.name, A: x, B: y})
		}
	}
	return append(list, ofWords(commandName, shell.Arguments(restA), shell.Arguments(restB))...)
}

// piece is what sets one thing at the head of a command.
type piece struct {
	name     string
	variable bool
}

// named are the values of pieces, with their names behind those that are known. What hands on
// variables (env, export) sets nothing itself, but for its options; one that it takes out has no
// value.
func named(pieces []shell.Piece, known []piece) (map[piece]string, []piece) {
	values := map[piece]string{}
	know := func(key piece) {
		if !slices.Contains(known, key) {
			known = append(known, key)
		}
	}
	for _, one := range pieces {
		if taken := one.Unsets(); taken != nil {
			for _, name := range taken {
				know(piece{name, true})
			}
			continue
		}
		key, value := piece{one.Name, one.Kind == shell.Variable}, one.Value()
		if one.Kind == shell.Carrier && value == "" {
			continue
		}
		if value == "" {
			value = "(empty)" // as it is told of a process
		}
		values[key] = value
		know(key)
	}
	return values, known
}

// sameOf is what all recordings of a side give; "" where they do not agree, or are another tool's.
func sameOf(group []*recording.Recording, of func(*recording.Recording) string) string {
	command := of(group[0])
	for _, rec := range group {
		if of(rec) != command || rec.Imported() != "" {
			return ""
		}
	}
	return command
}

// started is the command that a recording is of, "" for none.
func started(rec *recording.Recording) string { return rec.Manifest.Target.Command }

// runningAs is how a process was called that ran before it was recorded, without the ports that it
// answers at: two services of one host cannot have the same.
func runningAs(rec *recording.Recording) string {
	return withoutPorts(rec.Fact("target.command"), rec.Services)
}

var numbers = regexp.MustCompile("[0-9]+")

// withoutPorts writes PORT for the ports that services answer at.
func withoutPorts(command string, services []recording.Service) string {
	return numbers.ReplaceAllStringFunc(command, func(number string) string {
		if slices.ContainsFunc(services, func(service recording.Service) bool {
			return service.Side == recording.SideServer && service.Service == "tcp port "+number
		}) {
			return "PORT"
		}
		return number
	})
}

// withoutRepeats leaves out what stands in the list already: a variable that the command sets and
// the process has, an option that the run time tells as well, by whatever name.
func withoutRepeats(list []Difference) []Difference {
	kept := []Difference{} // none is not the same as not known
	for _, d := range list {
		if d.Kind == Dependency || d.Kind == Binary ||
			!slices.ContainsFunc(kept, func(other Difference) bool { return other.tells(&d) }) {
			kept = append(kept, d)
		}
	}
	return kept
}

// tells reports whether another difference says the same: a variable has one value, however it was
// cut or hidden where it was read. The words of an option are the same ones wherever they stand.
func (d *Difference) tells(other *Difference) bool {
	switch {
	case d.Kind != other.Kind:
		return false
	case d.Kind == Variable:
		return d.Name == other.Name
	case d.Kind == Option && d.Of == "" && other.Of == "":
		a, b := d.Typed()
		otherA, otherB := other.Typed()
		return a == otherA && b == otherB
	}
	return d.Name == other.Name && d.A == other.A && d.B == other.B
}
