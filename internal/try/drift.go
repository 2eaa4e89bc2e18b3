package try

import "culprit/recording"

// Drift is a fact of the host that is not what it was before the experiment.
type Drift struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
	Source string `json:"source"`
}

// drift lists the facts that differ; one that is missing on a side has no value there.
func drift(before, after []recording.Fact) []Drift {
	found := []Drift{}
	earlier := map[string]recording.Fact{}
	for _, fact := range before {
		earlier[fact.Name] = fact
	}
	for _, fact := range after {
		was := earlier[fact.Name]
		delete(earlier, fact.Name)
		if was.Value != fact.Value {
			found = append(found, Drift{fact.Name, was.Value, fact.Value, fact.Source})
		}
	}
	for _, fact := range before {
		if _, gone := earlier[fact.Name]; gone {
			found = append(found, Drift{fact.Name, fact.Value, "", fact.Source})
		}
	}
	return found
}
