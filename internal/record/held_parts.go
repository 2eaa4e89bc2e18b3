package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// salvageWait is how long Salvage waits for a recorder whose owner was killed: longer than it may
// take to write down what it saw.
const salvageWait = lastWrite + 2*time.Second

// folderWait is how long Salvage waits for a folder that is not there: a recorder whose owner was
// killed in its first part makes it when it writes that.
const folderWait = 3 * time.Second

// errWritten says that a recording is still made in a folder of parts.
var errWritten = errors.New("a recorder is at work there; end its recording first (Ctrl-C, or kill -INT)")

// holdParts keeps Salvage from a folder for as long as the file is open: the parts in it are not
// all there are. nil: there is no such folder yet, or it cannot be held.
func holdParts(folder string) *os.File {
	file, err := os.Open(folder)
	if err != nil {
		return nil
	}
	if unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil { // somebody salvages it, or no locks there (NFS)
		_ = file.Close() // nothing was written
		return nil
	}
	return file
}

// hold keeps the folder of a part until the session ends, or a window begins whose parts lie
// elsewhere. The first part has no folder before it is written.
func (s *Session) hold(part string) {
	if s.parts == nil {
		s.parts = holdParts(filepath.Dir(part))
	}
}

// takeParts waits until nobody holds a folder.
func takeParts(folder string, wait time.Duration) (*os.File, error) {
	file, err := os.Open(folder)
	soon := time.Now()
	if strings.HasSuffix(filepath.Clean(folder), PartsSuffix) {
		soon = soon.Add(min(wait, folderWait))
	}
	for errors.Is(err, fs.ErrNotExist) && time.Now().Before(soon) {
		time.Sleep(20 * time.Millisecond)
		file, err = os.Open(folder)
	}
	if err != nil {
		return nil, fmt.Errorf("no part of a recording: %w; give the folder that a killed one left, FILE%s", err, PartsSuffix)
	}
	for deadline := time.Now().Add(wait); ; time.Sleep(20 * time.Millisecond) {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return file, nil // it is taken, or there are no locks there
		}
		if time.Now().After(deadline) {
			_ = file.Close() // nothing was written
			return nil, fmt.Errorf("%s: %w", filepath.Clean(folder), errWritten)
		}
	}
}

// letGo closes what holdParts returned.
func letGo(held *os.File) {
	if held != nil {
		_ = held.Close() // nothing was written
	}
}
