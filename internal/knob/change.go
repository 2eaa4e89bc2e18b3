package knob

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrBusy marks a host that another living culprit is changing.
var ErrBusy = errors.New("another culprit is changing this host")

// ErrHeld marks a setting that another change of the same run holds.
var ErrHeld = errors.New("this run holds it already")

// ErrStale marks a change of a killed culprit that could not be undone by itself.
var ErrStale = errors.New("a killed culprit has left something changed: run `culprit restore` first")

// DriftError says that somebody else, or the kernel itself, changed a setting while we held it.
type DriftError struct {
	Knob, Path        string
	Original, Current string
	Ours              []string
	ByHand            string // the command that puts the original back
}

func (drift *DriftError) Error() string {
	return fmt.Sprintf("%s is now %q, which is neither its original %q nor what culprit set %q: left as it is; "+
		"to put the original back: %s", drift.Knob, drift.Current, drift.Original, drift.Ours, drift.ByHand)
}

// Change is an open transaction on any number of knobs and things. Its entry is on
// disk and its guardian runs before the first value is written. It may be used from
// several goroutines.
type Change struct {
	mutex     sync.Mutex
	journal   *Journal
	knobs     map[string]Knob
	entry     entry
	expected  map[string]string // by knob and part: what it ought to be now
	groups    map[string]string // cgroups made for new commands, by their limits
	guardian  *Guardian
	recovered []Restored
	done      bool
	result    error
}

// Begin opens a change of knobs in the journal of StateDir. It puts back first
// what a killed culprit left changed, and refuses while another one is at work:
// ErrBusy, or ErrStale when something could not be put back. Without any knob it
// opens a change for Add and Make.
func Begin(ctx context.Context, knobs ...Knob) (*Change, error) {
	journal, err := OpenJournal(StateDir())
	if err != nil {
		return nil, err
	}
	change, err := journal.Begin(ctx, knobs...)
	if err != nil {
		return nil, both(err, journal.Close())
	}
	return change, nil
}

// Begin does so in this journal. The change closes it.
func (journal *Journal) Begin(ctx context.Context, knobs ...Knob) (*Change, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("begin change: %w", err)
	}
	us, err := ourselves()
	if err != nil {
		return nil, fmt.Errorf("begin change: %w", err)
	}
	change := &Change{journal: journal, knobs: map[string]Knob{}, expected: map[string]string{},
		groups: map[string]string{}, entry: entry{Schema: entrySchema, Owner: us, Begun: time.Now().UTC()}}
	if err := change.open(knobs); err != nil {
		return nil, fmt.Errorf("begin change%s: %w", ofKnobs(knobs), err)
	}
	change.guardian, err = Guard(change.entryPath())
	if err != nil {
		return nil, both(fmt.Errorf("begin change%s: %w", ofKnobs(knobs), err),
			journal.remove(change.entry.fileName()))
	}
	return change, nil
}

func ofKnobs(knobs []Knob) string {
	text := ""
	for i, knob := range knobs {
		separator := ", "
		if i == 0 {
			separator = " of "
		}
		text += separator + knob.Name()
	}
	return text
}

// open writes the entry, once no other culprit is at work.
func (change *Change) open(knobs []Knob) error {
	unlock, err := change.journal.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if change.recovered, err = change.journal.recover(change.entry.Owner); err != nil {
		return err
	}
	for _, knob := range knobs {
		if err := change.include(knob); err != nil {
			return err
		}
	}
	return change.entry.save(change.journal)
}

// Recovered tells what Begin put back because a killed culprit had left it changed.
func (change *Change) Recovered() []Restored { return change.recovered }

// Add takes further knobs into the transaction; they are restored before those that it has.
func (change *Change) Add(knobs ...Knob) error {
	change.mutex.Lock()
	defer change.mutex.Unlock()
	if change.done {
		return fmt.Errorf("add%s: the change is closed", ofKnobs(knobs))
	}
	unlock, err := change.journal.lock()
	if err != nil {
		return err
	}
	defer unlock()
	entry, held := change.entry, maps.Clone(change.knobs)
	for _, knob := range knobs {
		if err = change.include(knob); err != nil {
			break
		}
	}
	if err == nil {
		err = change.entry.save(change.journal)
	}
	if err != nil {
		change.entry, change.knobs = entry, held
		return fmt.Errorf("add%s: %w", ofKnobs(knobs), err)
	}
	return nil
}

// include reads a knob and takes it into the entry, in memory only; the journal is locked.
func (change *Change) include(knob Knob) error {
	if _, known := change.knobs[knob.name]; known {
		return fmt.Errorf("%s is named twice", knob.name)
	}
	current, err := knob.Current()
	if err != nil {
		return err
	}
	offered, err := knob.Allowed()
	if err != nil {
		return err
	}
	// What cannot be set again must not be left.
	if offered != nil && !strings.HasPrefix(current, mixed) && !slices.Contains(offered, current) {
		return fmt.Errorf("%s is %q, which could not be set again: %w", knob.name, current, knob.Check(current))
	}
	parts, err := knob.parts()
	if err != nil {
		return err
	}
	for _, each := range parts {
		err := change.adopt(knob, each)
		if err != nil && !errors.Is(err, errGone) {
			return err
		}
	}
	change.knobs[knob.name] = knob
	return nil
}

// adopt takes a part into the entry with the value it has now.
func (change *Change) adopt(knob Knob, each part) error {
	current, err := each.read()
	if err != nil {
		return err
	}
	place := knob.about.Place
	taken := step{Knob: knob.name, Target: knob.target, Part: each.id, Path: each.path,
		SurvivesBoot: place.SurvivesBoot, Original: current, Follows: each.follows}
	for _, step := range change.entry.Steps {
		if step.same(taken) {
			return fmt.Errorf("%s and %s change the same setting: take one of them", step.Knob, knob.name)
		}
	}
	if err := change.journal.isFree(taken); err != nil {
		return err
	}
	change.entry.Steps = append(change.entry.Steps, taken)
	change.expected[key(knob.name, each.id)] = current
	return nil
}

func key(knob, part string) string { return knob + "\x00" + part }

func (change *Change) entryPath() string {
	return filepath.Join(change.journal.path, change.entry.fileName())
}

// Original is the value that a knob had when it was taken into the change.
func (change *Change) Original(name string) (string, error) {
	change.mutex.Lock()
	defer change.mutex.Unlock()
	knob, known := change.knobs[name]
	if !known {
		return "", fmt.Errorf("read original of %s: it is not in this change", name)
	}
	var values []string
	for _, step := range change.entry.Steps {
		if step.Knob == name && !step.Follows {
			values = append(values, step.Original)
		}
	}
	return knob.joined(values), nil
}

// Restore puts everything back in reverse order, reads it back, removes the entry
// and ends the guardian. Calling it again returns the same result and does nothing.
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
	drifts, err := change.restore()
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	change.done = true
	change.result = both(drifts, both(change.guardian.Close(), change.journal.Close()))
	return change.result
}

func (change *Change) restore() (drifts, err error) {
	unlock, err := change.journal.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	undone := change.entry.undo()
	if undone.failed != nil {
		return nil, undone.failed
	}
	return undone.drift, change.journal.remove(change.entry.fileName())
}
