package unwind

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/process"
	"golang.org/x/sys/unix"

	"culprit/internal/symbol"
)

// A Go program's table that was forgotten is read again, and only for a call site that is new.
func TestGoCodeAfterForget(t *testing.T) {
	own, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	code := openGoCode(own)
	if code == nil {
		t.Fatal("this test is a Go program")
	}
	for range 2 {
		for _, again := range []bool{false, true} {
			address := returnAddress() // two call sites: this one, and the next
			if again {
				address = returnAddress()
			}
			const called = "culprit/internal/probe/unwind.returnAddress"
			if got := code.skipped("leaf", address); got != called {
				t.Errorf("before %#x %q is called", address, got)
			}
			if got := code.skipped(called, address); got != "" {
				t.Errorf("between a function and itself %q is missing", got)
			}
		}
		if code.Forget(); code.table != nil || len(code.called) != 2 {
			t.Errorf("forgotten, it has a table (%v) and %d call sites", code.table != nil, len(code.called))
		}
	}
}

//go:noinline
func returnAddress() uint64 {
	var callers [1]uintptr
	runtime.Callers(2, callers[:])
	return uint64(callers[0])
}

// A file whose process has ended meanwhile is read where it is, and not another one that has its
// path.
func TestModuleOfAProcessThatIsGone(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var status unix.Stat_t
	if err := unix.Stat(own, &status); err != nil {
		t.Fatal(err)
	}
	mapping := process.RawMapping{Path: own, Inode: status.Ino,
		Device: uint64(unix.Major(status.Dev))<<8 + uint64(unix.Minor(status.Dev))}
	other, gone := mapping, mapping
	other.Inode++
	gone.Path += ".gone"
	for i, one := range []process.RawMapping{mapping, other, gone} {
		found := moduleOfFile(openMapped(&one), one.Path, 1, ownRoot)
		if got, want := found.golang != nil, i == 0; got != want {
			t.Errorf("%d: a Go program was found %v, want %v", i, got, want)
		}
		if found.file != nil {
			found.close()
		}
	}
}

// Only a file that was removed, that nobody asked for and whose process has ended is forgotten.
func TestForgetModules(t *testing.T) {
	folder := t.TempDir()
	open := func(name string, remove bool) *os.File {
		file, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() }) // closed before where it is forgotten
		if remove {
			if err := os.Remove(file.Name()); err != nil {
				t.Fatal(err)
			}
		}
		return file
	}
	const never = libpf.PID(1<<22 + 1) // beyond PID_MAX_LIMIT
	there, gone := libpf.NewFileID(1, 1), libpf.NewFileID(2, 2)
	asked, lives := libpf.NewFileID(3, 3), libpf.NewFileID(4, 4)
	u := &Unwinder{tables: map[libpf.FileID]*module{
		there: {file: open("there", false), pid: never},
		gone:  {file: open("gone", true), pid: never},
		asked: {file: open("asked", true), pid: never},
		lives: {file: open("lives", true), pid: libpf.PID(os.Getpid())},
	}}
	for range keptUnused + 1 {
		if len(u.tables) != 4 {
			t.Fatalf("%d of 4 files are known after %d windows", len(u.tables), u.window)
		}
		u.forgetModules()
		u.moduleOf(asked)
	}
	if u.tables[there] == nil || u.tables[gone] != nil || u.tables[asked] == nil || u.tables[lives] == nil {
		t.Errorf("known are %v", u.tables)
	}
}

// A file that nobody asks for is closed, and opened again when it is asked for; another one in its
// place is not taken for it.
func TestFilesArePutAway(t *testing.T) {
	folder := t.TempDir()
	const never = libpf.PID(1<<22 + 1)
	u := &Unwinder{tables: map[libpf.FileID]*module{}}
	ids := map[string]libpf.FileID{"stays": libpf.NewFileID(1, 1), "replaced": libpf.NewFileID(2, 2)}
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	for name, id := range ids {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, program, 0o755); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		known := &module{pid: never, where: symbol.Options{Root: ownRoot, Path: path, Lasts: true}}
		known.takeOver(file)
		if known.golang == nil || known.symbols() == nil {
			t.Fatal("this test is no Go program with symbols")
		}
		u.tables[id] = known
	}
	for range keptUnused {
		u.forgetModules()
	}
	u.forgetModules()
	for name, id := range ids {
		if known := u.tables[id]; known == nil || known.file != nil || known.golang != nil || known.symbols() != nil {
			t.Errorf("%s is still open: %+v", name, known)
		}
	}
	other := filepath.Join(folder, "other")
	if err := os.WriteFile(other, program, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, filepath.Join(folder, "replaced")); err != nil {
		t.Fatal(err)
	}
	again := u.moduleOf(ids["stays"])
	if again.file == nil || again.golang == nil || again.symbols() == nil {
		t.Error("a file that is asked for again is not opened")
	}
	if replaced := u.moduleOf(ids["replaced"]); replaced.file != nil || replaced.symbols() != nil {
		t.Error("another file is taken for the one that it replaced")
	}
	_ = again.file.Close()
}
