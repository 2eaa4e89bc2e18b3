// Package spool keeps the windows of an agent on disk, under a bound, the oldest going first. A
// window is two files, a recording and its manifest, which come whole or not at all: each is made
// beside its place, brought to disk and renamed, the manifest last. What a crash left otherwise is
// set aside and counted.
//
//	kept, err := spool.Open(folder, 2<<30)
//	name := kept.Next(start, window.Light)
//	…the recording is written to kept.Incoming(name)…
//	err = kept.Add(name, manifest)
//
// One process writes; any number may read with List. It refuses a folder that others may write.
package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/fleet/window"
)

// The folders of a spool.
const (
	windowsFolder  = "windows"
	incomingFolder = "incoming" // recordings that have no manifest yet
	tornFolder     = "torn"     // what could not be read
	lockName       = "lock"
)

// Limits of what is kept beside the windows.
const (
	maxTorn   = 8       // files that are set aside, the oldest are removed
	leastLeft = 32      // windows that are not given up where others fill the disk
	block     = 4 << 10 // what a file takes of the disk is a multiple
	LeastKeep = 1 << 20
)

// ErrInUse is wrapped where another agent has the folder.
var ErrInUse = errors.New("another agent has it")

// Spool is the folder of one agent, which has its lock.
type Spool struct {
	folder string
	keep   int64
	lock   *os.File

	mutex   sync.Mutex
	entries []Entry // by sequence
	bytes   int64
	state   State
}

// Open locks a folder, which is made where it is missing, and puts in order what is in it.
func Open(folder string, keep int64) (*Spool, error) {
	if keep < LeastKeep {
		return nil, fmt.Errorf("keep %d bytes of windows: give at least %d", keep, LeastKeep)
	}
	for _, name := range []string{"", windowsFolder, incomingFolder, tornFolder} {
		if err := makeFolder(filepath.Join(folder, name)); err != nil {
			return nil, fmt.Errorf("open windows in %s: %w", folder, err)
		}
	}
	lock, err := lockFolder(folder)
	if err != nil {
		return nil, fmt.Errorf("open windows in %s: %w", folder, err)
	}
	s := &Spool{folder: folder, keep: keep, lock: lock, state: readState(folder)}
	if err := s.recover(); err != nil {
		_ = lock.Close() // nothing was changed that needs it
		return nil, fmt.Errorf("open windows in %s: %w", folder, err)
	}
	return s, nil
}

// makeFolder makes a folder of one's own; one that others may write is refused: they could put
// files in place of ours.
func makeFolder(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	var status unix.Stat_t
	if err := unix.Lstat(path, &status); err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	switch {
	case status.Mode&unix.S_IFMT != unix.S_IFDIR:
		return fmt.Errorf("%s is not a folder", path)
	case status.Mode&0o022 != 0:
		return fmt.Errorf("%s may be written by others (mode %04o); chmod go-w %s", path, status.Mode&0o7777, path)
	case status.Uid != 0 && int(status.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to user %d; give a folder of your own", path, status.Uid)
	}
	return nil
}

func lockFolder(folder string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(folder, lockName), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close() // nothing was written
		return nil, fmt.Errorf("%w: end it, or give another folder", ErrInUse)
	}
	return file, nil
}

// InUse tells whether an agent has a folder now.
func InUse(folder string) bool {
	file, err := os.OpenFile(filepath.Join(folder, lockName), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer file.Close() // and with it the lock, where it was to be had
	return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil
}

// Close writes down the state and gives the folder free.
func (s *Spool) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	err := s.state.write(s.folder)
	return errors.Join(err, s.lock.Close())
}

// Next begins a window: it gives it its number and its name. A number is not given twice, also
// after a crash: the names on disk have it.
func (s *Spool) Next(start time.Time, kind string) Entry {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.state.Sequence++
	return newEntry(s.state.Sequence, start, kind)
}

// Incoming is where the recording of a window is to be written.
func (s *Spool) Incoming(entry Entry) string {
	return filepath.Join(s.folder, incomingFolder, entry.Name+window.RecordingSuffix)
}

// Add takes over the recording that was written to Incoming, with its manifest, which is told of
// what was dropped since the one before.
func (s *Spool) Add(entry Entry, manifest *window.Window) error {
	dropped := s.State().Dropped
	manifest.Dropped = dropped - s.State().Told
	text, err := manifest.Manifest()
	if err != nil {
		return fmt.Errorf("keep window: %w", err)
	}
	from, to := s.Incoming(entry), s.Recording(entry)
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("keep window: %w", err)
	}
	if err := writeWhole(s.Manifest(entry), text); err != nil {
		_ = os.Rename(to, from) // it is found there at the next start
		return fmt.Errorf("keep window: %w", err)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	entry.Bytes = sizeOf(to) + sizeOf(s.Manifest(entry))
	s.state.Told = dropped
	s.entries = append(s.entries, entry)
	sortEntries(s.entries) // one that was adopted is older than others
	s.bytes += entry.Bytes
	s.shrink(s.keep)
	return nil
}

// Recording and Manifest are the files of a window.
func (s *Spool) Recording(entry Entry) string { return entry.file(s.folder, window.RecordingSuffix) }

// Manifest is the file beside the recording.
func (s *Spool) Manifest(entry Entry) string { return entry.file(s.folder, window.ManifestSuffix) }

// shrink removes the oldest windows until no more than a number of bytes are left, but never the
// newest. The caller holds the mutex.
func (s *Spool) shrink(limit int64) (removed int) {
	for s.bytes > limit && len(s.entries) > 1 {
		s.remove(0)
		removed++
	}
	return removed
}

// remove removes one window, the manifest first: without it the recording is no window.
func (s *Spool) remove(at int) {
	entry := s.entries[at]
	s.entries = slices.Delete(s.entries, at, at+1)
	s.bytes -= entry.Bytes
	for _, path := range []string{s.Manifest(entry), s.Recording(entry)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.state.LastError = err.Error()
		}
	}
	s.state.drop(entry)
}

// MakeRoom removes the oldest windows where the disk has less free than a number of bytes, as
// others fill it too, down to the last leastLeft. It tells whether there is room now.
func (s *Spool) MakeRoom(bytes int64) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for free(s.folder) < bytes {
		if len(s.entries) <= leastLeft {
			return false
		}
		s.remove(0)
	}
	return true
}

// free is what the disk of a folder has left for this user; a disk that cannot be asked is taken
// for empty.
func free(folder string) int64 {
	var space unix.Statfs_t
	if err := unix.Statfs(folder, &space); err != nil || space.Blocks == 0 {
		return 1 << 62
	}
	return int64(space.Bavail) * space.Bsize
}

// sizeOf is what a file takes of the disk.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return (info.Size() + block - 1) / block * block
}
