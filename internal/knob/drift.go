package knob

import (
	"culprit/internal/host"
	"culprit/recording"
)

// Drift is a setting of the host that is not what it was.
type Drift struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Before string `json:"before"` // "" when it was not there
	After  string `json:"after"`  // "" when it is no longer there
}

// Snapshot reads every setting that culprit knows of the machine below root, for Drifts.
func Snapshot(root string) []recording.Fact { return host.Facts(root) }

// Drifts compares two snapshots: what an experiment, somebody else, or the kernel itself
// has changed between them. An experiment that put everything back has none.
func Drifts(before, after []recording.Fact) []Drift {
	type place struct{ name, source string }
	had := map[place]string{}
	for _, fact := range before {
		had[place{fact.Name, fact.Source}] = fact.Value
	}
	var drifts []Drift
	for _, fact := range after {
		key := place{fact.Name, fact.Source}
		value, known := had[key]
		delete(had, key)
		if !known || value != fact.Value {
			drifts = append(drifts, Drift{fact.Name, fact.Source, value, fact.Value})
		}
	}
	for _, fact := range before { // in their order
		if value, gone := had[place{fact.Name, fact.Source}]; gone {
			drifts = append(drifts, Drift{fact.Name, fact.Source, value, ""})
		}
	}
	return drifts
}
