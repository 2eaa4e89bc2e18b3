package knob

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Pending is a setting that is changed right now or was left changed.
type Pending struct {
	Knob     string    `json:"knob"`
	Path     string    `json:"path"` // of the setting
	Original string    `json:"original"`
	Current  string    `json:"current"` // "" when it cannot be read
	Begun    time.Time `json:"begun"`
	InUse    bool      `json:"in_use"` // its owner is alive and will restore it
	OwnerPid int       `json:"owner_pid"`
	File     string    `json:"file"` // the journal entry
}

// ListPending reads the journal of a state directory and changes nothing: no
// folder is made, no lock taken. Entries that cannot be read are errors that
// name their file; the others are listed all the same.
func ListPending(stateDir string) ([]Pending, error) {
	path := filepath.Join(stateDir, journalFolder)
	folder, err := os.OpenRoot(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nothing was ever changed
	}
	if err != nil {
		return nil, fmt.Errorf("list journal: %w", err)
	}
	journal := &Journal{path: path, folder: folder}
	defer journal.Close()
	names, err := journal.list()
	if err != nil {
		return nil, err
	}
	var all []Pending
	var failures []error
	for _, name := range names {
		found, err := journal.load(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // restored meanwhile
		}
		if err != nil {
			failures = append(failures, err)
			continue
		}
		all = append(all, found.pending(filepath.Join(path, name))...)
	}
	return all, errors.Join(failures...)
}

func (entry entry) pending(file string) []Pending {
	var all []Pending
	for _, step := range entry.Steps {
		pending := Pending{Knob: step.Knob, Path: step.Path, Original: step.Original, Begun: entry.Begun,
			InUse: entry.Owner.alive(), OwnerPid: entry.Owner.Pid, File: file}
		if place, err := step.part(); err == nil {
			pending.Current, _ = place.read() // what cannot be read is left empty
		}
		all = append(all, pending)
	}
	return all
}
