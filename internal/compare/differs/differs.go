// Package differs lists everything in which the two sides are not the same thing: what they ran on,
// how they were called, what was set. It is what a person asks first when B is slower than A.
//
// Of dependencies it tells those first that stacks go through which take more time in B. It refuses
// to call a dependency missing on a side whose recordings hold none at all, or where runs of one
// side do not agree.
//
//	for _, one := range differs.Find(a, b, facts, differs.Weights{Metric: "cpu"}) {
//		fmt.Println(one) // "jinja2 3.0.3 → 3.1.4"
//	}
package differs

import (
	"cmp"
	"slices"
	"strings"

	"culprit/internal/compare/settings"
	"culprit/recording"
)

// Kind says what kind of thing differs.
type Kind string

// The kinds.
const (
	Dependency Kind = "dependency" // another version of it, or on one side only
	Binary     Kind = "binary"     // another build or content, with the same version or with none
	Setting    Kind = "setting"    // of the host, the container, the process
	Variable   Kind = "variable"   // of the environment
	Option     Kind = "option"     // a word of the command, a setting of a build
)

// Difference is one thing that is not the same on both sides.
type Difference struct {
	Kind Kind   `json:"kind"`
	Of   string `json:"of,omitempty"` // of dependencies and binaries: who publishes them, as in a recording's table
	Name string `json:"name"`
	A    string `json:"a"` // version, value or short hash; "" where the side has none
	B    string `json:"b"`
	// PlaceA and PlaceB are where it lies; of settings where it was read.
	PlaceA   string `json:"place_a,omitempty"`
	PlaceB   string `json:"place_b,omitempty"`
	Evidence string `json:"evidence,omitempty"` // the surest of both sides, as in a recording's table
	// Through is by how many seconds of the metric the stacks that go through it take longer in B,
	// per unit of work; Grown that this is a part of the metric's growth that counts.
	Through float64 `json:"through"`
	Grown   bool    `json:"grown"`
	// Follows names the difference that this one only leads to, or comes with: the path of a folder
	// in which another version lies, a library that the other version asks for.
	Follows string `json:"follows,omitempty"`
	// idle tells that both sides have it in the same version, and one did not run it.
	idle bool
}

// String is the difference as people read it.
func (d *Difference) String() string {
	name := d.Name
	if d.Of == recording.DependencyProgram && d.Kind == Binary {
		name = "the program’s own " + name
	}
	switch {
	case d.Kind == Binary && d.Of != recording.DependencyProgram:
		return name + " (another build)"
	case d.Kind == Binary:
		return name
	case d.A == "" && d.B == "":
		return name
	case d.A == "":
		return name + " " + d.B + " (only B)"
	case d.B == "":
		return name + " " + d.A + " (only A)"
	}
	return name + " " + d.A + " → " + d.B
}

// Typed is what was chosen on each side as it is typed: "-n 5", "--depth=3", "nice -n 5"; "" where
// the side has none. Of variables and settings it is the value.
func (d *Difference) Typed() (a, b string) {
	typed := [2]string{d.A, d.B}
	for i := range typed {
		switch {
		case d.Kind != Option || typed[i] == "" || d.unnamed():
		case setBy[d.Name] != nil || d.Of != "":
			typed[i] = d.Name + " " + typed[i]
		default:
			typed[i] = d.Name + "=" + typed[i]
		}
	}
	return typed[0], typed[1]
}

// unnamed tells an option that is no more than its words.
func (d *Difference) unnamed() bool {
	return d.Name == commandName || strings.HasSuffix(d.Name, optionsName)
}

// Seen tells whether anybody saw it run: what merely lies beside does not count as a difference of
// what ran.
func (d *Difference) Seen() bool { return d.Evidence != recording.SeenInstalled && d.Follows == "" }

// Find lists what differs between two groups of recordings, first what grown stacks go through.
// facts are the settings that differ.
func Find(a, b []*recording.Recording, facts []settings.FactChange, weigh Weights) []Difference {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	sideA, sideB := newSide(a), newSide(b)
	list := append([]Difference{}, dependencies(sideA, sideB)...)
	known := sideA.known() && sideB.known()
	list = append(list, ofFacts(facts, known)...)
	list = append(list, ofCommands(a, b)...)
	list = append(list, ofFlags(facts)...) // behind the words, which say the same as they were typed
	list = withoutRepeats(list)
	weigh.through(list, sideA, sideB)
	inOrder(list)
	leads(list) // to the first that it can be
	loaded(list)
	inOrder(list)
	return list
}

func inOrder(list []Difference) {
	slices.SortStableFunc(list, func(x, y Difference) int {
		return cmp.Or(-compareBool(x.Grown && x.Seen(), y.Grown && y.Seen()), cmp.Compare(rankOf(&x), rankOf(&y)),
			-cmp.Compare(x.Through, y.Through), strings.Compare(x.Name, y.Name), strings.Compare(x.Of, y.Of))
	})
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// rankOf puts what ran before what was set, and both before what is only seen to lie there.
func rankOf(d *Difference) int {
	switch {
	case !d.Seen():
		return 3
	case d.Kind == Dependency:
		return 0
	case d.Kind == Binary:
		return 1
	}
	return 2
}

// Only gives the one difference, nil where there is none or more than one.
func Only(list []Difference) *Difference {
	var only *Difference
	for i := range list {
		if !list[i].Seen() {
			continue
		}
		if only != nil {
			return nil
		}
		only = &list[i]
	}
	return only
}
