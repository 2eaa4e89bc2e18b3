package knob

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	defaultStateDir = "/var/lib/culprit"
	stateVariable   = "CULPRIT_STATE"
	journalFolder   = "journal"
	entrySuffix     = ".json"
	partSuffix      = ".part" // of a file that is being written
	lockName        = "lock"
	lockWait        = 15 * time.Second
)

// StateDir is where culprit keeps what must outlive it: $CULPRIT_STATE, or
// /var/lib/culprit. The journal is its folder "journal".
func StateDir() string {
	if folder := os.Getenv(stateVariable); folder != "" {
		return folder
	}
	return defaultStateDir
}

// Journal is the folder that holds one entry per setting that is changed right now.
type Journal struct {
	path   string   // for messages and the guardian
	folder *os.Root // all work goes through it, so that the path cannot be exchanged under us
}

// OpenJournal opens the journal of a state directory, which is created (0700) when
// it is missing. A symbolic link, or a folder that others own or may write, is
// refused: who can write the journal decides what root writes.
func OpenJournal(stateDir string) (*Journal, error) {
	state, err := filepath.Abs(stateDir)
	if err != nil {
		return nil, fmt.Errorf("open journal in %s: %w", stateDir, err)
	}
	if err := os.MkdirAll(filepath.Dir(state), 0o755); err != nil {
		return nil, fmt.Errorf("open journal: %w (run as root, or set %s to a folder of your own)", err, stateVariable)
	}
	path := filepath.Join(state, journalFolder)
	for _, folder := range []string{state, path} {
		err := os.Mkdir(folder, 0o700)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("open journal: %w (run as root, or set %s to a folder of your own)", err, stateVariable)
		}
		if err := trusted(folder); err != nil {
			return nil, err
		}
	}
	seen, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	folder, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	opened, err := folder.Stat(".")
	if err != nil || !os.SameFile(seen, opened) {
		_ = folder.Close() // the exchange is the error to tell
		return nil, fmt.Errorf("open journal: %s was exchanged while it was opened", path)
	}
	return &Journal{path: path, folder: folder}, nil
}

// ownFolder is the way out where a folder is not trusted.
const ownFolder = "move it away, or set " + stateVariable + " to a folder of your own"

// trusted refuses a folder that somebody else could have put there or written to.
func trusted(folder string) error {
	information, err := os.Lstat(folder)
	if err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	if information.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("open journal: %s is a symbolic link: %s", folder, ownFolder)
	}
	if !information.IsDir() {
		return fmt.Errorf("open journal: %s is not a folder: %s", folder, ownFolder)
	}
	if err := owned(information, folder, os.Geteuid()); err != nil {
		return err
	}
	if information.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("open journal: others may write to %s: chmod 700 it once you trust what is in it", folder)
	}
	return nil
}

// owned refuses a folder that does not belong to the user.
func owned(information fs.FileInfo, folder string, user int) error {
	status, ok := information.Sys().(*syscall.Stat_t)
	switch {
	case ok && int(status.Uid) == user:
		return nil
	case ok && status.Uid == 0:
		return fmt.Errorf("open journal: %s is root's: run as root, as settings of the host need it, or set %s to a "+
			"folder of your own", folder, stateVariable)
	}
	return fmt.Errorf("open journal: %s belongs to another user: %s", folder, ownFolder)
}

// Close ends the use of the journal; its entries stay.
func (journal *Journal) Close() error { return journal.folder.Close() }

// lock keeps other culprit processes from changing entries until the returned function is called.
func (journal *Journal) lock() (func(), error) {
	file, err := journal.folder.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock journal: %w", err)
	}
	for deadline := time.Now().Add(lockWait); ; time.Sleep(10 * time.Millisecond) {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { file.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) || time.Now().After(deadline) {
			file.Close()
			return nil, fmt.Errorf("lock journal %s: %w (another culprit holds it: see `fuser %s`)",
				journal.path, err, filepath.Join(journal.path, lockName))
		}
	}
}

// write puts an entry on disk: a temporary file, then a rename, both synced, so
// that a power cut leaves the old entry or the new one and never half of one.
func (journal *Journal) write(name string, content []byte) error {
	part := name + partSuffix
	if err := journal.folder.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write journal: %w", err)
	}
	file, err := journal.folder.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write journal in %s: %w", journal.path, err)
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = journal.folder.Rename(part, name)
	}
	if err != nil {
		return both(fmt.Errorf("write journal in %s: %w", journal.path, err),
			ignoreMissing(journal.folder.Remove(part)))
	}
	return journal.sync()
}

// remove takes an entry away for good.
func (journal *Journal) remove(name string) error {
	if err := ignoreMissing(journal.folder.Remove(name)); err != nil {
		return fmt.Errorf("remove journal entry: %w", err)
	}
	return journal.sync()
}

// sync makes the folder's names durable.
func (journal *Journal) sync() error {
	folder, err := journal.folder.Open(".")
	if err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	err = folder.Sync()
	if closeErr := folder.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("sync journal %s: %w", journal.path, err)
	}
	return nil
}

// list returns the names of the entries in order.
func (journal *Journal) list() ([]string, error) {
	listed, err := fs.ReadDir(journal.folder.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("list journal %s: %w", journal.path, err)
	}
	var names []string
	for _, each := range listed {
		if strings.HasSuffix(each.Name(), entrySuffix) {
			names = append(names, each.Name())
		}
	}
	return names, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
