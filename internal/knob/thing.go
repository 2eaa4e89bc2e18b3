package knob

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
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

// part is how a thing is found and undone. An identity that we never give is refused.
func (thing Thing) part() (part, error) {
	find, remove := thing.ways()
	if find == nil || !thing.ours() {
		return part{}, fmt.Errorf("find %s %.80q: culprit makes no such thing", thing.Kind, thing.ID)
	}
	return part{id: thing.ID, path: thing.ID,
		read: func() (string, error) {
			found, err := find(thing.ID)
			if err != nil || !found {
				return absent, err
			}
			return there, nil
		},
		write: func(string) error { return remove(thing.ID) },
		fix:   func(string) string { return "remove " + thing.Kind + " " + thing.ID }}, nil
}

// ways are how a kind is found and removed.
func (thing Thing) ways() (find func(id string) (bool, error), remove func(id string) error) {
	switch thing.Kind {
	case Folder:
		return findFolder, removeFolder
	case Mount:
		return findMounted, unmount
	case Loop:
		return findLoop, detachLoop
	case Group:
		return findMadeGroup, removeGroup
	}
	return nil, nil
}

// privateFolder is how every folder is called that a thing of ours may be in.
const privateFolder = "culprit-ground-"

// groupFolderPrefix is how every cgroup of ours is called.
const groupFolderPrefix = "culprit-knob-"

// ours tells whether an identity is one that we give: what is undone is never more than that.
func (thing Thing) ours() bool {
	path := thing.ID
	if thing.Kind == Loop {
		device, backing, found := strings.Cut(thing.ID, " ")
		if !found || !loopName.MatchString(device) {
			return false
		}
		if name, nested := strings.CutPrefix(backing, "/dev/"); nested {
			return loopName.MatchString(name)
		}
		path = backing
	}
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return false
	}
	elements := strings.Split(path, "/")
	last := elements[len(elements)-1]
	switch thing.Kind {
	case Folder:
		return strings.HasPrefix(last, privateFolder)
	case Group:
		return strings.HasPrefix(last, groupFolderPrefix)
	}
	return slices.ContainsFunc(elements, func(each string) bool { return strings.HasPrefix(each, privateFolder) })
}

// loopName is a loop device's.
var loopName = regexp.MustCompile(`^loop[0-9]{1,4}$`)

// eventuallyDone waits for something that the kernel finishes by itself.
func eventuallyDone(limit time.Duration, done func() (bool, error)) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		finished, err := done()
		if err != nil || finished {
			return err
		}
		if time.Now().After(deadline) {
			return errors.New("it is still there")
		}
	}
}
