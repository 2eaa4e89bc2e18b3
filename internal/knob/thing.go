package knob

import (
	"context"
	"fmt"
)

// Thing is something that an experiment makes on the host and that must not be
// left behind. Kind says how it is found and undone, ID which one it is.
type Thing struct{ Kind, ID string }

// The kinds of things.
const (
	Folder = "folder" // ID: the path of a folder of ours, with all that is in it
	Mount  = "mount"  // ID: the mount point, in such a folder
	Loop   = "loop"   // ID: "loop3 /its/backing/file", in such a folder or another loop device of ours
	Group  = "cgroup" // ID: the folder of a cgroup of ours; what runs in it is killed
)

const (
	madePrefix = "made." // of a step's knob
	there      = "there"
	absent     = "absent"
)

// Make journals a thing, then calls create. Whatever create left is undone in its turn.
func (change *Change) Make(ctx context.Context, thing Thing, create func() error) error {
	change.mutex.Lock()
	defer change.mutex.Unlock()
	if change.done {
		return fmt.Errorf("make %s: the change is closed", thing.Kind)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("make %s: %w", thing.Kind, err)
	}
	if err := change.announce(thing); err != nil {
		return fmt.Errorf("make %s %s: %w", thing.Kind, thing.ID, err)
	}
	if err := change.guarded(); err != nil {
		return fmt.Errorf("make %s %s: %w", thing.Kind, thing.ID, err)
	}
	if err := create(); err != nil {
		return fmt.Errorf("make %s %s: %w", thing.Kind, thing.ID, err)
	}
	return nil
}

// announce writes down that a thing is about to be made.
func (change *Change) announce(thing Thing) error {
	place, err := thing.part()
	if err != nil {
		return err
	}
	found, err := place.read()
	if err != nil {
		return err
	}
	if found != absent {
		return fmt.Errorf("it is there already")
	}
	unlock, err := change.journal.lock()
	if err != nil {
		return err
	}
	defer unlock()
	wider := change.entry
	wider.Steps = append(wider.Steps[:len(wider.Steps):len(wider.Steps)], step{Knob: madePrefix + thing.Kind,
		Target: Target{Root: "/"}, Part: thing.ID, Path: thing.ID, SurvivesBoot: thing.Kind == Folder,
		Original: absent, Ours: []string{there}})
	if err := wider.save(change.journal); err != nil {
		return err
	}
	change.entry = wider
	return nil
}

// part is how a thing is found and undone.
func (thing Thing) part() (part, error) {
	return part{}, fmt.Errorf("find %s %s: culprit makes no such thing", thing.Kind, thing.ID)
}
