package unwind

import (
	"os"
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
	heldFor      = 2 * time.Second // after it was asked for: a file that was removed is to leave the disk soon
)

// heldFiles are files that processes have mapped. It is for one goroutine.
type heldFiles struct {
	files map[fileKey]*heldFile
	swept time.Time
	asked map[fileNumber]int64 // what was told since it was cleared, of files whose numbers are their own
}

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
	return &heldFiles{files: map[fileKey]*heldFile{}, asked: map[fileNumber]int64{}}
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
	opened, err := target.OpenMappingFile(mapping)
	if err != nil {
		return 0
	}
	file, plain := opened.(*os.File)
	if !plain {
		_ = opened.Close() // nothing was written to it
		return target.GetMappingFileLastModified(mapping)
	}
	modified := modifiedAt(file)
	if modified == 0 || len(h.files) >= maxHeldFiles || !numbersAreItsOwn(file) {
		_ = file.Close() // nothing was written to it
		return modified
	}
	h.files[fileKey{mapping.Device, mapping.Inode, string([]byte(mapping.Path))}] = &heldFile{file, now}
	h.asked[fileNumber{mapping.Device, mapping.Inode}] = modified
	return modified
}

// sweep closes what nobody has asked for lately.
func (h *heldFiles) sweep(now time.Time) {
	if now.Sub(h.swept) < heldFor/2 {
		return
	}
	h.swept = now
	for key, one := range h.files {
		if now.Sub(one.used) >= heldFor {
			_ = one.file.Close() // nothing was written to it
			delete(h.files, key)
		}
	}
}

func modifiedAt(file *os.File) int64 {
	var status unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &status); err != nil {
		return 0
	}
	return status.Mtim.Nano()
}

// numbersAreItsOwn tells whether a list of mappings shows a file under numbers that no other has:
// Btrfs shows that of the whole file system in place of the subvolume's, within which the number of
// a file is counted.
func numbersAreItsOwn(file *os.File) bool {
	var status unix.Statfs_t
	return unix.Fstatfs(int(file.Fd()), &status) == nil && status.Type != unix.BTRFS_SUPER_MAGIC
}
