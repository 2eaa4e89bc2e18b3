package trial

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// JournalName is the file of a case directory that holds one run per line, in the order in which
// they ended.
const JournalName = "trials.jsonl"

// maxJournalRuns bounds reading a journal: files may come from anywhere.
const maxJournalRuns = 1_000_000

// Journal appends each run to a file as soon as it is over, so that a kill loses none.
type Journal struct {
	file *os.File
	end  int64
}

// CreateJournal makes the journal of a case directory, which must not have one yet.
func CreateJournal(caseDir string) (*Journal, error) {
	path := filepath.Join(caseDir, JournalName)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("create journal: %s exists already; choose another case directory", path)
	}
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	return &Journal{file: file}, nil
}

// Append writes one run. A line that does not fit on the disk is taken back.
func (j *Journal) Append(run Run) error {
	line, err := json.Marshal(run)
	if err != nil {
		return fmt.Errorf("write %s: %w", JournalName, err)
	}
	written, err := j.file.Write(append(line, '\n'))
	if err != nil {
		return fmt.Errorf("write %s: %w", JournalName, errors.Join(err, j.file.Truncate(j.end)))
	}
	j.end += int64(written)
	return nil
}

// Close ends the journal.
func (j *Journal) Close() error {
	if err := j.file.Close(); err != nil {
		return fmt.Errorf("close %s: %w", JournalName, err)
	}
	return nil
}

// ReadJournal returns the runs of a case directory. A last line that was cut short by a kill is
// left out; damage anywhere else is an error.
func ReadJournal(caseDir string) ([]Run, error) {
	path := filepath.Join(caseDir, JournalName)
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	defer file.Close()
	var runs []Run
	_, err = eachLine(file, maxJournalRuns, "runs", func(line []byte) error {
		var run Run
		if err := json.Unmarshal(line, &run); err != nil {
			return fmt.Errorf("not a run: %w", err)
		}
		runs = append(runs, run)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read journal: %s: %w", path, err)
	}
	return runs, nil
}

// ReplaceFile writes a file beside its name, syncs it and renames it: after a kill it is the old or
// the new one, whole.
func ReplaceFile(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".culprit-*")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
