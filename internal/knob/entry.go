package knob

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	entrySchema = 1
	entryLimit  = 64 << 10 // bytes
)

// entry is one open change, as it stands on disk.
type entry struct {
	Schema       int       `json:"schema"`
	Knob         string    `json:"knob"`
	Root         string    `json:"root"`
	Path         string    `json:"path"`
	SurvivesBoot bool      `json:"survives_boot"`
	Original     string    `json:"original"`
	Ours         []string  `json:"ours"` // values that we wrote, or were about to write
	Owner        owner     `json:"owner"`
	Begun        time.Time `json:"begun"`
	Trouble      string    `json:"trouble,omitempty"` // why the guardian could not restore it
}

var knobName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)

// fileName is where an entry is kept: one file per knob.
func (entry entry) fileName() string { return entry.Knob + entrySuffix }

// file is the whole path of the setting.
func (entry entry) file() string { return filepath.Join(entry.Root, entry.Path) }

// save writes the entry to disk.
func (entry entry) save(journal *Journal) error {
	content, err := json.MarshalIndent(entry, "", "  ")
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
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
		err = fmt.Errorf("it names knob %q", found.Knob)
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
	values := append([]string{found.Original}, found.Ours...)
	switch {
	case found.Schema != entrySchema:
		return entry{}, fmt.Errorf("schema %d, this culprit knows %d", found.Schema, entrySchema)
	case !knobName.MatchString(found.Knob):
		return entry{}, fmt.Errorf("bad knob name %q", found.Knob)
	case !filepath.IsAbs(found.Root) || !filepath.IsAbs(found.Path):
		return entry{}, errors.New("its paths are not absolute")
	case found.Original == "":
		return entry{}, errors.New("no original value")
	case found.Owner.Pid <= 0 || found.Owner.BootID == "":
		return entry{}, errors.New("no owner")
	case slices.ContainsFunc(values, func(value string) bool {
		return len(value) > valueLimit || strings.ContainsAny(value, "\x00\n")
	}):
		return entry{}, errors.New("a value that no setting can have")
	}
	return found, nil
}

// knob finds what an entry changed. Only knobs of the list are ever written, and
// only where the list says: a path out of a file is compared, not used.
func (entry entry) knob() (Knob, error) {
	found, err := Find(entry.Root, entry.Knob)
	if err != nil {
		return nil, err
	}
	if found.Place().Path != entry.Path {
		return nil, fmt.Errorf("find knob %s: it lives at %s, the journal says %s",
			entry.Knob, found.Place().Path, entry.Path)
	}
	return found, nil
}
