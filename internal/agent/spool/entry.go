package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"culprit/internal/fleet/window"
)

// Entry is one window by its name, "000000000042-20261123T030000.123Z-light": its number first, so
// that the names' order is that of their age whatever the clock did.
type Entry struct {
	Name     string
	Sequence int64
	Start    time.Time // by the host's clock
	Kind     string
	Bytes    int64 // of the disk, of both files
}

const (
	stampLayout    = "20060102T150405.000Z"
	sequenceDigits = 12
)

func newEntry(sequence int64, start time.Time, kind string) Entry {
	start = start.UTC().Truncate(time.Millisecond)
	name := fmt.Sprintf("%0*d-%s-%s", sequenceDigits, sequence, start.Format(stampLayout), kind)
	return Entry{Name: name, Sequence: sequence, Start: start, Kind: kind}
}

// parseEntry reads a name; false for one that is no window's.
func parseEntry(name string) (Entry, bool) {
	number, rest, _ := strings.Cut(name, "-")
	stamp, kind, found := strings.Cut(rest, "-")
	sequence, errNumber := strconv.ParseInt(number, 10, 64)
	start, errStamp := time.Parse(stampLayout, stamp)
	if !found || len(number) != sequenceDigits || errNumber != nil || errStamp != nil || sequence < 0 ||
		kind != window.Light && kind != window.Full {
		return Entry{}, false
	}
	return Entry{Name: name, Sequence: sequence, Start: start, Kind: kind}, true
}

func (e Entry) file(folder, suffix string) string {
	return filepath.Join(folder, windowsFolder, e.Name+suffix)
}

// RecordingOf is the recording of a window that List told of.
func RecordingOf(folder string, entry Entry) string {
	return entry.file(folder, window.RecordingSuffix)
}

// ManifestOf reads the manifest of a window that List told of.
func ManifestOf(folder string, entry Entry) (*window.Window, error) {
	file, err := os.Open(entry.file(folder, window.ManifestSuffix))
	if err != nil {
		return nil, fmt.Errorf("read window: %w", err)
	}
	defer file.Close()
	manifest, err := window.ReadManifest(file)
	if err != nil {
		return nil, fmt.Errorf("read window %s: %w", entry.Name, err)
	}
	return manifest, nil
}

// List tells of the windows of a folder, the oldest first. It needs no lock: a window that is
// removed meanwhile is missing when it is opened.
func List(folder string) ([]Entry, error) {
	files, err := os.ReadDir(filepath.Join(folder, windowsFolder))
	if err != nil {
		return nil, fmt.Errorf("list windows: %w", err)
	}
	var entries []Entry
	for _, file := range files {
		name, isManifest := strings.CutSuffix(file.Name(), window.ManifestSuffix)
		if entry, is := parseEntry(name); is && isManifest {
			entries = append(entries, entry)
		}
	}
	sortEntries(entries)
	return entries, nil
}

func sortEntries(entries []Entry) {
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
}

// All are the windows that are kept, the oldest first.
func (s *Spool) All() []Entry {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.entries)
}

// Bytes is what they take of the disk.
func (s *Spool) Bytes() int64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.bytes
}

// writeWhole writes a file by way of a temporary one beside it, and brings both to disk.
func writeWhole(path string, text []byte) (err error) {
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close(), os.Remove(temporary))
		}
	}()
	if _, err = file.Write(text); err != nil {
		return err
	}
	if err = file.Sync(); err != nil {
		return err
	}
	if err = os.Rename(temporary, path); err != nil {
		return err
	}
	if closed := file.Close(); closed != nil {
		return closed
	}
	syncFolder(filepath.Dir(path))
	return nil
}

// syncFolder makes renames last. File systems that refuse it keep the files whole all the same.
func syncFolder(path string) {
	if folder, err := os.Open(path); err == nil {
		_ = folder.Sync()
		_ = folder.Close()
	}
}

// readSmall reads a file of at most limit bytes; "" where there is none.
func readSmall(path string, limit int64) []byte {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit))
	if err != nil {
		return nil
	}
	return text
}

// missing tells whether an error says that a file is not there any more.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
