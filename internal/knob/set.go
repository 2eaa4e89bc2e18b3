package knob

import (
	"errors"
	"fmt"
	"slices"
)

// Level is a knob and the value that it is to have.
type Level struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SetAll sets several knobs of the change, one after the other; it stops at the first error.
func (change *Change) SetAll(levels ...Level) error {
	for _, level := range levels {
		if err := change.Set(level.Name, level.Value); err != nil {
			return err
		}
	}
	return nil
}

// Set writes a value and reads it back. A value that the host does not offer, a
// setting that somebody else changed since, and one that the kernel did not take
// are errors; the change stays open and Restore is still due.
func (change *Change) Set(name, value string) error {
	change.mutex.Lock()
	defer change.mutex.Unlock()
	knob, known := change.knobs[name]
	switch {
	case change.done:
		return fmt.Errorf("set %s: the change is closed", name)
	case !known:
		return fmt.Errorf("set %s: it is not in this change", name)
	}
	spelled, err := knob.spelled(value)
	if err != nil {
		return err
	}
	if err := change.set(knob, spelled); err != nil {
		return fmt.Errorf("set %s to %q: %w", name, value, err)
	}
	return nil
}

func (change *Change) set(knob Knob, value string) error {
	parts, err := change.present(knob)
	if err != nil {
		return err
	}
	parts = slices.DeleteFunc(parts, func(each part) bool { return each.follows })
	for _, each := range parts {
		current, err := each.read()
		if err != nil && !errors.Is(err, errGone) {
			return err
		}
		if expected := change.expected[key(knob.name, each.id)]; err == nil && !each.view && !each.same(current, expected) {
			return fmt.Errorf("somebody else changed %s from %q to %q meanwhile", each.path, expected, current)
		}
	}
	if err := change.prepare(knob, parts, value); err != nil {
		return err
	}
	for _, each := range parts {
		if err := change.writeAndRead(knob, each, each.wanted(value)); err != nil && !errors.Is(err, errGone) {
			return err
		}
	}
	return nil
}

// present lists the parts that a knob has now and takes new ones into the entry:
// a thread that was started since.
func (change *Change) present(knob Knob) ([]part, error) {
	parts, err := knob.parts()
	if err != nil || knob.byID == nil {
		return parts, err
	}
	unlock, err := change.journal.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	wider, grown, err := change.entry.grow(knob, parts)
	if err != nil || !grown {
		return parts, err
	}
	if err := wider.save(change.journal); err != nil {
		return nil, err
	}
	for _, step := range wider.Steps[len(change.entry.Steps):] {
		// What it has is what its creator had, or its own choice: the next write finds out nothing
		// better.
		if each, err := knob.byID(step.Part); err == nil {
			change.expected[key(knob.name, step.Part)], _ = each.read()
		}
	}
	change.entry = wider
	return parts, nil
}

// writeAndRead reads the part back whether or not writing it worked: what is
// there afterwards came from us, and is ours to undo.
func (change *Change) writeAndRead(knob Knob, each part, value string) error {
	setErr := each.write(value)
	current, err := each.read()
	if err != nil {
		return both(setErr, err)
	}
	change.expected[key(knob.name, each.id)] = current
	if each.same(current, value) || each.rounds || each.view {
		return setErr
	}
	if setErr == nil {
		setErr = fmt.Errorf("the kernel did not take it: reading %s back gives %q", each.path, current)
	}
	return both(setErr, change.own(map[string]string{key(knob.name, each.id): current}))
}

// prepare makes sure, before a value is written, that the disk knows of it and
// that a guardian would undo it.
func (change *Change) prepare(knob Knob, parts []part, value string) error {
	values := map[string]string{}
	for _, each := range parts {
		values[key(knob.name, each.id)] = each.wanted(value)
	}
	if err := change.own(values); err != nil {
		return err
	}
	return change.guarded()
}

// guarded starts another guardian if somebody killed ours.
func (change *Change) guarded() error {
	if change.guardian.alive() {
		return nil
	}
	guardian, err := Guard(change.entryPath())
	if err != nil {
		return fmt.Errorf("its guardian was killed and cannot be started again: %w", err)
	}
	old := change.guardian
	change.guardian = guardian
	return old.Close()
}

// own notes values as written by us; they are given by knob and part.
func (change *Change) own(values map[string]string) error {
	wider := change.entry
	wider.Steps = slices.Clone(wider.Steps)
	grown := false
	for i, step := range wider.Steps {
		value, given := values[key(step.Knob, step.Part)]
		if !given || value == step.Original || slices.Contains(step.Ours, value) {
			continue
		}
		wider.Steps[i].Ours = append(slices.Clone(step.Ours), value)
		grown = true
	}
	if !grown {
		return nil
	}
	unlock, err := change.journal.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := wider.save(change.journal); err != nil {
		return err
	}
	change.entry = wider
	return nil
}
