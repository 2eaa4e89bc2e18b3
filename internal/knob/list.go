package knob

import (
	"fmt"
	"strings"
)

// All lists every knob of the machine below root.
//
// To add one: a file of its own with a type that implements Knob (clocksource.go
// is the pattern: read and write through readSetting and writeSetting, turn the
// kernel's spelling into one plain word in Current, offer in Allowed only what
// can be undone), one line here, and a test on a fixture tree that refuses a
// value and sees the original come back. A setting that cannot be set back
// (audit, a one-way switch) must not become a knob.
func All(root string) []Knob {
	return []Knob{
		ClockSource(root),
	}
}

// Find returns the knob of a name; the error of an unknown one lists those that exist.
func Find(root, name string) (Knob, error) {
	var names []string
	for _, knob := range All(root) {
		if knob.Name() == name {
			return knob, nil
		}
		names = append(names, knob.Name())
	}
	return nil, fmt.Errorf("find knob %q: there is none of that name (there are: %s)", name, strings.Join(names, " "))
}
