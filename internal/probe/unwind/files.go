package unwind

import (
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/ebpf-profiler/process"
	"golang.org/x/sys/unix"
)

// Before the library takes a mapped file for one that it knows, it asks when the file was last
// modified, of every mapping of every new process. To open it below /proc for that was the dearest
// part of looking at a process. A file that is held open keeps its number: no other file has it
// meanwhile, so one call on the open file tells as much.

const (
	maxHeldFiles = 256
	maxSeenFiles = 8192
	heldFor      = 2 * time.Second // after it was asked for: a file that was removed is to leave the disk soon
)

// heldFiles are files that processes have mapped. It is for one goroutine.
type heldFiles struct {
	opener *opener
	files  map[fileKey]*heldFile
	// once is when each file was last modified that was ever opened: what holds where its file system
	// does not answer any more.
	once  map[fileKey]int64
	swept time.Time
	asked map[fileNumber]int64 // what was told since it was cleared, of files whose numbers are their own

	hurried bool      // one look is not to hold others up
	began   time.Time // the look
	fresh   int       // new files that it asked for
	left    bool      // it left files for another one
}

// lookSlice is how long a look of a recorder of the whole host begins with new files: a browser has
// a hundred libraries of some milliseconds each. It goes on after the looks that wait meanwhile.
// Chosen.
const lookSlice = 10 * time.Millisecond

// begin is told of a new look.
func (h *heldFiles) begin() { h.began, h.fresh, h.left = time.Now(), 0, false }

type fileNumber struct{ device, inode uint64 }

// fileKey is what a list of mappings tells of a file. The path is part of it because overlays and
// bind mounts of different disks may show the same numbers.
type fileKey struct {
	device, inode uint64
	path          string
}

type heldFile struct {
	file *os.File
	used time.Time
}

func newHeldFiles() *heldFiles {
	return &heldFiles{opener: newOpener(), files: map[fileKey]*heldFile{}, once: map[fileKey]int64{},
		asked: map[fileNumber]int64{}}
}

// ready tells whether a look may ask for the file of a mapping: it is open, or was before.
func (h *heldFiles) ready(target process.Process, mapping *process.RawMapping) bool {
	if !mapping.IsFileBacked() {
		return true
	}
	h.sweep(time.Now())
	key := fileKey{mapping.Device, mapping.Inode, mapping.Path}
	if h.files[key] != nil {
		return true
	}
	since, was := h.once[key]
	if h.hurried && !was {
		if h.fresh > 0 && time.Since(h.began) > lookSlice { // each look comes further than the one before
			h.left = true
			return false
		}
		h.fresh++
	}
	file, answered := h.opener.open(key, target, mapping, since)
	if !answered {
		return was
	}
	if file != nil {
		h.hold(key, file)
	}
	return true
}

// hold keeps a file open that was opened just now, if there is room, and gives when it was last
// modified.
func (h *heldFiles) hold(key fileKey, file *os.File) (modified int64) {
	modified = modifiedAt(file)
	key.path = strings.Clone(key.path) // the list of mappings is read into one buffer
	if len(h.once) >= maxSeenFiles {
		clear(h.once)
	}
	h.once[key] = modified
	if modified == 0 || len(h.files) >= maxHeldFiles || !numbersAreItsOwn(file) {
		_ = file.Close() // nothing was written to it
		return modified
	}
	h.files[key] = &heldFile{file, time.Now()}
	h.asked[fileNumber{key.device, key.inode}] = modified
	return modified
}

// modified is when the file of a mapping was last modified, in ns; 0 when that cannot be told.
func (h *heldFiles) modified(target process.Process, mapping *process.RawMapping) int64 {
	if !mapping.IsFileBacked() {
		return 0
	}
	now := time.Now()
	h.sweep(now)
	key := fileKey{mapping.Device, mapping.Inode, mapping.Path}
	if known := h.files[key]; known != nil {
		known.used = now
		modified := modifiedAt(known.file)
		h.asked[fileNumber{key.device, key.inode}] = modified
		return modified
	}
	if before, was := h.once[key]; was && h.opener.isBehind(key.device) {
		return before
	}
	opened, err := target.OpenMappingFile(mapping)
	if err != nil {
		return 0
	}
	file, plain := opened.(*os.File)
	if !plain {
		_ = opened.Close() // nothing was written to it
		return target.GetMappingFileLastModified(mapping)
	}
	return h.hold(key, file)
}

// sweep closes what nobody has asked for lately.
func (h *heldFiles) sweep(now time.Time) {
	if now.Sub(h.swept) < heldFor/2 {
		return
	}
	h.swept = now
	h.opener.sweep(now)
	for key, one := range h.files {
		if now.Sub(one.used) >= heldFor {
			_ = one.file.Close() // nothing was written to it
			delete(h.files, key)
		}
	}
}

// modifiedAt does not ask the server of a network's file system: what the kernel knows of the file
// is what it runs.
func modifiedAt(file *os.File) int64 {
	var status unix.Statx_t
	err := unix.Statx(int(file.Fd()), "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, unix.STATX_MTIME, &status)
	if err != nil {
		return 0
	}
	return status.Mtime.Sec*1e9 + int64(status.Mtime.Nsec)
}

// numbersAreItsOwn tells whether a list of mappings shows a file under numbers that no other has:
// Btrfs shows that of the whole file system in place of the subvolume's, within which the number of
// a file is counted.
func numbersAreItsOwn(file *os.File) bool {
	var status unix.Statfs_t
	return unix.Fstatfs(int(file.Fd()), &status) == nil && status.Type != unix.BTRFS_SUPER_MAGIC
}
