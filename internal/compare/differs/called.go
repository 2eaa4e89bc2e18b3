package differs

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"culprit/internal/compare/settings"
	"culprit/internal/host"
	"culprit/recording"
)

const (
	environmentFacts = "target.environment."
	libraryFacts     = "target.library."
	runtimeFacts     = "target.runtime."
	flagsFact        = ".flags"
	// optionsName ends what words are called that a run time tells.
	optionsName = " options"
)

// told are facts that the dependencies tell, where these are known.
func told(name string) bool {
	return strings.HasPrefix(name, libraryFacts) || name == "kernel.release" ||
		strings.HasPrefix(name, runtimeFacts) && !strings.HasSuffix(name, flagsFact)
}

// ours are facts that differ by recorders of this program alone: they come from being recorded.
func ours(change *settings.FactChange) bool {
	return host.OfTracers(change.Name) && host.Foreign(change.A) == host.Foreign(change.B)
}

func ofFacts(facts []settings.FactChange, dependenciesKnown bool) (list []Difference) {
	for i := range facts {
		change := &facts[i]
		if dependenciesKnown && told(change.Name) || ours(change) || isFlags(change) {
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
		}
		for k := range facts {
			if words := countedBy[change.Name]; facts[k].Name == words {
				d.Follows = words
			}
		}
		list = append(list, d)
	}
	return list
}

// countedBy are numbers and the fact that says in words what they are of.
var countedBy = map[string]string{host.FactTargetSampled: host.FactTargetCounted,
	host.FactTracersSampled: "tracers.perf.counting"}

func isFlags(change *settings.FactChange) bool { return strings.HasSuffix(change.Name, flagsFact) }

// ofFlags lists what differs in the options that run times were started with.
func ofFlags(facts []settings.FactChange) (list []Difference) {
	for i := range facts {
		if change := &facts[i]; isFlags(change) {
			name := strings.TrimSuffix(strings.TrimPrefix(change.Name, runtimeFacts), flagsFact) + optionsName
			list = append(list, ofWords(name, strings.Fields(change.A), strings.Fields(change.B))...)
		}
	}
	return list
}

// leads marks what only leads to another difference: words and variables that name where another
// version lies (of the folders "old" and "new" what is in them differs, and their names do not),
// and wrappers that set what the process was seen to have.
func leads(list []Difference) {
	for i := range list {
		one := &list[i]
		if one.Follows != "" {
			continue
		}
		if prefixes := setBy[one.Name]; one.Kind == Option && prefixes != nil {
			for k := range list {
				if list[k].Kind == Setting && beginsWithAny(list[k].Name, prefixes) {
					one.Follows = list[k].Name
					break
				}
			}
			continue
		}
		if one.Kind == Binary && one.Of == recording.DependencyProgram {
			one.linked(list)
			continue
		}
		if one.Evidence == recording.SeenBuiltIn && one.alone() {
			one.builtInto(list)
			continue
		}
		if one.Kind != Option && one.Kind != Variable || one.Of != "" || one.A == "" || one.B == "" {
			continue
		}
		for k := range list {
			other := &list[k]
			if other.Kind != Dependency && other.Kind != Binary {
				continue
			}
			if liesIn(other.PlaceA, one.A) && liesIn(other.PlaceB, one.B) || one.leadsTo(other) {
				one.Follows = other.Name
				break
			}
		}
	}
}

// leadsTo tells a program of an environment (bin/python of "old" and of "new") in which, beside it,
// another version lies.
func (d *Difference) leadsTo(other *Difference) bool {
	a, b := path.Clean(d.A), path.Clean(d.B)
	for path.Base(a) == path.Base(b) && len(path.Base(a)) > 1 {
		a, b = path.Dir(a), path.Dir(b)
	}
	return a != path.Clean(d.A) && a != b && len(a) > 1 && len(b) > 1 &&
		strings.HasPrefix(other.PlaceA, a+"/") && strings.HasPrefix(other.PlaceB, b+"/")
}

// builtInto marks what is linked into a file that only one side loaded.
func (d *Difference) builtInto(list []Difference) {
	for i := range list {
		file := &list[i]
		if file.Evidence != recording.SeenBuiltIn && file.alone() &&
			(within(d.PlaceA, file.PlaceA) || within(d.PlaceB, file.PlaceB)) {
			d.Follows = file.Name
			return
		}
	}
}

func within(file, folder string) bool {
	return folder != "" && (file == folder || strings.HasPrefix(file, folder+"/"))
}

// loaded marks what both sides have and only one loaded, where one thing else differs: a variable,
// an option or another library has it loaded. The system has a library for both sides where none of
// its packages is in another version.
func loaded(list []Difference) {
	sameSystem := !slices.ContainsFunc(list, func(d Difference) bool {
		return slices.Contains(ofSystem, d.Of) && d.A != "" && d.B != ""
	})
	var only *Difference
	isLoaded := func(d *Difference) bool {
		return d.idle || d.alone() && sameSystem && slices.Contains(ofSystem, d.Of)
	}
	for i := range list {
		if one := &list[i]; one.Seen() && !isLoaded(one) {
			if only != nil {
				return
			}
			only = one
		}
	}
	for i := range list {
		if only != nil && list[i].Seen() && isLoaded(&list[i]) {
			list[i].Follows = only.calledBy()
		}
	}
}

// calledBy is how other differences call one that they follow.
func (d *Difference) calledBy() string {
	if d.unnamed() {
		a, b := d.Typed()
		return cmp.Or(b, a)
	}
	return d.Name
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
	for _, part := range strings.FieldsFunc(word, func(r rune) bool { return r == ':' || r == ' ' }) {
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
