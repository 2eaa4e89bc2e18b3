package differs

import (
	"path"
	"slices"
	"strings"

	"culprit/internal/compare/settings"
	"culprit/recording"
)

const (
	environmentFacts = "target.environment."
	libraryFacts     = "target.library."
	runtimeFacts     = "target.runtime."
	flagsFact        = ".flags"
)

// told are facts that the dependencies tell, where these are known.
func told(name string) bool {
	return strings.HasPrefix(name, libraryFacts) || name == "kernel.release" ||
		strings.HasPrefix(name, runtimeFacts) && !strings.HasSuffix(name, flagsFact)
}

// ours are facts that come from being recorded.
func ours(change *settings.FactChange) bool {
	return strings.HasPrefix(change.Name, "tracers.") &&
		(strings.Contains(change.A, recording.RecorderComm) || strings.Contains(change.B, recording.RecorderComm))
}

func ofFacts(facts []settings.FactChange, dependenciesKnown bool) (list []Difference) {
	for i := range facts {
		change := &facts[i]
		if dependenciesKnown && told(change.Name) || ours(change) {
			continue
		}
		d := Difference{Kind: Setting, Name: change.Name, A: change.A, B: change.B,
			PlaceA: change.Source, PlaceB: change.Source}
		switch {
		case strings.HasPrefix(change.Name, environmentFacts):
			d.Kind, d.Name = Variable, strings.TrimPrefix(change.Name, environmentFacts)
		case strings.HasPrefix(change.Name, libraryFacts):
			d.Kind, d.Of, d.Name = Binary, recording.DependencyLibrary, strings.TrimPrefix(change.Name, libraryFacts)
			d.A, d.B = short(d.A), short(d.B)
		case strings.HasSuffix(change.Name, flagsFact):
			d.Kind = Option
			d.Name = strings.TrimSuffix(strings.TrimPrefix(change.Name, runtimeFacts), flagsFact) + " options"
		}
		list = append(list, d)
	}
	return list
}

// ofCommands lists the words in which the commands differ: those that stand in all of one side and
// in none of the other, paired in their order.
func ofCommands(a, b []*recording.Recording) (list []Difference) {
	wordsA, wordsB := wordsOf(a), wordsOf(b)
	if wordsA == nil || wordsB == nil {
		return nil
	}
	onlyA, onlyB := less(wordsA, wordsB), less(wordsB, wordsA)
	for i := range max(len(onlyA), len(onlyB)) {
		x, y := at(onlyA, i), at(onlyB, i)
		d := Difference{Kind: Option, Name: "the command’s", A: x, B: y}
		nameA, valueA, setA := strings.Cut(x, "=")
		nameB, valueB, setB := strings.Cut(y, "=")
		switch {
		case setA && setB && nameA == nameB:
			d.Name, d.A, d.B = nameA, valueA, valueB
		case setA && y == "":
			d.Name, d.A = nameA, valueA
		case setB && x == "":
			d.Name, d.B = nameB, valueB
		}
		if isVariable(d.Name) {
			d.Kind = Variable
		}
		list = append(list, d)
	}
	return list
}

// isVariable tells an assignment before a command from an option.
func isVariable(name string) bool {
	return name != "" && !strings.HasPrefix(name, "-") && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) < 0
}

func at(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return ""
}

// wordsOf are the words of a side's command; nil where its recordings are of none, or of several.
func wordsOf(group []*recording.Recording) []string {
	command := group[0].Manifest.Target.Command
	for _, rec := range group {
		if rec.Manifest.Target.Command != command || rec.Imported() != "" {
			return nil
		}
	}
	return strings.Fields(command)
}

// less is what is left of words when each of the others took away one like it.
func less(words, others []string) (left []string) {
	others = slices.Clone(others)
	for _, word := range words {
		if i := slices.Index(others, word); i >= 0 {
			others = slices.Delete(others, i, i+1)
			continue
		}
		left = append(left, word)
	}
	return left
}

// withoutRepeats leaves out what stands in the list already: a variable that the command sets and
// the process has, an option that the run time has as well.
func withoutRepeats(list []Difference) []Difference {
	kept := []Difference{} // none is not the same as not known
	seen := map[[3]string]bool{}
	for _, d := range list {
		k := [3]string{d.Name, d.A, d.B}
		if d.Kind != Dependency && d.Kind != Binary {
			if seen[k] {
				continue
			}
			seen[k] = true
		}
		kept = append(kept, d)
	}
	return kept
}

// leads marks words and variables that only lead to where another version lies: of the folders
// "old" and "new" what is in them differs, and their names do not.
func leads(list []Difference) {
	for i := range list {
		one := &list[i]
		if one.Kind == Binary && one.Of == recording.DependencyProgram {
			one.linked(list)
			continue
		}
		if one.Kind != Option && one.Kind != Variable || one.Of != "" || one.A == "" || one.B == "" {
			continue
		}
		for k := range list {
			other := &list[k]
			if (other.Kind == Dependency || other.Kind == Binary) && liesIn(other.PlaceA, one.A) &&
				liesIn(other.PlaceB, one.B) {
				one.Follows = other.Name
				break
			}
		}
	}
}

// linked marks a program that another version is linked into: its build differs at least for that.
// Where it is the only one, and no stack tells what code of the program is its, what grew in the
// program is taken for it.
func (d *Difference) linked(list []Difference) {
	var parts []*Difference
	for i := range list {
		part := &list[i]
		if part.Evidence != recording.SeenBuiltIn && part.Of != recording.DependencyGo || part.Kind == Binary {
			continue
		}
		if part.PlaceA == d.PlaceA && part.PlaceB == d.PlaceB {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return
	}
	d.Follows = parts[0].Name
	if len(parts) == 1 && parts[0].Through == 0 {
		parts[0].Through, parts[0].Grown = d.Through, d.Grown
	}
}

// liesIn tells whether a word names a folder, or the file itself, on the way to a place.
func liesIn(place, word string) bool {
	for _, part := range strings.Split(word, ":") {
		_, value, found := strings.Cut(part, "=")
		if found {
			part = value
		}
		part = strings.Trim(path.Clean(part), "./")
		if part != "" && strings.Contains(place+"/", "/"+part+"/") {
			return true
		}
	}
	return false
}
