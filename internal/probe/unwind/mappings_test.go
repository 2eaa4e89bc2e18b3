package unwind

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/process"
	"golang.org/x/sys/unix"
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
	want := mappingsOf(t, own)
	for _, reader := range []*mapsReader{{}, {noQuery: true}} {
		for range 2 { // the same buffers serve again
			got := mappingsOf(t, mortal{own, newHeldFiles(), reader})
			if len(want) == 0 || !reflect.DeepEqual(got, want) {
				t.Errorf("asked: %v; got %+v\nwant %+v", !reader.noQuery, got, want)
			}
		}
	}
}

// Asked for mappings one by one the kernel tells what its list does, also of files that were
// removed, that have strange names or none, and of memory that a program made code in.
func TestQueriesAndListsAgree(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"plain", "a b (deleted)", "line\nend", "removed"} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, make([]byte, 3*os.Getpagesize()), 0o700); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		code, err := unix.Mmap(int(file.Fd()), int64(os.Getpagesize()), os.Getpagesize(), unix.PROT_READ|unix.PROT_EXEC,
			unix.MAP_PRIVATE)
		if err != nil {
			t.Skipf("map code of %s: %v", folder, err)
		}
		defer func() { _ = unix.Munmap(code) }() // goes with the test
		_ = file.Close()
	}
	if err := os.Remove(filepath.Join(folder, "removed")); err != nil {
		t.Fatal(err)
	}
	made, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC,
		unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(made) }() // goes with the test
	own, reader := process.New(libpf.PID(os.Getpid()), libpf.PID(os.Getpid())), &mapsReader{}
	got := mappingsOf(t, mortal{own, newHeldFiles(), reader})
	want := mappingsOf(t, mortal{own, newHeldFiles(), &mapsReader{noQuery: true}})
	if reader.noQuery {
		t.Skip("this kernel answers no queries of mappings")
	}
	if len(want) < 5 || !reflect.DeepEqual(got, want) {
		t.Errorf("asked %+v\nlisted %+v", got, want)
	}
}

// What a look at a process with some hundred mappings takes, twenty of which are code, as those of
// a JVM are.
func BenchmarkMappings(b *testing.B) {
	page := os.Getpagesize()
	for i := range 400 {
		protection := []int{unix.PROT_READ, unix.PROT_READ | unix.PROT_WRITE}[i%2] // or neighbours become one
		room, err := unix.Mmap(-1, 0, page, protection, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = unix.Munmap(room) }() // goes with the test
	}
	own := process.New(libpf.PID(os.Getpid()), libpf.PID(os.Getpid()))
	for name, reader := range map[string]*mapsReader{"asked": {}, "listed": {noQuery: true}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := (mortal{own, nil, reader}).IterateMappings(func(process.RawMapping) bool { return true }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A process that is gone is an error that the library knows, however it is looked at.
func TestMappingsOfAProcessThatIsGone(t *testing.T) {
	for _, reader := range []*mapsReader{{}, {noQuery: true}} {
		gone := mortal{process.New(1<<22+1, 1<<22+1), newHeldFiles(), reader} // above the most ids that there can be
		if _, err := gone.IterateMappings(func(process.RawMapping) bool { return true }); !os.IsNotExist(err) {
			t.Errorf("asked: %v; %v", !reader.noQuery, err)
		}
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

// A file that was written to since must be told from the one before, and one that is gone must not
// stay open.
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

// The library remembers one vDSO for all processes by the time it was modified: where it cannot be
// read that is a time that never comes again, or the failure would be remembered for all.
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
