package knob

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	entrySchema = 2
	entryLimit  = 4 << 20 // bytes: a tree of some thousand threads
)

// entry is one open transaction, as it stands on disk.
type entry struct {
	Schema  int       `json:"schema"`
	Owner   owner     `json:"owner"`
	Begun   time.Time `json:"begun"`
	Steps   []step    `json:"steps"`             // in the order in which they were made; undone in reverse
	Trouble string    `json:"trouble,omitempty"` // why the guardian could not restore it
}

// step is one part of a knob that is changed, or one thing that is made.
type step struct {
	Knob         string   `json:"knob"`
	Target       Target   `json:"target"`
	Part         string   `json:"part"`
	Path         string   `json:"path"` // for messages
	SurvivesBoot bool     `json:"survives_boot,omitempty"`
	Original     string   `json:"original"`
	Ours         []string `json:"ours"` // values that we wrote, or were about to write
	Follows      bool     `json:"follows,omitempty"`
}

// fileName is where an entry is kept: one file per transaction.
func (entry entry) fileName() string {
	return fmt.Sprintf("change-%d-%d%s", entry.Owner.Pid, entry.Begun.UnixNano(), entrySuffix)
}

// is tells whether two entries are the same transaction.
func (entry entry) is(other entry) bool {
	return entry.Owner == other.Owner && entry.Begun.Equal(other.Begun)
}

// names lists the knobs of an entry, each once.
func (entry entry) names() string {
	var names []string
	for _, step := range entry.Steps {
		names = append(names, step.Knob)
	}
	if len(names) == 0 {
		return "its settings"
	}
	return strings.Join(distinct(names), ", ")
}

// same tells whether two steps change the same place.
func (s step) same(other step) bool {
	return s.Target.Root == other.Target.Root && s.Part == other.Part
}

// save writes the entry to disk.
func (entry entry) save(journal *Journal) error {
	content, err := json.MarshalIndent(entry, "", "  ")
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	if len(content) >= entryLimit {
		return fmt.Errorf("write journal: %d steps are more than its %d bytes hold", len(entry.Steps), entryLimit)
	}
	return journal.write(entry.fileName(), append(content, '\n'))
}

// errDamaged marks an entry that cannot be understood; it is never half-used.
var errDamaged = errors.New("damaged journal entry")

// load reads an entry; a missing one gives fs.ErrNotExist.
func (journal *Journal) load(name string) (entry, error) {
	file, err := journal.folder.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return entry{}, fmt.Errorf("read journal entry: %w", err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, entryLimit+1))
	if err != nil {
		return entry{}, fmt.Errorf("read journal entry %s: %w", filepath.Join(journal.path, name), err)
	}
	found, err := parseEntry(content)
	if err == nil && found.fileName() != name {
		err = fmt.Errorf("it ought to be called %s", found.fileName())
	}
	if err != nil {
		return entry{}, fmt.Errorf("%w %s: %w (check the setting by hand, then delete the file)",
			errDamaged, filepath.Join(journal.path, name), err)
	}
	return found, nil
}

// parseEntry reads an entry from untrusted bytes: an entry or an error, never both.
func parseEntry(content []byte) (entry, error) {
	if len(content) > entryLimit {
		return entry{}, fmt.Errorf("larger than %d bytes", entryLimit)
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	var found entry
	if err := decoder.Decode(&found); err != nil {
		return entry{}, fmt.Errorf("not a whole JSON object: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return entry{}, errors.New("something follows its end")
	}
	switch {
	case found.Schema != entrySchema:
		return entry{}, fmt.Errorf("schema %d, this culprit knows %d", found.Schema, entrySchema)
	case found.Owner.Pid <= 0 || found.Owner.BootID == "":
		return entry{}, errors.New("no owner")
	case found.Begun.IsZero():
		return entry{}, errors.New("no time")
	}
	for _, step := range found.Steps {
		if err := step.check(); err != nil {
			return entry{}, err
		}
	}
	return found, nil
}

// check refuses what no step of ours holds.
func (s step) check() error {
	values := append([]string{s.Original}, s.Ours...)
	switch {
	case s.Knob == "" || len(s.Knob) > nameLimit || strings.ContainsAny(s.Knob, "\x00\n"):
		return fmt.Errorf("bad knob name %.60q", s.Knob)
	case !filepath.IsAbs(s.Target.Root):
		return errors.New("its root is not an absolute path")
	case s.Part == "":
		return fmt.Errorf("a step of %s names no part", s.Knob)
	case slices.ContainsFunc(values, func(value string) bool {
		return len(value) > valueLimit || strings.ContainsAny(value, "\x00\n")
	}):
		return errors.New("a value that no setting can have")
	}
	return nil
}

// part finds what a step changed. Only knobs of the list are ever written, and
// only where the list says: a path out of a file is compared, not used.
func (s step) part() (part, error) {
	if kind, ours := strings.CutPrefix(s.Knob, madePrefix); ours {
		return Thing{Kind: kind, ID: s.Part}.part()
	}
	knob, err := lookup(s.Knob, s.Target)
	if err != nil {
		return part{}, err
	}
	if knob.byID != nil {
		return knob.byID(s.Part)
	}
	parts, err := knob.parts()
	if err != nil {
		return part{}, err
	}
	for _, each := range parts {
		if each.id == s.Part {
			return each, nil
		}
	}
	return part{}, fmt.Errorf("find knob %s: the journal says it lives at %s, which it does not", s.Knob, s.Part)
}
