package unwind

import (
	"os"
	"reflect"
	"testing"
	"time"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/process"
)

// mappingsOf lists what of a process's mappings the library looks at.
func mappingsOf(t *testing.T, of process.Process) (list []process.RawMapping) {
	t.Helper()
	failed, err := of.IterateMappings(func(m process.RawMapping) bool {
		if m.IsExecutable() {
			m.Path = string([]byte(m.Path))
			list = append(list, m)
		}
		return true
	})
	if err != nil || failed != 0 {
		t.Fatal(failed, err)
	}
	return list
}

// The library must get from the quick reader what it would have got from its own.
func TestMappingsAsTheLibraryReadsThem(t *testing.T) {
	own := process.New(libpf.PID(os.Getpid()), libpf.PID(os.Getpid()))
	want, got := mappingsOf(t, own), mappingsOf(t, mortal{own, newHeldFiles(), &mapsReader{}})
	if len(want) == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestParseMapping(t *testing.T) {
	for line, want := range map[string]process.RawMapping{
		"7f00-8f00 r-xp 00001000 fe:01 77 /tmp/a b (deleted)": {Vaddr: 0x7f00, Length: 0x1000, Flags: 5,
			FileOffset: 0x1000, Device: 0xfe01, Inode: 77, Path: "/tmp/a b"},
		"7f00-8f00 r-xp 00000000 00:00 0                          [vdso]": {Vaddr: 0x7f00, Length: 0x1000, Flags: 5,
			Inode: vdsoInode, Path: process.VdsoPathName},
		"7f00-8f00 rwxs 00000000 00:05 3     /dev/zero": {Vaddr: 0x7f00, Length: 0x1000, Flags: 7, Device: 5, Inode: 3},
		"7f00-8f00 --xp 00000000 00:00 0 ":              {Vaddr: 0x7f00, Length: 0x1000, Flags: 1},
	} {
		got, wanted, ok := ParseMapping(line)
		if got != want || !wanted || !ok {
			t.Errorf("%q: %+v, %v, %v; want %+v", line, got, wanted, ok, want)
		}
	}
	for _, line := range []string{"", "7f00", "7f00-8f00 r-x", "7f00-8f00 r-xp 0 fe01 77 /a", "8f00-7f00 r-xp 0 0:0 0",
		"7f00-8f00 r-xp 0 0:0 -1", "7f00-8f00 r-xp x 0:0 1 /a", "g-h r-xp 0 0:0 0 /a"} {
		if got, _, ok := ParseMapping(line); ok {
			t.Errorf("%q: %+v", line, got)
		}
	}
	if _, wanted, ok := ParseMapping("7f00-8f00 r-xp 00000000 00:00 0 [vsyscall]"); wanted || !ok {
		t.Error("the page of old system calls is no code of the process")
	}
}

var later = time.Now().Add(time.Hour).Truncate(time.Second)

// fileProcess has one file; "": it has ended.
type fileProcess struct {
	process.Process
	path string
}

func (f fileProcess) OpenMappingFile(*process.RawMapping) (process.ReadAtCloser, error) {
	return os.Open(f.path)
}

// A file that was written to since must be told from the one before, and one that is gone must not stay open.
func TestHeldFiles(t *testing.T) {
	path := t.TempDir() + "/code"
	if err := os.WriteFile(path, make([]byte, 8192), 0o700); err != nil {
		t.Fatal(err)
	}
	held := newHeldFiles()
	target := fileProcess{path: path}
	mapping := &process.RawMapping{Path: path, Device: 1, Inode: 2, Length: 4096}
	first := held.modified(target, mapping)
	if again := held.modified(fileProcess{}, mapping); first <= 0 || again != first {
		t.Fatalf("modified at %d, by the open file at %d", first, again)
	}
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	if again := held.modified(fileProcess{}, mapping); again != later.UnixNano() {
		t.Errorf("modified at %d, want %d", again, later.UnixNano())
	}
	held.sweep(later)
	if len(held.files) != 0 {
		t.Error("a file that nobody asks for is held")
	}
	if gone := held.modified(fileProcess{}, mapping); gone != 0 {
		t.Errorf("a file that is gone was modified at %d", gone)
	}
}

// The library remembers one vDSO for all processes by the time it was modified: where it cannot be read that is a time
// that never comes again, or the failure would be remembered for all.
func TestUnreadableVDSOIsNotRemembered(t *testing.T) {
	own := mortal{process.New(libpf.PID(os.Getpid()), libpf.PID(os.Getpid())), newHeldFiles(), &mapsReader{}}
	for _, mapping := range mappingsOf(t, own) {
		if !mapping.IsVDSO() {
			continue
		}
		modified := own.GetMappingFileLastModified
		if first, again := modified(&mapping), modified(&mapping); first != again {
			t.Errorf("what can be read was modified at %d and %d", first, again)
		}
		mapping.Vaddr = 0
		if first, again := modified(&mapping), modified(&mapping); first == again {
			t.Errorf("what cannot be read was modified at %d twice", first)
		}
		return
	}
	t.Skip("this kernel was started without a vDSO")
}
