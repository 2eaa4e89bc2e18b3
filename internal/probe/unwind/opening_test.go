package unwind

import (
	"os"
	"testing"
	"time"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/process"
	"golang.org/x/sys/unix"
)

// stuckProcess is of a file system that answers when it is told to.
type stuckProcess struct {
	fileProcess
	answer chan struct{}
}

func (s stuckProcess) PID() libpf.PID { return 7 }
func (s stuckProcess) TID() libpf.PID { return 7 }

func (s stuckProcess) OpenMappingFile(mapping *process.RawMapping) (process.ReadAtCloser, error) {
	<-s.answer
	return s.fileProcess.OpenMappingFile(mapping)
}

// A look goes on without a file that does not come, once after some patience and then at once, and
// the process is looked at again when the file is there.
func TestLooksDoNotWaitForFiles(t *testing.T) {
	path := t.TempDir() + "/code"
	if err := os.WriteFile(path, make([]byte, 8192), 0o700); err != nil {
		t.Fatal(err)
	}
	files := newHeldFiles()
	files.opener.patience = hostPatience
	stuck := stuckProcess{fileProcess{path: path}, make(chan struct{})}
	open := stuckProcess{fileProcess{path: path}, make(chan struct{})}
	close(open.answer)
	mapping := func(device, inode uint64) *process.RawMapping {
		return &process.RawMapping{Path: path, Device: device, Inode: inode, Length: 4096}
	}
	within := func(what string, target process.Process, mapping *process.RawMapping, want bool, most time.Duration) {
		t.Helper()
		began := time.Now()
		if got := files.ready(target, mapping); got != want || time.Since(began) > most {
			t.Errorf("%s: ready %v after %v, want %v within %v", what, got, time.Since(began), want, most)
		}
	}
	within("the first file", stuck, mapping(1, 1), false, 10*hostPatience)
	within("once more", stuck, mapping(1, 1), false, hostPatience)
	within("a file of another disk", open, mapping(2, 2), true, hostPatience)
	within("another file of the same", open, mapping(1, 3), true, hostPatience)
	if held := files.files[fileKey{1, 3, path}]; held == nil {
		t.Fatal("a file that came is not held")
	}
	delete(files.files, fileKey{1, 3, path})
	for inode := uint64(4); inode < 4+mostOpeningOf-1; inode++ {
		within("one more that does not come", stuck, mapping(1, inode), false, hostPatience)
	}
	within("a file that came before, of a disk with too many to come", stuck, mapping(1, 3), true, hostPatience)
	if modified := files.modified(fileProcess{}, mapping(1, 3)); modified <= 0 {
		t.Errorf("a file that came before was modified at %d", modified)
	}
	if len(files.opener.again) > 0 {
		t.Error("a process is looked at again before its file is there")
	}
	close(stuck.answer)
	for range mostOpeningOf {
		select {
		case id := <-files.opener.again:
			if id.PID() != stuck.PID() {
				t.Errorf("process %d is looked at again", id.PID())
			}
		case <-time.After(10 * time.Second):
			t.Fatal("a process is not looked at again")
		}
	}
	within("the first file, which is there now", stuckProcess{}, mapping(1, 1), true, hostPatience)
	if held := files.files[fileKey{1, 1, path}]; held == nil {
		t.Error("the first file is not held")
	}
	files.opener.sweep(later)
	if left := len(files.opener.came); left > 0 {
		t.Errorf("%d files are kept that nobody asks for", left)
	}
}

// A look with many new files lets others pass, and leaves nothing out for good.
func TestLooksAreSliced(t *testing.T) {
	path := t.TempDir() + "/code"
	if err := os.WriteFile(path, make([]byte, 8192), 0o700); err != nil {
		t.Fatal(err)
	}
	files := newHeldFiles()
	files.hurried = true
	target := stuckProcess{fileProcess{path: path}, make(chan struct{})}
	close(target.answer)
	known := process.RawMapping{Path: path, Device: 1, Inode: 1}
	fresh := process.RawMapping{Path: path, Device: 1, Inode: 2}
	files.begin()
	if !files.ready(target, &known) || files.left {
		t.Error("a look does not begin with its first file")
	}
	files.sweep(later) // it is known, but not held
	files.began = files.began.Add(-2 * lookSlice)
	if !files.ready(target, &known) || files.left {
		t.Error("a file that is known is left out")
	}
	if files.ready(target, &fresh) || !files.left {
		t.Error("a look goes on with a new file after its time")
	}
	files.begin()
	files.began = files.began.Add(-2 * lookSlice) // a list of mappings may take as long
	if files.left || !files.ready(target, &fresh) || files.left {
		t.Error("the next look does not go on")
	}
}

// What the library will read of a program is read before.
func TestProgramsAreBroughtIntoMemory(t *testing.T) {
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/program"
	if err := os.WriteFile(path, program, 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	const middle = 2 * warmPiece // of what is loaded
	if inMemory(file, middle, warmPiece, int64(os.Getpagesize())) {
		t.Skip("this file system keeps what is not needed")
	}
	warm(file)
	if !inMemory(file, middle, warmPiece, int64(os.Getpagesize())) {
		t.Error("a part of the program that is loaded is not in memory")
	}
}
