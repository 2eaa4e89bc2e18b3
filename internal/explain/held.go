package explain

import (
	"fmt"
	"slices"
	"strings"

	"culprit/internal/host"
	"culprit/recording"
)

// The most facts that are told to have changed within recordings, and values of each.
const (
	changesTold = 6
	valuesTold  = 4
)

// changedWithin tells of facts that were not the same all the time in a recording: comparing two
// parts of it tells what that made of the target. Recorders of this program that came and went are
// no change.
func (e *Evidence) changedWithin() (list []string) {
	for _, side := range []struct {
		name  string
		group []*recording.Recording
	}{{"A", e.A}, {"B", e.B}} {
		for at, rec := range side.group {
			where := ""
			if !e.OneSided() {
				where = " of " + side.name
			}
			if len(side.group) > 1 {
				where += fmt.Sprintf(", recording %d", at+1)
			}
			list = append(list, changesOf(rec, where)...)
		}
	}
	if more := len(list) - changesTold; more > 0 {
		list = append(list[:changesTold], fmt.Sprintf("%d more facts changed while it was recorded", more))
	}
	return list
}

// changesOf tells them of one recording.
func changesOf(rec *recording.Recording, where string) (list []string) {
	values := map[string][]recording.HeldFact{}
	var names []string
	for _, held := range rec.Manifest.Held {
		if host.OfTracers(held.Name) {
			if held.Value = host.Foreign(held.Value); held.Value == "" {
				held.Value = "none"
			}
		}
		of := values[held.Name]
		switch {
		case held.Name == host.FactTargetSampled || held.Name == host.FactTracersSampled:
			continue // another fact says in words what was sampled
		case len(of) == 0:
			names = append(names, held.Name)
		case of[len(of)-1].Value == held.Value:
			of[len(of)-1].ToNs = held.ToNs
			continue
		}
		values[held.Name] = append(of, held)
	}
	for _, name := range slices.DeleteFunc(names, func(name string) bool { return len(values[name]) < 2 }) {
		var words []string
		for _, held := range values[name][:min(len(values[name]), valuesTold)] {
			words = append(words, held.String())
		}
		text := "changed while it was recorded" + where + ": " + name + " was " + strings.Join(words, ", then ")
		if more := len(values[name]) - valuesTold; more > 0 {
			text += fmt.Sprintf(", and %d more times another", more)
		}
		list = append(list, text)
	}
	return list
}
