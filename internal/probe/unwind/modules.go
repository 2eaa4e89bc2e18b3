package unwind

import (
	"os"
	"strings"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"golang.org/x/sys/unix"

	"culprit/internal/symbol"
)

// What is known of files stays from one window to the next, or each would begin by reading them
// all. But a table of a Go program takes 15 MB, DWARF up to 48 MB, and a host that builds and tests
// maps a hundred such files in an hour: 500 MB after fourteen minutes. So between two windows what
// was decoded is let go of, but for the DWARF that the last one needed; the files stay open; and
// what was built, run and removed is forgotten. Within a window files are decoded one after the
// other (see Prepare): stacks of different programs take turns, and each would read its file again
// (seen: two minutes for one part).

// keptUnused is for how many windows a removed file is remembered without having been asked for.
const keptUnused = 3

// module is what is known of one mapped file.
type module struct {
	table  *symbol.Table // nil until it is asked for
	where  symbol.Options
	asked  bool // for the table
	vdso   bool
	entry  uint64        // where the kernel begins to run it; 0: not known
	golang *goCode       // nil: not a Go program
	lines  *symbol.Lines // nil: no DWARF
	file   *os.File      // the table's, golang's and lines'; nil: it could not be opened
	pid    libpf.PID     // the process it was seen in first
	used   int           // window in which it was asked for last
	spent  bool          // nothing more is decoded of it in this window: see budget
	places places        // what lines said
	away   *unix.Stat_t  // the file that is closed, see putAway; nil: none is
}

// symbols are a file's own, nil when it has none. They are read by the first frame that asks for
// them: most files that a host maps are in no stack, and the tables of always new programs took a
// megabyte and more each. (In a Go program that is a frame of C code, which most have none of.)
func (m *module) symbols() *symbol.Table {
	if m.file != nil && !m.asked {
		m.asked = true
		m.table, _ = symbol.Load(m.file, m.where) // nil without symbols
	}
	return m.table
}

// largeTable is the number of functions from which on a table is read again rather than kept, 16
// bytes each and names.
const largeTable = 4096

// forgetLargeTable lets go of what can be read again: a container's file may be gone.
func (m *module) forgetLargeTable() {
	if m.table != nil && m.file != nil && m.where.Root == ownRoot && m.table.Len() >= largeTable {
		m.table, m.asked = nil, false
	}
}

// decodes is how many bytes the next question decodes.
func (m *module) decodes() (bytes int64) {
	if m.golang != nil {
		bytes += m.golang.decodes()
	}
	if m.lines != nil {
		bytes += m.lines.Decodes()
	}
	return bytes
}

// forgetDecoded lets go of what can be decoded again.
func (m *module) forgetDecoded() {
	if m.golang != nil {
		m.golang.Forget()
	}
	if m.lines != nil {
		m.lines.Forget()
	}
}

// moduleOf gives what is known of a mapped file, nothing when it is not known.
func (u *Unwinder) moduleOf(id libpf.FileID) *module {
	u.mu.Lock()
	defer u.mu.Unlock()
	found := u.tables[id]
	if found == nil {
		return &module{}
	}
	found.used = u.window
	found.fetch()
	return found
}

// forgetModules begins a window: it lets go of what the last one did not need, and of files that
// were removed and whose process has ended, once nobody asked for some windows. The caller holds
// the lock.
func (u *Unwinder) forgetModules() {
	u.forgetPlaces()
	for id, known := range u.tables {
		known.spent = false
		if known.golang != nil {
			known.golang.Forget() // what it found out stays, and is most of what will be asked
		}
		if known.file != nil && known.used < u.window && known.where.Root == ownRoot {
			known.table, known.asked = nil, false
		}
		if known.lines != nil && known.used < u.window {
			known.lines.Forget()
		}
		if known.file == nil || u.window-known.used < keptUnused || alive(known.pid) {
			continue
		}
		if removed(known.file) {
			delete(u.tables, id)
			known.close()
		} else if known.where.Root == ownRoot {
			known.putAway()
		}
	}
	u.window++
}

// Mapped is a file that code was run of.
type Mapped struct {
	Path string // as its process sees it
	Pid  int    // the recorder's own where the process sees the same files
}

// Mapped lists the files that stacks of the window, which were named, ran through.
func (u *Unwinder) Mapped() (list []Mapped) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, known := range u.tables {
		if known.used != u.window || !strings.HasPrefix(known.where.Path, "/") {
			continue
		}
		pid := int(known.pid)
		if known.where.Root == ownRoot {
			pid = os.Getpid()
		}
		list = append(list, Mapped{Path: known.where.Path, Pid: pid})
	}
	return list
}

func (m *module) close() {
	if m.lines != nil {
		_ = m.lines.Close() // which is of its debug file, or of the same, which then closes once more
	}
	_ = m.file.Close()
	m.file, m.lines, m.golang, m.table, m.asked, m.places = nil, nil, nil, nil, false, nil
}

// putAway closes a file that is still where it was. The library tells of a file once: what it was
// is remembered, and it is opened again when a frame of it comes.
func (m *module) putAway() {
	var status unix.Stat_t
	if unix.Fstat(int(m.file.Fd()), &status) != nil {
		return
	}
	m.close()
	m.away = &status
}

// fetch opens a file again that was put away. One that was replaced or written to since is another:
// it has no names.
func (m *module) fetch() {
	if m.away == nil {
		return
	}
	was := m.away
	m.away = nil
	file, err := os.OpenFile(m.where.Path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	var now unix.Stat_t
	if unix.Fstat(int(file.Fd()), &now) != nil || now.Dev != was.Dev || now.Ino != was.Ino || now.Mtim != was.Mtim {
		_ = file.Close()
		return
	}
	m.takeOver(file)
}

// removed tells whether no folder has the file any more.
func removed(file *os.File) bool {
	var status unix.Stat_t
	return unix.Fstat(int(file.Fd()), &status) == nil && status.Nlink == 0
}

func alive(pid libpf.PID) bool { return unix.Kill(int(pid), 0) != unix.ESRCH }
