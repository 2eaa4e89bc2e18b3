package knob

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Action is what Restore did about one step of a journal entry.
type Action string

// The actions.
const (
	PutBack Action = "restored" // the original was written and read back, or what was made was removed
	Already Action = "already"  // it had its original value
	Drifted Action = "drifted"  // somebody else changed it: left as it is
	Cleared Action = "cleared"  // a reboot had put it back
	Gone    Action = "gone"     // its process or device has ended: nothing is left to put back
	InUse   Action = "in use"   // its owner is alive and will restore it
)

// Restored is the outcome for one part of a knob, or one thing that was made.
type Restored struct {
	Knob   string `json:"knob"`
	Path   string `json:"path"` // of the setting
	From   string `json:"from"` // the value found
	To     string `json:"to"`   // the value it has now
	Action Action `json:"action"`
	Note   string `json:"note,omitempty"`
	File   string `json:"file"` // the journal entry
}

// undone is the outcome of undoing a whole entry.
type undone struct {
	all    []Restored
	drift  error // what somebody else changed meanwhile
	failed error // what could not be put back
}

// undo puts back every step in reverse order. A setting that fails does not keep the
// others from being put back; a thing that fails ends it, since those below it are in use.
func (entry entry) undo() undone {
	var result undone
	boot, err := bootID()
	if err != nil {
		return undone{failed: err}
	}
	for _, step := range slices.Backward(entry.grown().Steps) {
		if entry.Owner.BootID != boot && !step.SurvivesBoot {
			result.all = append(result.all, Restored{Knob: step.Knob, Path: step.Path, Action: Cleared,
				Note: "the host was booted since, which puts this setting back"})
			continue
		}
		restored, err := step.undo(entry.touched(step.Knob))
		var drift *DriftError
		if errors.As(err, &drift) {
			result.drift = both(result.drift, err)
			restored.Note = drift.Error()
		} else if err != nil {
			result.failed = both(result.failed, err)
			if strings.HasPrefix(step.Knob, madePrefix) {
				return result
			}
			continue
		}
		result.all = append(result.all, restored)
	}
	return result
}

// touched tells whether any part of a knob was set.
func (entry entry) touched(name string) bool {
	return slices.ContainsFunc(entry.Steps, func(s step) bool { return s.Knob == name && len(s.Ours) > 0 })
}

// undo puts one step back and reads it back. Of drift nothing is overwritten.
func (s step) undo(touched bool) (Restored, error) {
	restored := Restored{Knob: s.Knob, Path: s.Path, Action: Already}
	place, err := s.part()
	if err == nil {
		restored.From, err = place.read()
	}
	if errors.Is(err, errGone) || errors.Is(err, fs.ErrNotExist) {
		restored.Action, restored.Note = Gone, "it has ended: nothing is left to put back"
		return restored, nil
	}
	if err != nil {
		return restored, err
	}
	restored.To = restored.From
	if place.view || place.same(restored.From, s.Original) {
		return restored, nil
	}
	ours := func(value string) bool { return place.same(restored.From, value) }
	if !(place.loose() && touched) && !slices.ContainsFunc(s.Ours, ours) {
		restored.Action = Drifted
		return restored, &DriftError{Knob: s.Knob, Path: place.path, Original: s.Original, Current: restored.From,
			Ours: s.Ours, ByHand: place.by(s.Original)}
	}
	if err := place.write(s.Original); errors.Is(err, errGone) {
		restored.Action = Gone
		return restored, nil
	} else if err != nil {
		return restored, fmt.Errorf("put %s back to %q: %w", s.Knob, s.Original, err)
	}
	if restored.To, err = place.read(); errors.Is(err, errGone) {
		restored.Action = Gone
		return restored, nil
	} else if err != nil {
		return restored, err
	}
	if !place.rounds && !place.same(restored.To, s.Original) {
		return restored, fmt.Errorf("put %s back to %q: reading back gives %q", s.Knob, s.Original, restored.To)
	}
	restored.Action = PutBack
	return restored, nil
}

// grown is the entry with what appeared while it was open: threads of a tree that
// were started since and have inherited a value of ours.
func (entry entry) grown() entry {
	var seen []string
	for _, step := range entry.Steps {
		if slices.Contains(seen, step.Knob) || strings.HasPrefix(step.Knob, madePrefix) {
			continue
		}
		seen = append(seen, step.Knob)
		knob, err := lookup(step.Knob, step.Target)
		if err != nil || knob.byID == nil {
			continue
		}
		parts, err := knob.parts()
		if err != nil {
			continue // the tree has ended; the threads that are left are looked for one by one
		}
		if wider, _, err := entry.grow(knob, parts); err == nil {
			entry = wider
		}
	}
	return entry
}

// grow adds the parts of a knob that the entry does not know. One that has a value
// of ours has inherited it: its original is that of the first part, the top of the tree.
func (entry entry) grow(knob Knob, parts []part) (wider entry, grown bool, err error) {
	var first *step
	var ours, known []string
	for i, step := range entry.Steps {
		if step.Knob != knob.name {
			continue
		}
		if first == nil {
			first = &entry.Steps[i]
		}
		known = append(known, step.Part)
		ours = distinct(append(ours, step.Ours...))
	}
	wider = entry
	wider.Steps = slices.Clone(entry.Steps)
	for _, each := range parts {
		if slices.Contains(known, each.id) || first == nil {
			continue
		}
		current, err := each.read()
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return entry, false, err
		}
		added := step{Knob: knob.name, Target: knob.target, Part: each.id, Path: each.path, Original: current}
		if slices.ContainsFunc(ours, func(value string) bool { return each.same(current, value) }) {
			added.Original, added.Ours = first.Original, ours
		}
		wider.Steps = append(wider.Steps, added)
		grown = true
	}
	return wider, grown, nil
}
