package serve

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"culprit/internal/report"
)

// Limits of a library: what lies deeper, or beyond the number, is left out and said.
const (
	depthMax   = 8
	entriesMax = 5_000
	namesMax   = 100_000 // looked at in one walk
	listingAge = time.Second
)

// library is what lies below one directory. Files are only reached through root, so that no path
// and no symbolic link leads out of it.
type library struct {
	dir  string
	root *os.Root

	mutex  sync.Mutex
	known  map[string]described // by the name of the document or recording
	listed Listing
	when   time.Time
}

// described is an entry with what the file was like when it was read.
type described struct {
	inode uint64
	size  int64
	mtime time.Time
	entry Entry
}

// Listing is all that a library holds.
type Listing struct {
	Schema  string  `json:"schema"`
	Dir     string  `json:"dir"`
	Entries []Entry `json:"entries"`
	// LeftOut says in one line what was not looked at.
	LeftOut string `json:"left_out,omitempty"`
}

// listingSchema names the document of a listing.
const listingSchema = "culprit.library/1"

func openLibrary(dir string) (*library, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no directory %s; make it, or give another", dir)
		}
		return nil, fmt.Errorf("serve %s: %w; give a directory that can be read", dir, withoutDirectory(err))
	}
	return &library{dir: dir, root: root, known: map[string]described{}}, nil
}

// list walks the directory, reading only files that changed since the last walk.
func (l *library) list() Listing {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if time.Since(l.when) < listingAge {
		return l.listed
	}
	w := walk{library: l, known: map[string]described{}, entries: []Entry{}}
	w.folder(".", 0)
	slices.SortFunc(w.entries, func(x, y Entry) int { return strings.Compare(x.Path, y.Path) })
	l.known = w.known
	l.listed = Listing{Schema: listingSchema, Dir: l.dir, Entries: w.entries, LeftOut: w.leftOut}
	l.when = time.Now()
	return l.listed
}

// forget has the next listing look again.
func (l *library) forget() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.when = time.Time{}
}

// walk is one look at the whole directory.
type walk struct {
	library *library
	known   map[string]described
	entries []Entry
	names   int
	leftOut string
}

// folder lists one folder; of is the case that it belongs to.
func (w *walk) folder(name string, depth int) {
	if depth > depthMax {
		w.leftOut = fmt.Sprintf("folders deeper than %d, such as %s", depthMax, short(name))
		return
	}
	folder, err := w.library.root.Open(name)
	if err != nil {
		w.unreadable(name, err)
		return
	}
	defer folder.Close()
	var folders []string
	for {
		found, err := folder.ReadDir(256)
		for _, one := range found {
			if w.names++; w.names > namesMax || len(w.entries) >= entriesMax {
				w.leftOut = fmt.Sprintf("what comes after %d names and %d entries: serve a smaller directory",
					w.names-1, len(w.entries))
				return
			}
			below := path.Join(name, one.Name())
			switch {
			case strings.HasPrefix(one.Name(), "."):
			case one.IsDir():
				folders = append(folders, below)
			case one.Type().IsRegular() && listed(one.Name()):
				w.file(below)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			w.unreadable(name, err)
			break
		}
	}
	slices.Sort(folders)
	for _, below := range folders {
		w.folder(below, depth+1)
	}
}

// listed tells files that make an entry.
func listed(name string) bool {
	return name == caseName || name == resultName || strings.HasSuffix(name, recordingSuffix)
}

// unreadable leaves a folder out, and says so.
func (w *walk) unreadable(name string, err error) {
	w.leftOut = report.Line(fmt.Errorf("folder %s: %w", short(name), withoutDirectory(err)))
}

// withoutDirectory is an error without the name of the file, which the line that it stands in has.
func withoutDirectory(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}

// file adds the entry of one file.
func (w *walk) file(name string) {
	file, info, err := w.library.open(name)
	if err != nil {
		w.entries = append(w.entries, Entry{Path: name, Kind: kindRecording, Damaged: report.Line(err)})
		return
	}
	defer file.Close()
	stat, _ := info.Sys().(*syscall.Stat_t)
	now := described{size: info.Size(), mtime: info.ModTime()}
	if stat != nil {
		now.inode = stat.Ino
	}
	before, known := w.library.known[name]
	if known && before.inode == now.inode && before.size == now.size && before.mtime.Equal(now.mtime) {
		now = before
	} else {
		now.entry = describe(name, file, info)
		now.entry.Of = w.library.caseOf(name)
	}
	w.known[name] = now
	w.entries = append(w.entries, now.entry)
}

// caseOf is the case whose folder of recordings a recording lies in; "" for none.
func (l *library) caseOf(name string) string {
	folder, base := path.Split(path.Dir(name))
	if base != "recordings" || folder == "" {
		return ""
	}
	of := path.Clean(folder)
	for _, document := range []string{caseName, resultName} {
		if info, err := l.root.Lstat(path.Join(of, document)); err == nil && info.Mode().IsRegular() {
			return of
		}
	}
	return ""
}

// open opens a regular file of the library; the error does not name the directory.
func (l *library) open(name string) (*os.File, os.FileInfo, error) {
	if !utf8.ValidString(name) {
		return nil, nil, fmt.Errorf("%w under an address: its name is no UTF-8; rename it", fs.ErrNotExist)
	}
	if !fs.ValidPath(name) || strings.ContainsRune(name, 0) {
		return nil, nil, fmt.Errorf("%w: no name of the library", fs.ErrNotExist)
	}
	// O_NONBLOCK: a named pipe must be refused, not waited for.
	file, err := l.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", short(name), withoutDirectory(err))
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", short(name))
	}
	if err != nil {
		_ = file.Close() // was only looked at
		return nil, nil, err
	}
	return file, info, nil
}

// List tells what lies below a directory, as the library of a server does.
func List(dir string) (Listing, error) {
	l, err := openLibrary(dir)
	if err != nil {
		return Listing{}, err
	}
	defer l.root.Close()
	return l.list(), nil
}
