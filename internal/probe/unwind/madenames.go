package unwind

import (
	"io"
	"os"
	"time"

	"go.opentelemetry.io/ebpf-profiler/libpf"

	"culprit/internal/symbol"
)

// maxMapBytes is how much is read of one process's map of its own code: about half a million
// functions.
const maxMapBytes = 32 << 20

// readShare is the part of the time that reading one map again and again may take: one of so many.
const readShare = 50

// madeNames are the names that a process gave its code, as far as its map was read. The file grows
// while the process runs. It is kept open: in a container it is out of reach when that is gone.
type madeNames struct {
	file  *os.File
	table *symbol.Table // nil: none yet
	size  int64         // of what was read
	read  pace
}

// at gives the name of the code at an address, "" when the map has none; it reads the map again
// when it grew.
func (n *madeNames) at(pid libpf.PID, address uint64) string {
	if n.table != nil {
		if name, _, ok := n.table.Lookup(address); ok {
			return name
		}
	}
	if !n.reload(pid) {
		return ""
	}
	name, _, _ := n.table.Lookup(address)
	return name
}

// reload reads the map if it is time to; false when nothing is new.
func (n *madeNames) reload(pid libpf.PID) bool {
	now := time.Now()
	if !n.read.due(now) {
		return false
	}
	found := n.readAll(pid)
	n.read.done(time.Now(), found)
	n.read.next = n.read.next.Add(readShare * time.Since(now))
	return found
}

func (n *madeNames) readAll(pid libpf.PID) bool {
	if n.file == nil {
		file, err := symbol.OpenJITMap("/proc", int(pid))
		if err != nil {
			return false // none, none yet, or one that is not the process's: its code stays unnamed
		}
		n.file = file
	}
	status, err := n.file.Stat()
	if err != nil || status.Size() == n.size {
		return false
	}
	table, _, err := symbol.JITMap(io.NewSectionReader(n.file, 0, maxMapBytes))
	if err != nil {
		return false
	}
	n.table, n.size = table, status.Size()
	return true
}

func (n *madeNames) close() {
	if n.file != nil {
		_ = n.file.Close()
	}
}
