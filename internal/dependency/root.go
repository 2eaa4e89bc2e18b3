package dependency

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Root is the file system as a process sees it: it stays readable when the process has ended. A
// path below it never leads out of it, whatever links are on the way.
type Root struct {
	folder *os.File
}

// OpenRoot takes a folder for a root, such as /proc/PID/root.
func OpenRoot(name string) (*Root, error) {
	fd, err := unix.Open(name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open root %s: %w", name, err)
	}
	return &Root{folder: os.NewFile(uintptr(fd), name)}, nil
}

// Own tells whether it is the reader's.
func (r *Root) Own() bool { return r.folder.Name() == "/" }

// Close lets go of it.
func (r *Root) Close() { _ = r.folder.Close() }

// below opens a path below the root.
func (r *Root) below(name string, flags uint64) (*os.File, error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	for {
		fd, err := unix.Openat2(int(r.folder.Fd()), name, &how)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", name, err)
		}
		return os.NewFile(uintptr(fd), name), nil
	}
}

// Has tells whether there is a regular file at an absolute path, without opening what it stands
// for.
func (r *Root) Has(name string) bool {
	if !path.IsAbs(name) {
		return false
	}
	if archive, _, packed := strings.Cut(name, ".zip/"); packed { // of Yarn, which runs scripts in it
		name = archive + ".zip"
	}
	file, err := r.below(name, unix.O_PATH)
	if err != nil {
		return false
	}
	defer file.Close()
	return isRegular(file)
}

func isRegular(file *os.File) bool {
	information, err := file.Stat()
	return err == nil && information.Mode().IsRegular()
}

// Real is the path of a file without the links on its way; "" where there is none. Of another root
// than the reader's own it is the path itself.
func (r *Root) Real(name string) string {
	if !r.Has(name) {
		return ""
	}
	if !r.Own() {
		return name
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return name
	}
	return real
}

// identity tells one state of one file from all others.
type identity struct {
	device, inode uint64
	size          int64
	changed       unix.Timespec
}

func identityOf(file *os.File) identity {
	var status unix.Stat_t
	if unix.Fstat(int(file.Fd()), &status) != nil {
		return identity{}
	}
	return identity{status.Dev, status.Ino, status.Size, status.Ctim}
}

// allowance is what a reading may still take.
type allowance struct {
	bytes   int64
	until   time.Time
	refused int64 // files that were not read for it
	damaged int64
}

// longest bounds the time of a reading.
const longest = 3 * time.Second

func newAllowance() *allowance { return &allowance{bytes: maxRead, until: time.Now().Add(longest)} }

var errAllowance = errors.New("no more is read")

// take asks to read so many bytes.
func (a *allowance) take(bytes int64) error {
	if bytes > a.bytes || time.Now().After(a.until) {
		a.refused++
		return errAllowance
	}
	a.bytes -= bytes
	return nil
}

// open opens a regular file below a root.
func (a *allowance) open(root *Root, name string) (*os.File, error) {
	if err := a.take(0); err != nil {
		return nil, err
	}
	// O_NONBLOCK: a named pipe in the place of a file must not hold us up.
	file, err := root.below(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return nil, err
	}
	if !isRegular(file) {
		file.Close()
		return nil, fmt.Errorf("open %s: not a regular file", name)
	}
	return file, nil
}

// read reads the begin of a file, at most limit bytes; "" where there is none.
func (a *allowance) read(root *Root, name string, limit int64) string {
	file, err := a.open(root, name)
	if err != nil {
		return ""
	}
	defer file.Close()
	information, err := file.Stat()
	if err != nil {
		return ""
	}
	size := min(information.Size(), limit)
	if a.take(size) != nil {
		return ""
	}
	text := make([]byte, size)
	n, err := io.ReadFull(file, text)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return ""
	}
	return string(text[:n])
}

const maxNames = 8192 // of one folder

// names lists a folder; nil where there is none.
func (a *allowance) names(root *Root, name string) []string {
	if a.take(0) != nil {
		return nil
	}
	folder, err := root.below(name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, err := folder.Readdirnames(maxNames)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	if len(names) == maxNames {
		a.refused++
	}
	return names
}

// The forms of files.
const (
	scriptFile  = "script"
	binaryFile  = "binary"
	archiveFile = "archive"
)

// languages are by the ends of the names of their scripts.
var languages = map[string]string{".py": "python", ".pyc": "python", ".js": "node", ".mjs": "node", ".cjs": "node",
	".class": "java", ".rb": "ruby", ".php": "php", ".phar": "php", ".pm": "perl", ".pl": "perl", ".lua": "lua"}

// scriptOf is the language of a script by its name, "" for other files.
func scriptOf(name string) string { return languages[path.Ext(name)] }

func kindOf(name string) string {
	switch extension := path.Ext(name); {
	case languages[extension] != "":
		return scriptFile
	case extension == ".jar" || extension == ".war":
		return archiveFile
	}
	return binaryFile
}

// cutLast splits a path at the last occurrence of a folder: "/a/x/b/x/c" at "/x/" into "/a/x/b" and
// "c".
func cutLast(name, folder string) (before, after string, found bool) {
	at := strings.LastIndex(name, folder)
	if at < 0 {
		return name, "", false
	}
	return name[:at], name[at+len(folder):], true
}
