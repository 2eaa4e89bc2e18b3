package knob

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// ErrBusy marks a knob that another living culprit has changed.
var ErrBusy = errors.New("another culprit is using it")

// ErrStale marks a knob that a killed culprit has left changed: `culprit restore` comes first.
var ErrStale = errors.New("a killed culprit has left it changed: run `culprit restore` first")

// DriftError says that somebody else, or the kernel itself, changed a setting while we held it.
type DriftError struct {
	Knob, Path        string
	Original, Current string
	Ours              []string
}

func (drift *DriftError) Error() string {
	return fmt.Sprintf("%s is now %q, which is neither its original %q nor what culprit set %q: left as it is; "+
		"to put the original back: echo %s > %s",
		drift.Knob, drift.Current, drift.Original, drift.Ours, drift.Original, drift.Path)
}

// Change is an open transaction on one knob. Its entry is on disk and its guardian
// runs before the first value is written. It may be used from several goroutines.
type Change struct {
	mutex    sync.Mutex
	journal  *Journal
	knob     Knob
	entry    entry
	guardian *Guardian
	expected string // what the setting ought to be now
	done     bool
	result   error
}

// Begin opens a change of a knob in the journal of StateDir.
func Begin(knob Knob) (*Change, error) {
	journal, err := OpenJournal(StateDir())
	if err != nil {
		return nil, err
	}
	change, err := journal.Begin(knob)
	if err != nil {
		return nil, both(err, journal.Close())
	}
	return change, nil
}

// Begin writes the original value down and starts the guardian. It refuses a knob
// that has an entry already: ErrBusy or ErrStale. The change closes the journal.
func (journal *Journal) Begin(knob Knob) (*Change, error) {
	us, err := ourselves()
	if err != nil {
		return nil, fmt.Errorf("begin change of %s: %w", knob.Name(), err)
	}
	place := knob.Place()
	root, err := filepath.Abs(place.Root)
	if err != nil {
		return nil, fmt.Errorf("begin change of %s: %w", knob.Name(), err)
	}
	change := &Change{journal: journal, knob: knob, entry: entry{Schema: entrySchema, Knob: knob.Name(),
		Root: root, Path: place.Path, SurvivesBoot: place.SurvivesBoot, Owner: us, Begun: time.Now().UTC()}}
	if err := change.enter(); err != nil {
		return nil, fmt.Errorf("begin change of %s: %w", knob.Name(), err)
	}
	change.guardian, err = Guard(change.entryPath())
	if err != nil {
		return nil, both(fmt.Errorf("begin change of %s: %w", knob.Name(), err),
			journal.remove(change.entry.fileName()))
	}
	return change, nil
}

// enter writes the entry, unless there is one.
func (change *Change) enter() error {
	unlock, err := change.journal.lock()
	if err != nil {
		return err
	}
	defer unlock()
	found, err := change.journal.load(change.entry.fileName())
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case found.Owner.alive():
		return fmt.Errorf("%w (pid %d, since %s)", ErrBusy, found.Owner.Pid, found.Begun.Local().Format(time.DateTime))
	default:
		return ErrStale
	}
	current, err := change.knob.Current()
	if err != nil {
		return err
	}
	// What cannot be set again must not be left.
	if err := allowed(change.knob, current); err != nil {
		return err
	}
	change.entry.Original, change.expected = current, current
	if _, err := change.entry.knob(); err != nil {
		return err
	}
	return change.entry.save(change.journal)
}

func (change *Change) entryPath() string {
	return filepath.Join(change.journal.path, change.entry.fileName())
}

// Original is the value that Restore puts back.
func (change *Change) Original() string { return change.entry.Original }

// Set writes a value and reads it back. A value that the host does not offer, a
// setting that somebody else changed since, and one that the kernel did not take
// are errors; the change stays open and Restore is still due.
func (change *Change) Set(value string) error {
	change.mutex.Lock()
	defer change.mutex.Unlock()
	if change.done {
		return fmt.Errorf("set %s: the change is closed", change.knob.Name())
	}
	if err := allowed(change.knob, value); err != nil {
		return err
	}
	current, err := change.knob.Current()
	if err != nil {
		return fmt.Errorf("set %s to %q: %w", change.knob.Name(), value, err)
	}
	if current != change.expected {
		return fmt.Errorf("set %s to %q: somebody else changed it from %q to %q meanwhile",
			change.knob.Name(), value, change.expected, current)
	}
	if err := change.prepare(value); err != nil {
		return fmt.Errorf("set %s to %q: %w", change.knob.Name(), value, err)
	}
	if err := change.writeAndRead(value); err != nil {
		return fmt.Errorf("set %s to %q: %w", change.knob.Name(), value, err)
	}
	return nil
}

// writeAndRead reads the setting back whether or not writing it worked: what is
// there afterwards came from us, and is ours to undo.
func (change *Change) writeAndRead(value string) error {
	setErr := change.knob.Set(value)
	current, err := change.knob.Current()
	if err != nil {
		return both(setErr, err)
	}
	change.expected = current
	if current == value {
		return setErr
	}
	if setErr == nil {
		setErr = fmt.Errorf("the kernel did not take it: reading back gives %q", current)
	}
	return both(setErr, change.own(current))
}

// prepare makes sure, before a value is written, that the disk knows of it and
// that a guardian would undo it.
func (change *Change) prepare(value string) error {
	if err := change.own(value); err != nil {
		return err
	}
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

// own notes a value as written by us.
func (change *Change) own(value string) error {
	if value == change.entry.Original || slices.Contains(change.entry.Ours, value) {
		return nil
	}
	unlock, err := change.journal.lock()
	if err != nil {
		return err
	}
	defer unlock()
	wider := change.entry
	wider.Ours = append(slices.Clone(wider.Ours), value)
	if err := wider.save(change.journal); err != nil {
		return err
	}
	change.entry = wider
	return nil
}

// Restore puts the original value back, reads it back, removes the entry and ends
// the guardian. Calling it again returns the same result and does nothing.
//
// The rule for a setting that is neither the original nor a value of ours: who
// changed it last meant it, so it is left as it is, the entry is removed, and a
// *DriftError says so with the original value. Any other failure leaves the entry
// and the change open: Restore may be called again, and the guardian and
// `culprit restore` can still do it.
func (change *Change) Restore() error {
	change.mutex.Lock()
	defer change.mutex.Unlock()
	if change.done {
		return change.result
	}
	err := change.restore()
	var drift *DriftError
	if err != nil && !errors.As(err, &drift) {
		return fmt.Errorf("restore %s: %w", change.knob.Name(), err)
	}
	change.done = true
	change.result = both(err, both(change.guardian.Close(), change.journal.Close()))
	return change.result
}

func (change *Change) restore() error {
	unlock, err := change.journal.lock()
	if err != nil {
		return err
	}
	defer unlock()
	_, err = putBack(change.journal, change.entry, change.knob)
	var drift *DriftError
	if errors.As(err, &drift) {
		return both(err, change.journal.remove(change.entry.fileName()))
	}
	return err
}
