package differs

import (
	"slices"

	"culprit/internal/dependency"
	"culprit/recording"
)

// Changed finds the functions of dependencies that are not the same on both sides. The answer
// gives, for each frame of a recording, the dependency with its versions, "" for the frames of
// others; nil where no dependency changed whose functions could be told.
//
// What the system brings counts only where nothing that the program brings differs: of two images
// nearly every library is another one, and the program's own dependencies are the nearer answer.
// Interpreters and virtual machines never count: they run functions, and have none of the
// program's. What only one side ran counts where the program itself is the same: of another program
// it is whatever that program asks for.
func Changed(a, b []*recording.Recording) func(*recording.Recording) []string {
	if len(a) == 0 || len(b) == 0 {
		return func(*recording.Recording) []string { return nil }
	}
	list := dependencies(newSide(a), newSide(b))
	leads(list) // a program is not another one for what is linked into it
	labels := changedCode(list)
	return func(rec *recording.Recording) []string {
		if len(labels) == 0 || len(rec.Dependencies) == 0 {
			return nil
		}
		index := dependency.NewIndex(rec.Dependencies)
		marks := make([]string, len(rec.Frames))
		for i := range rec.Frames {
			if row := index.Of(&rec.Frames[i]); row != nil {
				marks[i] = labels[keyOf(row)]
			}
		}
		return marks
	}
}

// ofSystem are the kinds that come with the system.
var ofSystem = []string{recording.DependencyDebian, recording.DependencyRPM, recording.DependencyAlpine,
	recording.DependencyLibrary}

// withoutFunctions are the kinds that have no function which could be a place: the program's own
// files are its own code anyway.
var withoutFunctions = []string{recording.DependencyProgram, recording.DependencyRuntime,
	recording.DependencyOption, recording.DependencyKernel, recording.DependencyImage}

// changedCode names the dependencies with functions among those that differ.
func changedCode(list []Difference) map[key]string {
	own, system := map[key]string{}, map[key]string{}
	another := slices.ContainsFunc(list, func(one Difference) bool {
		return one.Seen() && one.Of == recording.DependencyProgram
	})
	for i := range list {
		one := &list[i]
		oneSided := one.A == "" || one.B == ""
		switch {
		case !one.Seen() || slices.Contains(withoutFunctions, one.Of):
		case oneSided && (another || slices.Contains(ofSystem, one.Of)):
		case slices.Contains(ofSystem, one.Of):
			system[key{one.Of, one.Name}] = one.String()
		default:
			own[key{one.Of, one.Name}] = one.String()
		}
	}
	if len(own) > 0 {
		return own
	}
	return system
}
