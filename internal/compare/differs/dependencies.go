package differs

import (
	"maps"
	"path"
	"slices"
	"strings"

	"culprit/recording"
)

// key is what makes two rows the same dependency.
type key struct{ kind, name string }

// side is what the recordings of one side ran on.
type side struct {
	recordings []*recording.Recording
	groups     map[key]*group
	filled     int // recordings that have dependencies at all
}

// group are the rows of one dependency.
type group struct {
	versions map[string]bool
	hashes   map[string]map[string]bool // by base name of the file
	place    string
	evidence string
	in       int // recordings that have it, other than as installed
}

func newSide(recordings []*recording.Recording) *side {
	s := &side{recordings: recordings, groups: map[key]*group{}}
	for _, rec := range recordings {
		if len(rec.Dependencies) > 0 {
			s.filled++
		}
		counted := map[key]bool{}
		for i := range rec.Dependencies {
			s.add(&rec.Dependencies[i], counted)
		}
	}
	return s
}

func keyOf(row *recording.Dependency) key { return key{row.Kind, row.Name} }

func (s *side) add(row *recording.Dependency, counted map[key]bool) {
	k := keyOf(row)
	g := s.groups[k]
	if g == nil {
		g = &group{versions: map[string]bool{}, hashes: map[string]map[string]bool{}, place: row.Place,
			evidence: row.Evidence}
		s.groups[k] = g
	}
	if row.Evidence != recording.SeenInstalled && !counted[k] {
		counted[k] = true
		g.in++
	}
	// What ran outweighs another version that only lies there.
	if g.evidence == recording.SeenInstalled && row.Evidence != recording.SeenInstalled {
		clear(g.versions)
		g.place = row.Place
	}
	if recording.Surer(row.Evidence, g.evidence) {
		g.evidence, g.place = row.Evidence, row.Place
	}
	if row.Evidence != recording.SeenInstalled || g.evidence == recording.SeenInstalled {
		g.versions[row.Version] = true
	}
	if row.Hash != "" {
		base := path.Base(row.Place)
		if g.hashes[base] == nil {
			g.hashes[base] = map[string]bool{}
		}
		g.hashes[base][row.Hash] = true
	}
}

// known tells whether every recording of the side has dependencies.
func (s *side) known() bool { return s.filled == len(s.recordings) }

// dependencies lists those that differ.
func dependencies(a, b *side) (list []Difference) {
	if a.filled == 0 || b.filled == 0 {
		return nil
	}
	keys := map[key]bool{}
	for k := range a.groups {
		keys[k] = true
	}
	for k := range b.groups {
		keys[k] = true
	}
	for k := range keys {
		if found := differ(k, a, b); found != nil {
			list = append(list, *found)
		}
	}
	return paired(withoutTwice(list))
}

// other stands between the names of two programs of which one takes the other's place.
const other = " → "

// namesOf are those that a difference's rows have on the sides.
func namesOf(d *Difference) []string {
	if d.Of == recording.DependencyProgram {
		return strings.Split(d.Name, other)
	}
	return []string{d.Name}
}

// paired makes one difference of a program that only A has and one that only B has, where there is
// one of each: two variants under two names.
func paired(list []Difference) []Difference {
	var onlyA, onlyB []int
	for i := range list {
		switch {
		case list[i].Of != recording.DependencyProgram:
		case list[i].PlaceB == "":
			onlyA = append(onlyA, i)
		case list[i].PlaceA == "":
			onlyB = append(onlyB, i)
		}
	}
	if len(onlyA) != 1 || len(onlyB) != 1 {
		return list
	}
	a, b := &list[onlyA[0]], &list[onlyB[0]]
	a.Name, a.B, a.PlaceB = a.Name+other+b.Name, b.B, b.PlaceB
	if recording.Surer(b.Evidence, a.Evidence) {
		a.Evidence = b.Evidence
	}
	return slices.Delete(list, onlyB[0], onlyB[0]+1)
}

// differ compares one dependency; nil where it is the same.
func differ(k key, a, b *side) *Difference {
	x, y := a.groups[k], b.groups[k]
	d := &Difference{Kind: Dependency, Of: k.kind, Name: k.name}
	if k.kind == recording.DependencyOption {
		d.Kind = Option
	}
	if x != nil && y != nil && (x.in > 0) != (y.in > 0) && maps.Equal(x.versions, y.versions) {
		if d.idle = true; x.in > 0 {
			y = nil
		} else {
			x = nil
		}
	}
	switch {
	case x == nil && (y.in < b.filled && y.in > 0), y == nil && (x.in < a.filled && x.in > 0):
		return nil // not in all runs of its own side: that the other did not meet it tells nothing
	case x == nil:
		d.B, d.PlaceB, d.Evidence = join(y.versions), y.place, y.evidence
	case y == nil:
		d.A, d.PlaceA, d.Evidence = join(x.versions), x.place, x.evidence
	default:
		return changed(d, k, x, y)
	}
	if k.kind == recording.DependencyProgram || k.kind == recording.DependencyLibrary {
		d.Kind = Binary
	}
	return d
}

func changed(d *Difference, k key, x, y *group) *Difference {
	d.PlaceA, d.PlaceB, d.Evidence = x.place, y.place, x.evidence
	if recording.Surer(y.evidence, d.Evidence) {
		d.Evidence = y.evidence
	}
	if !maps.Equal(x.versions, y.versions) {
		d.A, d.B = without(x.versions, y.versions), without(y.versions, x.versions)
		if d.A == "" || d.B == "" { // one of several versions that ran is on one side only
			d.A, d.B = join(x.versions), join(y.versions)
		}
		return d
	}
	for _, base := range slices.Sorted(maps.Keys(x.hashes)) {
		other := y.hashes[base]
		if other != nil && apart(x.hashes[base], other) {
			d.Kind = Binary
			d.A, d.B = short(join(x.hashes[base])), short(join(other))
			return d
		}
	}
	return nil
}

func apart(a, b map[string]bool) bool {
	for one := range a {
		if b[one] {
			return false
		}
	}
	return true
}

func join(set map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(set)), ", ") }

// without joins what only the first set has.
func without(set, other map[string]bool) string {
	only := map[string]bool{}
	for one := range set {
		if !other[one] {
			only[one] = true
		}
	}
	return join(only)
}

// shortHash is how much of a hash people are shown.
const shortHash = 12

func short(hash string) string {
	hash = strings.TrimPrefix(hash, "sha256:")
	return hash[:min(len(hash), shortHash)]
}

// withoutTwice leaves out what another difference tells in the words of the field: the packages of
// the system that a run time came in, and its modules.
func withoutTwice(list []Difference) []Difference {
	places := map[string]bool{}
	runTimes := map[string]bool{}
	for i := range list {
		if list[i].Of == recording.DependencyRuntime {
			places[list[i].PlaceA], places[list[i].PlaceB] = true, true
			runTimes[list[i].Name] = true
		}
	}
	delete(places, "")
	return slices.DeleteFunc(list, func(d Difference) bool {
		language, modules := strings.CutSuffix(d.Name, " modules")
		if d.Of == recording.DependencyRuntime {
			return modules && runTimes[language]
		}
		system := slices.Contains(ofSystem, d.Of) || d.Of == recording.DependencyProgram
		return system && (places[d.PlaceA] || places[d.PlaceB])
	})
}
