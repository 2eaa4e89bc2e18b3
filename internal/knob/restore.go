package knob

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Restore puts back everything that the journal of a state directory names and
// whose owner is gone. Entries that are damaged or that cannot be put back stay,
// and each is an error that names its file; the others are restored all the
// same. The rule for drift is that of Change.Restore. A step of an earlier boot
// is cleared when its setting does not survive one.
func Restore(stateDir string) ([]Restored, error) {
	_, err := os.Lstat(filepath.Join(stateDir, journalFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nothing was ever changed
	}
	journal, err := OpenJournal(stateDir)
	if err != nil {
		return nil, err
	}
	defer journal.Close()
	unlock, err := journal.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	names, err := journal.list()
	if err != nil {
		return nil, err
	}
	var all []Restored
	var failures []error
	for _, name := range names {
		restored, err := journal.restoreEntry(name)
		all = append(all, restored...)
		failures = append(failures, err)
	}
	failures = append(failures, journal.removeParts())
	return all, errors.Join(failures...)
}

// restoreEntry deals with one entry; the journal is locked.
func (journal *Journal) restoreEntry(name string) ([]Restored, error) {
	found, err := journal.load(name)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(journal.path, name)
	if found.Owner.alive() {
		return []Restored{{Knob: found.names(), Action: InUse, File: file, Path: file,
			Note: fmt.Sprintf("culprit with pid %d is using it and puts it back itself", found.Owner.Pid)}}, nil
	}
	undone := found.undo()
	for i := range undone.all {
		undone.all[i].File = file
		if found.Trouble != "" && undone.all[i].Note == "" {
			undone.all[i].Note = "the guardian could not: " + found.Trouble
		}
	}
	if undone.failed != nil {
		return undone.all, fmt.Errorf("restore %s: %w", file, undone.failed)
	}
	return undone.all, journal.remove(name)
}

// recover makes the journal free for a change of ours; it is locked. What a killed
// culprit left is put back. A living one's entry is ErrBusy; what drifted or cannot
// be put back is ErrStale, because nobody would hear of it here.
func (journal *Journal) recover(us owner) ([]Restored, error) {
	names, err := journal.list()
	if err == nil {
		err = journal.removeParts()
	}
	if err != nil {
		return nil, err
	}
	var all []Restored
	for _, name := range names {
		found, err := journal.load(name)
		switch {
		case err != nil:
			return nil, err
		case found.Owner == us:
			continue
		case found.Owner.alive():
			return nil, fmt.Errorf("%w: pid %d has held %s since %s", ErrBusy, found.Owner.Pid, found.names(),
				found.Begun.Local().Format("15:04:05"))
		}
		undone := found.undo()
		if err := both(undone.failed, undone.drift); err != nil {
			return nil, fmt.Errorf("%w (%w)", ErrStale, err)
		}
		for i := range undone.all {
			undone.all[i].File = filepath.Join(journal.path, name)
		}
		all = append(all, undone.all...)
		if err := journal.remove(name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// isFree refuses a part that another change of ours holds; the journal is locked.
func (journal *Journal) isFree(wanted step) error {
	names, err := journal.list()
	if err != nil {
		return err
	}
	for _, name := range names {
		found, err := journal.load(name)
		if err != nil {
			return err
		}
		for _, step := range found.Steps {
			if step.same(wanted) {
				return fmt.Errorf("change %s: %w", wanted.Knob, ErrHeld)
			}
		}
	}
	return nil
}

// removeParts takes away what a crash left while an entry was being written: the
// setting itself had not been touched then. The journal is locked, as for every write.
func (journal *Journal) removeParts() error {
	listed, err := fs.ReadDir(journal.folder.FS(), ".")
	if err != nil {
		return fmt.Errorf("list journal %s: %w", journal.path, err)
	}
	for _, each := range listed {
		if strings.HasSuffix(each.Name(), entrySuffix+partSuffix) {
			if err := journal.remove(each.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}
