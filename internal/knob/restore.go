package knob

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Action is what Restore did about one entry.
type Action string

// The actions.
const (
	PutBack Action = "restored" // the original was written and read back
	Already Action = "already"  // it had its original value
	Drifted Action = "drifted"  // somebody else changed it: left as it is
	Cleared Action = "cleared"  // a reboot had put it back
	InUse   Action = "in use"   // its owner is alive and will restore it
)

// Restored is the outcome for one journal entry.
type Restored struct {
	Knob   string `json:"knob"`
	Path   string `json:"path"` // of the setting
	From   string `json:"from"` // the value found
	To     string `json:"to"`   // the value it has now
	Action Action `json:"action"`
	Note   string `json:"note,omitempty"`
	File   string `json:"file"` // the journal entry
}

// Restore puts back every setting that the journal of a state directory names and
// whose owner is gone. Entries that are damaged or whose setting cannot be put
// back stay, and each is an error that names its file; the others are restored
// all the same. The rule for drift is that of Change.Restore. An entry of an
// earlier boot is cleared when its setting does not survive one.
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
		if err != nil {
			failures = append(failures, err)
			continue
		}
		all = append(all, restored)
	}
	failures = append(failures, journal.removeParts())
	return all, errors.Join(failures...)
}

// restoreEntry deals with one entry; the journal is locked.
func (journal *Journal) restoreEntry(name string) (Restored, error) {
	found, err := journal.load(name)
	if err != nil {
		return Restored{}, err
	}
	file := filepath.Join(journal.path, name)
	boot, err := bootID()
	if err != nil {
		return Restored{}, fmt.Errorf("restore %s: %w", file, err)
	}
	restored := Restored{Knob: found.Knob, Path: found.file(), File: file}
	if found.Owner.alive() {
		restored.Action = InUse
		restored.Note = fmt.Sprintf("culprit with pid %d is using it and puts it back itself", found.Owner.Pid)
		return restored, nil
	}
	if found.Owner.BootID != boot && !found.SurvivesBoot {
		restored.Action, restored.Note = Cleared, "the host was booted since, which puts this setting back"
		return restored, journal.remove(name)
	}
	knob, err := found.knob()
	if err != nil {
		return Restored{}, fmt.Errorf("restore %s: %w", file, err)
	}
	restored, err = putBack(journal, found, knob)
	restored.File = file
	var drift *DriftError
	if errors.As(err, &drift) {
		restored.Note = drift.Error()
		return restored, journal.remove(name)
	}
	if err != nil {
		return Restored{}, fmt.Errorf("restore %s: %w", file, err)
	}
	if found.Trouble != "" {
		restored.Note = "the guardian could not: " + found.Trouble
	}
	return restored, nil
}

// putBack writes the original value of an entry, reads it back and removes the
// entry; the journal is locked. On drift nothing is written and the entry stays.
func putBack(journal *Journal, entry entry, knob Knob) (Restored, error) {
	restored := Restored{Knob: entry.Knob, Path: entry.file(), File: filepath.Join(journal.path, entry.fileName())}
	current, err := knob.Current()
	if err != nil {
		return restored, err
	}
	restored.From, restored.To, restored.Action = current, current, Already
	if current != entry.Original {
		if !slices.Contains(entry.Ours, current) {
			restored.Action = Drifted
			return restored, &DriftError{Knob: entry.Knob, Path: entry.file(), Original: entry.Original,
				Current: current, Ours: entry.Ours}
		}
		if err := knob.Set(entry.Original); err != nil {
			return restored, err
		}
		if restored.To, err = knob.Current(); err != nil {
			return restored, err
		}
		if restored.To != entry.Original {
			return restored, fmt.Errorf("set %s back to %q: reading back gives %q", entry.Knob, entry.Original, restored.To)
		}
		restored.Action = PutBack
	}
	return restored, journal.remove(entry.fileName())
}

// removeParts takes away what a crash left while an entry was being written:
// the setting itself had not been touched then.
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
